"""What: rules of the address map cannot all be meant: an earlier one hides another, two of them contradict each other
or share a target, or a target is itself advertised.
Why: the map grew by hand. Order decides and the first match wins; a translated endpoint is not translated again.
Remedy: what is said with each; `brokernat map check` says it without a network.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import map_doubts

CODE = "BN607"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for rule, each in map_doubts(evidence):
        # The first match wins, and may be right: where it is not, what it leads to is an error of its own.
        remedy = Remedy((each.hint,))
        yield Finding(CODE, Severity.WARNING, f"rule {rule}", each.message, (each.code,), remedy=remedy)


CHECK = Check(
    CODE,
    "Rules of the map do not fit together",
    "The address map contradicts itself: {subjects}.",
    _find,
    (Need.MAP,),
)
