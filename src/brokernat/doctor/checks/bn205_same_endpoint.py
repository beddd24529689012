"""What: two node ids are advertised with one host and port.
Why: all brokers were given the address of one balancer or gateway. A client that wants one of them meets any.
Remedy: one port or one name for each broker.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN205"


def _find(evidence: Evidence) -> Iterator[Finding]:
    found: dict[tuple[str, str], str] = {}
    for look in evidence.bootstraps:
        brokers = look.brokers or ()
        for endpoint in dict.fromkeys(each.endpoint for each in brokers):
            ids = [str(each.node_id) for each in brokers if each.endpoint == endpoint]
            if len(ids) > 1:
                found.setdefault((endpoint, ", ".join(ids)), look.endpoint)
    for (endpoint, nodes), server in found.items():
        remedy = Remedy(broker=("advertise a port or a name of its own for each broker",))
        message = f"the nodes {nodes} all advertise it"
        yield Finding(CODE, Severity.ERROR, endpoint, message, (f"told by bootstrap {server}",), remedy=remedy)


CHECK = Check(
    CODE,
    "Two brokers advertise the same endpoint",
    "Several brokers advertise one endpoint ({subjects}).",
    _find,
    (Need.METADATA,),
)
