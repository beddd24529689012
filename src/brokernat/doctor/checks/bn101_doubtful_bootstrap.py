"""What: the list of bootstrap servers holds one endpoint more than once.
Why: usually one of them was meant to be another broker, and a client has fewer ways in than it seems.
Remedy: write each once.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity

CODE = "BN101"


def _find(evidence: Evidence) -> Iterator[Finding]:
    endpoints = [look.endpoint for look in evidence.bootstraps]
    for endpoint in dict.fromkeys(endpoints):
        if endpoints.count(endpoint) > 1:
            remedy = Remedy(client=("write each bootstrap server once",))
            message = f"the endpoint is given {endpoints.count(endpoint)} times"
            yield Finding(CODE, Severity.WARNING, f"bootstrap {endpoint}", message, remedy=remedy)


CHECK = Check(
    CODE,
    "A bootstrap server is given twice",
    "{subjects} is given more than once.",
    _find,
)
