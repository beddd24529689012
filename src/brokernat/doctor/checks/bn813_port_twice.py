"""What: two listeners of one broker are bound to one port.
Why: a connection says no name, so the port alone decides which listener a client has met. Kafka refuses to start, also
where the addresses differ; only one IPv4 and one IPv6 address may share a port, from Kafka 3.6 on (KIP-797).
Remedy: a port of its own for each listener.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brokernat.doctor.broker_files.listeners import Listener, all_listeners
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.places import address

CODE = "BN813"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in all_listeners(evidence):
        for port in dict.fromkeys(each.port for each in broker.listeners if each.port):
            found = [each for each in broker.listeners if each.port == port]
            # Two of one name are BN812.
            if len(found) > 1 and len({each.name for each in found}) > 1:
                both_families = _both_families(found)
                message = f"{' and '.join(each.name for each in found)} are bound to one port, {port}"
                message += ": Kafka before 3.6 refuses to start" if both_families else ": Kafka refuses to start"
                yield Finding(
                    CODE,
                    Severity.INFO if both_families else Severity.ERROR,
                    broker.name,
                    message,
                    tuple(map(str, found)),
                    remedy=Remedy(broker=(f"bind {' and '.join(each.name for each in found[1:])} to another port",)),
                )


def _both_families(listeners: Sequence[Listener]) -> bool:
    versions = [place.version for each in listeners if (place := address(each.host)) is not None]
    return len(listeners) == 2 and sorted(versions) == [4, 6]


CHECK = Check(
    CODE,
    "Two listeners are bound to one port",
    "Two listeners are bound to one port, so the broker does not start with this file: {subjects}.",
    _find,
    (Need.FILES,),
)
