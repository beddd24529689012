"""What: a broker's file holds an entry about listeners that Kafka cannot read, or no listener at all.
Why: a listener is `NAME://host:port` (brackets around IPv6), a mapping is `NAME:PROTOCOL`. The broker does not start.
Remedy: write the entry in that form.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.config.kafka_names import PROTOCOLS
from brokernat.doctor.broker_files.listeners import all_listeners
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN811"
_FORMS = {
    "listener.security.protocol.map": f"`NAME:PROTOCOL`, with a protocol of {', '.join(PROTOCOLS)}",
    "process.roles": "`broker`, `controller` or `broker,controller`",
}
_LISTENER = "`NAME://host:port`"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in all_listeners(evidence):
        for each in broker.unreadable:
            remedy = Remedy(broker=(f"in `{each.setting}` write {_FORMS.get(each.setting, _LISTENER)}",))
            message = f"Kafka cannot read `{each.entry}` in `{each.setting}`"
            yield Finding(CODE, Severity.ERROR, broker.name, message, remedy=remedy)
        for setting in ("listeners", "advertised.listeners"):
            value = broker.settings.get(setting, "")
            if value and not all(entry.strip() for entry in value.split(",")):
                remedy = Remedy(broker=(f"take the comma out of `{setting}`",))
                message = f"`{setting}` has a comma too many: Kafka 4.4 refuses to start"
                yield Finding(CODE, Severity.WARNING, broker.name, message, (value,), remedy=remedy)
        if not broker.listeners and not broker.unreadable:
            remedy = Remedy(broker=(f"in `listeners` write {_LISTENER}",))
            yield Finding(CODE, Severity.ERROR, broker.name, "`listeners` is set, and holds none", remedy=remedy)


CHECK = Check(
    CODE,
    "A broker's file has an entry that Kafka cannot read",
    "Entries about listeners cannot be read, so the broker does not start: {subjects}.",
    _find,
    (Need.FILES,),
)
