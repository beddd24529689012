"""What: a listener has no host, and so the broker advertises the name that its machine calls itself.
Why: Kafka asks the machine for its own name. In a container that is the container's id, on a cloud host an internal
name; clients elsewhere seldom know either.
Remedy: `advertised.listeners` with a name that clients know.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import serving
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Confidence, Finding, Need, Remedy, Severity

CODE = "BN818"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in serving(evidence):
        for each in broker.advertised:
            if not each.host:
                yield Finding(
                    CODE,
                    Severity.WARNING,
                    broker.name,
                    f"{each} has no host: what is advertised is the machine's own name for itself",
                    remedy=Remedy(broker=(f"advertise {each.name}://HOST:{each.port} with a host that clients know",)),
                    confidence=Confidence.LIKELY,
                )


CHECK = Check(
    CODE,
    "A broker advertises its machine's own name",
    "Brokers advertise whatever their machines call themselves: {subjects}.",
    _find,
    (Need.FILES,),
)
