"""What: a broker's file advertises localhost, 127.x or ::1.
Why: a client dials itself. That serves clients on the broker's machine (or on a Docker host that publishes the port),
and nobody else: a warning where the broker has no other listener. As the listener of brokers among themselves it joins
no two machines, and no two containers.
Remedy: a second listener that advertises a name for clients elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import serving
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.places import is_loopback

CODE = "BN825"


def _find(evidence: Evidence) -> Iterator[Finding]:
    brokers = serving(evidence)
    for broker in brokers:
        alone = all(is_loopback(each.host) for each in broker.advertised)
        for each in broker.advertised:
            if not is_loopback(each.host):
                continue
            remedy = Remedy(broker=("add a listener that advertises a name which clients elsewhere can dial",))
            if each.name == broker.inter_broker and len(brokers) > 1:
                severity = Severity.WARNING if broker.file.published is None else Severity.ERROR
                message = f"{each} is how other brokers should find this one: each of them would dial itself"
                remedy = Remedy(broker=(f"advertise {each.name} with a name that the other brokers know",))
            else:
                severity = Severity.WARNING if alone else Severity.INFO
                message = f"{each} is for clients on the broker's own machine alone"
            yield Finding(CODE, severity, broker.name, message, remedy=remedy if severity != "info" else Remedy())


CHECK = Check(
    CODE,
    "A file advertises the broker's own machine",
    "Brokers tell each other to dial themselves: {subjects}.",
    _find,
    (Need.FILES,),
)
