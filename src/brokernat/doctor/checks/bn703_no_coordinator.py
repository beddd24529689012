"""What: there is no coordinator for a group or a transactional id that was named, still so a second later.
Why: the partition that keeps its state has no leader, or its leader lacks the listener that the client came in on.
Remedy: bring the brokers up that hold `__consumer_offsets` or `__transaction_state`; define the listener on them.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN703"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for each in evidence.coordinators:
        if each.error == "not-answered":
            message = "nobody said who coordinates it: the connection ended, or the time, before the question"
            remedy = Remedy(("ask again, with more time: `--timeout SECONDS`",))
            yield Finding(CODE, Severity.WARNING, each.subject, message, remedy=remedy)
        elif each.error and each.error != "not-asked" and not each.error.endswith("_AUTHORIZATION_FAILED"):
            remedy = Remedy(broker=(f"see that every partition of `{each.topic}` has a leader with this listener",))
            seen = (f"the broker says: {each.error}",)
            message = f"no node coordinates it; its state is in `{each.topic}`"
            yield Finding(CODE, Severity.ERROR, each.subject, message, seen, ("BN503", "BN504"), remedy)


CHECK = Check(
    CODE,
    "There is no coordinator",
    "No node coordinates {subjects}.",
    _find,
    (Need.METADATA, Need.COORDINATORS),
)
