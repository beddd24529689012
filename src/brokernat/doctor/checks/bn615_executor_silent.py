"""What: an executor of Spark did not answer in time, or one that was expected never registered.
Why: it is busy or stuck in its start, or the cluster has no free cores or memory for it. Silence is no proof.
Remedy: read its log and the application's page at the master; give the cluster room, or the proof more time.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN615"
_SAID = {
    "silent": ("did not answer in time", "read its log; `--proof-timeout` gives it more time"),
    "not-registered": (
        "did not register in time",
        "see at the master whether cores and memory are free, and in the worker's log whether it starts",
    ),
}


def _find(evidence: Evidence) -> Iterator[Finding]:
    for executor in dict.fromkeys(evidence.executors):
        if executor.outcome in _SAID:
            message, advice = _SAID[executor.outcome]
            yield Finding(CODE, Severity.ERROR, executor.name, message, remedy=Remedy((advice,)))


CHECK = Check(
    CODE,
    "An executor did not answer",
    "Nothing is known of the way from {subjects}: no answer.",
    _find,
    (Need.EXECUTORS,),
)
