"""What: connections to one endpoint met different nodes.
Why: a balancer or a name with several addresses stands where one broker is meant. Fine to bootstrap, wrong for a node.
Remedy: an endpoint for each broker.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import dialled, sureness

CODE = "BN602"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in dialled(evidence):
        identity = spot.look.identity
        if identity is not None and identity.others:
            met = ", ".join(map(str, (identity.node_id, *identity.others)))
            remedy = Remedy(("give each node an endpoint of its own in the map",), ("forward one port to one broker",))
            yield Finding(
                CODE,
                Severity.ERROR,
                spot.subject,
                f"different nodes answer at {spot.look.endpoint}: {met}",
                (f"its addresses: {', '.join(spot.look.addresses)}",) if len(spot.look.addresses) > 1 else (),
                remedy=remedy,
                confidence=sureness(identity),
            )


CHECK = Check(
    CODE,
    "Several nodes answer behind one endpoint",
    "A balancer or a name with several addresses stands at {subjects}: each connection may meet another broker.",
    _find,
    (Need.METADATA,),
)
