"""What: the client's user may not ask for the coordinator of a group or a transactional id that was named.
Why: an authorizer runs, and the user has no DESCRIBE there. Clients with this user fail in the same place.
Remedy: the right, by the `kafka-acls.sh` line that is shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import acl_line

CODE = "BN003"
_OPTIONS = {
    "GROUP_AUTHORIZATION_FAILED": "--group",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": "--transactional-id",
}


def _find(evidence: Evidence) -> Iterator[Finding]:
    for each in evidence.coordinators:
        option = _OPTIONS.get(each.error)
        if option is not None:
            right = acl_line(evidence, f"--operation Describe {option} {each.key}")
            message = "its coordinator is told only to users with the right to DESCRIBE it"
            seen = (f"the broker says: {each.error}",)
            remedy = Remedy(broker=(right,))
            yield Finding(CODE, Severity.WARNING, each.subject, message, seen, remedy=remedy)


CHECK = Check(
    CODE,
    "A right is missing",
    "The client's user may not ask about {subjects}.",
    _find,
    (Need.METADATA, Need.COORDINATORS),
)
