"""What: a private address is advertised (RFC 1918, RFC 6598, ULA, link-local), the bootstrap server answered at an
address of another network, and the node does not answer here.
Why: the brokers stand behind a NAT or a gateway and advertise what they are called inside.
Remedy: a rule of the address map; or a listener that advertises the outer address.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Confidence, Finding, Need, Remedy, Severity
from brokernat.doctor.places import address, network
from brokernat.doctor.reading import lets_in, node, proven_line

CODE = "BN202"


def _find(evidence: Evidence) -> Iterator[Finding]:
    outside = {str(network(each)) for look in evidence.bootstraps if look.answers for each in look.addresses}
    for path in evidence.paths:
        place = address(path.broker.host)
        if place is None or place.is_loopback or place.is_global or place.is_unspecified or path.rule or lets_in(path):
            continue
        if str(network(path.broker.host)) not in outside:
            remedy = Remedy(
                rules=proven_line(evidence, path),
                broker=("add a listener that advertises an endpoint which is reached from here",),
            )
            message = f"a private address of another network than the bootstrap servers ({', '.join(sorted(outside))})"
            yield Finding(CODE, Severity.WARNING, node(path), message, remedy=remedy, confidence=Confidence.LIKELY)


CHECK = Check(
    CODE,
    "A broker advertises an address of another private network",
    "The brokers advertise private addresses ({subjects}) of a network that this machine is not in.",
    _find,
    (Need.METADATA,),
)
