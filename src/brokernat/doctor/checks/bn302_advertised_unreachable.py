"""What: metadata names an endpoint that takes no TCP connection from here, and no rule leads elsewhere.
Why: the broker advertises what it is called inside (NAT, gateway, container, `localhost`). Clients bootstrap, then log
`Connection to node 2 could not be established. Broker may not be available.`
Remedy: a rule of the address map; or a listener that advertises what this side can dial.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import dialled, proven_line, unreachable

CODE = "BN302"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in dialled(evidence):
        path, reason = spot.path, unreachable(spot.look)
        if path is not None and path.rule is None and reason and not spot.look.dns_error:
            remedy = Remedy(
                rules=proven_line(evidence, path),
                broker=("add a listener that advertises an endpoint which is reached from here",),
            )
            yield Finding(
                CODE, Severity.ERROR, spot.subject, reason, because=("BN103", "BN201", "BN204", "BN502"), remedy=remedy
            )


CHECK = Check(
    CODE,
    "An advertised endpoint takes no connection",
    "The bootstrap servers answer, and tell clients to dial endpoints that cannot be reached from here: {subjects}.",
    _find,
    (Need.METADATA,),
)
