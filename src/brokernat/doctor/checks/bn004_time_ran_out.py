"""What: looks that `--timeout` cut short; what is missing in them is unknown, not wrong.
Why: addresses that swallow packets cost time, and there were many of them.
Remedy: more time.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

CODE = "BN004"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        if not spot.look.complete:
            remedy = Remedy(client=("give the doctor more time: `--timeout SECONDS`",))
            yield Finding(CODE, Severity.WARNING, spot.subject, "the time ran out before all was seen", remedy=remedy)


CHECK = Check(
    CODE,
    "The time ran out",
    "The time was over before everything had been looked at.",
    _find,
)
