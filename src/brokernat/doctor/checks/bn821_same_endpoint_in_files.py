"""What: two brokers' files advertise one host and port.
Why: a client that wants the one meets either. Brokers behind one balancer, a file that was copied, `localhost` on
several machines: to a client it is one endpoint.
Remedy: a port or a name of its own for each broker.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import serving
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN821"


def _find(evidence: Evidence) -> Iterator[Finding]:
    brokers = serving(evidence)
    told = [(broker, each) for broker in brokers for each in broker.advertised if each.host]
    for endpoint in dict.fromkeys(each.endpoint.lower() for _, each in told):
        found = [(broker, each) for broker, each in told if each.endpoint.lower() == endpoint]
        if len({id(broker) for broker, _ in found}) > 1:
            remedy = Remedy(broker=("advertise a port or a name of its own for each broker",))
            seen = tuple(f"{broker.name} advertises {each}" for broker, each in found)
            message = f"{len({id(broker) for broker, _ in found})} brokers advertise it"
            yield Finding(CODE, Severity.ERROR, endpoint, message, seen, ("BN820",), remedy)


CHECK = Check(
    CODE,
    "Two brokers' files advertise the same endpoint",
    "Several brokers' files advertise one endpoint ({subjects}).",
    _find,
    (Need.FILES,),
)
