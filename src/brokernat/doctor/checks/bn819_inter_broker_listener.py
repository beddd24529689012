"""What: the listener for brokers among themselves is not advertised, or is chosen twice.
Why: brokers find each other by what they advertise. Kafka takes the name of `inter.broker.listener.name`, or the
protocol of `security.inter.broker.protocol` as a name (PLAINTEXT unless set), never both; it must be advertised, or the
broker does not start.
Remedy: name a listener that is advertised.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import serving
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN819"
_NAME, _PROTOCOL = "inter.broker.listener.name", "security.inter.broker.protocol"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in serving(evidence):
        told = list(dict.fromkeys(each.name for each in broker.advertised))
        chosen = [name for name in (_NAME, _PROTOCOL) if name in broker.settings]
        if len(chosen) == 2:
            remedy = Remedy(broker=(f"keep `{_NAME}`, take `{_PROTOCOL}` out",))
            message = f"`{_NAME}` and `{_PROTOCOL}` are both set, which Kafka refuses"
            yield Finding(CODE, Severity.ERROR, broker.name, message, remedy=remedy)
        elif broker.inter_broker not in told:
            because = f"`{chosen[0]}`" if chosen else f"`{_NAME}` is not set, which means PLAINTEXT"
            message = f"the brokers' own listener {broker.inter_broker} is not advertised ({because})"
            remedy = Remedy(broker=(f"set `{_NAME}` to one of: {', '.join(told)}",) if told else ())
            yield Finding(CODE, Severity.ERROR, broker.name, message, because=("BN811",), remedy=remedy)


CHECK = Check(
    CODE,
    "The brokers' own listener is not advertised",
    "The listener for brokers among themselves does not exist, so the broker does not start: {subjects}.",
    _find,
    (Need.FILES,),
)
