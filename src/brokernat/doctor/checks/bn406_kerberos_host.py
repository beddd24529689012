"""What: the client logs in with Kerberos, and a rule leads to a node that is advertised as an address.
Why: without a map Java looks the address up backwards and asks for a ticket of that name. Behind the map the address
itself is kept as the name, and there is no ticket for `kafka/192.168.1.23`.
Remedy: let the brokers advertise names, which the map keeps for Kerberos as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Confidence, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import address, node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brokernat.doctor.evidence import Evidence

CODE = "BN406"


def _find(evidence: Evidence) -> Iterator[Finding]:
    if evidence.mechanism != "GSSAPI":
        return
    for path in evidence.paths:
        if path.rule and address(path.broker.host) is not None:
            remedy = Remedy(broker=("advertise this node by its name, the one in its Kerberos principal",))
            message = f"clients will ask Kerberos for a ticket of `kafka/{path.broker.host}`"
            seen = (f"rule: {path.rule}",)
            yield Finding(
                CODE, Severity.WARNING, node(path), message, seen, remedy=remedy, confidence=Confidence.LIKELY
            )


CHECK = Check(
    CODE,
    "Kerberos is asked for an address",
    "Kerberos knows brokers by name, and {subjects} are advertised as addresses.",
    _find,
    (Need.METADATA, Need.MAP),
)
