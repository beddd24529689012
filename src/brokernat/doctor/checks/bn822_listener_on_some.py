"""What: some brokers advertise a listener name that others lack.
Why: a broker answers with the brokers that have the listener NAME whose port was hit. Who comes in on this name never
hears of the others: partitions led by them have no leader, and with bootstrap servers of several names a client's
brokers come and go with each update.
Remedy: the same names on every broker; and bootstrap servers of one name.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import serving
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN822"


def _find(evidence: Evidence) -> Iterator[Finding]:
    brokers = serving(evidence)
    for name in dict.fromkeys(each.name for broker in brokers for each in broker.advertised):
        having = [broker for broker in brokers if any(each.name == name for each in broker.advertised)]
        lacking = [broker for broker in brokers if broker not in having]
        if not lacking:
            continue
        told = [each.endpoint for broker in having for each in broker.advertised if each.name == name]
        remedy = Remedy(
            ("give bootstrap servers of one listener, that all brokers have",),
            (f"define and advertise {name} on {', '.join(broker.name for broker in lacking)} too",),
        )
        yield Finding(
            CODE,
            Severity.ERROR,
            f"listener {name}",
            f"{len(lacking)} of {len(brokers)} brokers lack it",
            (
                f"who comes in on it is told: {', '.join(told)}",
                f"and never hears of: {', '.join(broker.name for broker in lacking)}",
            ),
            ("BN811", "BN815"),
            remedy,
        )


CHECK = Check(
    CODE,
    "Some brokers lack a listener that others have",
    "Some brokers lack a listener that others have, so a client's brokers change with the port it meets: {subjects}.",
    _find,
    (Need.FILES,),
)
