"""What: a broker's file gives one setting, or one listener's name, twice.
Why: of a setting that is given twice Java keeps the last one, without a word; what stands above it is not in force. Two
listeners of one name are refused at the broker's start.
Remedy: keep one of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import all_listeners
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN812"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in all_listeners(evidence):
        for setting in broker.settings:
            values = [value for name, value in broker.file.settings if name == setting]
            if len(values) > 1:
                message = f"`{setting}` is given {len(values)} times, and the last one counts"
                remedy = Remedy(broker=(f"keep one line of `{setting}`",))
                yield Finding(CODE, Severity.WARNING, broker.name, message, tuple(values), remedy=remedy)
        for setting, listeners in (
            ("listeners", broker.listeners),
            ("advertised.listeners", broker.advertised_setting or ()),
        ):
            for name in dict.fromkeys(each.name for each in listeners):
                found = tuple(str(each) for each in listeners if each.name == name)
                if len(found) > 1:
                    message = f"`{setting}` has {len(found)} listeners of the name {name}, which Kafka refuses"
                    remedy = Remedy(broker=("give each listener a name of its own",))
                    yield Finding(CODE, Severity.ERROR, broker.name, message, found, remedy=remedy)


CHECK = Check(
    CODE,
    "A setting or a listener is given twice",
    "Two listeners have one name, so the broker does not start: {subjects}.",
    _find,
    (Need.FILES,),
)
