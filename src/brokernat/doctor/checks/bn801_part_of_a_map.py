"""What: some nodes are reached and some are not, and the brokers are of 3.7 or later.
Why: such brokers name the new leader and its endpoint in the answers to Produce and Fetch (KIP-951), so a client meets
the endpoint that it cannot dial in the middle of its work, as soon as a leader moves, and not with the next metadata.
Remedy: a rule for every node, also for those that lead nothing today.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Severity

CODE = "BN801"
# The version of Produce whose answers name endpoints.
_NAMES_LEADERS = 10


def _find(evidence: Evidence) -> Iterator[Finding]:
    newest = max(look.newest("Produce") for look in evidence.bootstraps)
    reached = [path for path in evidence.paths if path.look is not None and path.look.answers]
    if newest >= _NAMES_LEADERS and 0 < len(reached) < len(evidence.paths):
        message = "clients may work for a while, and fail in the middle when a leader moves to a node they cannot reach"
        yield Finding(CODE, Severity.INFO, f"cluster {evidence.cluster}", message)


CHECK = Check(
    CODE,
    "New leaders are named in the middle of work",
    "Clients of {subjects} meet endpoints that they cannot dial when leaders move.",
    _find,
    (Need.METADATA,),
)
