"""What: a broker's file has `host.name`, `port`, `advertised.host.name` or `advertised.port`.
Why: Kafka 3.0 took these out. From then on they are not read, and the defaults hold without a word: the broker binds
every address on 9092 and advertises its machine's own name.
Remedy: `listeners` and `advertised.listeners`.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import all_listeners
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN829"
_FORMER = ("host.name", "port", "advertised.host.name", "advertised.port")


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in all_listeners(evidence):
        found = [name for name in _FORMER if name in broker.settings]
        if found:
            listeners = ",".join(map(str, broker.listeners))
            advertised = ",".join(map(str, broker.advertised_setting or ()))
            lines = [f"listeners={listeners}", *([f"advertised.listeners={advertised}"] if advertised else [])]
            message = f"{', '.join(found)}: not read from Kafka 3.0 on"
            yield Finding(CODE, Severity.WARNING, broker.name, message, remedy=Remedy(broker=tuple(lines)))


CHECK = Check(
    CODE,
    "A file has settings that Kafka no longer reads",
    "Files have settings that Kafka no longer reads: {subjects}.",
    _find,
    (Need.FILES,),
)
