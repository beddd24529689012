"""What: what answers is a KRaft controller's own listener: it takes registrations of brokers and knows no metadata.
Why: the port of `controller.listener.names` is given, often 9093. Clients get UNSUPPORTED_VERSION or are hung up on;
admin tools say MISMATCHED_ENDPOINT_TYPE (KIP-919).
Remedy: the port of a broker's listener.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

CODE = "BN105"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        if spot.look.speaks == "controller":
            remedy = Remedy(("give the port of a listener that is not in `controller.listener.names`",))
            message = "a KRaft controller answers, which serves brokers and no clients"
            seen = ("the requests that it knows: BrokerRegistration is among them, Metadata is not",)
            yield Finding(CODE, Severity.ERROR, spot.subject, message, seen, remedy=remedy)


CHECK = Check(
    CODE,
    "A controller is given for a broker",
    "{subjects} is a controller's listener, where clients cannot read metadata.",
    _find,
)
