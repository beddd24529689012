"""What: every node that proved who it is calls itself by an id that nobody advertises, all of them by the same number
off.
Why: a proxy stands in between and gives nodes ids of its own.
Remedy: none while the proxy does it for every answer; from 4.4 on clients name the advertised id, and a broker behind
such a proxy refuses them (BN611).
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Confidence, Finding, Need, Severity
from brokernat.doctor.reading import renumbered

CODE = "BN612"


def _find(evidence: Evidence) -> Iterator[Finding]:
    offset = renumbered(evidence)
    if offset is not None:
        message = f"the nodes' own ids are their advertised ones {'+' if offset > 0 else '-'} {abs(offset)}"
        subject = f"cluster {evidence.cluster}"
        yield Finding(CODE, Severity.WARNING, subject, message, confidence=Confidence.LIKELY)


CHECK = Check(
    CODE,
    "A proxy renumbers the nodes",
    "A proxy in front of {subjects} gives the nodes ids of its own.",
    _find,
    (Need.METADATA,),
)
