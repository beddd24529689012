"""What: the client logs in with Kerberos, and the address map has rules for brokers that are advertised as addresses.
Why: without a map Java looks the address up backwards and asks for a ticket of that name. Behind the map the address
itself is kept as the name, and there is no ticket for `kafka/192.168.1.23`.
Remedy: let the brokers advertise names, which the map keeps for Kerberos as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.address import parse_rule
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Confidence, Finding, Need, Remedy, Severity
from brokernat.doctor.places import address

CODE = "BN406"


def _find(evidence: Evidence) -> Iterator[Finding]:
    # The doctor does not log in with Kerberos, so what the brokers advertise is known by the map alone.
    if evidence.mechanism != "GSSAPI":
        return
    for rule in evidence.rules or ():
        host = str(parse_rule(rule).pattern.hosts).strip("[]").partition("/")[0]
        if address(host) is not None:
            remedy = Remedy(broker=("advertise the nodes by their names, those in their Kerberos principals",))
            message = f"clients will ask Kerberos for a ticket of an address, as `kafka/{host}`"
            yield Finding(CODE, Severity.WARNING, f"rule {rule}", message, remedy=remedy, confidence=Confidence.LIKELY)


CHECK = Check(
    CODE,
    "Kerberos is asked for an address",
    "Kerberos knows brokers by name, and the address map is for addresses: {subjects}.",
    _find,
    (Need.MAP,),
)
