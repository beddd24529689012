"""What: the node is reached through a rule, and nothing told which one it is.
Why: brokers before 4.4 tell it only to whom may read their settings.
Remedy: the right to DESCRIBE_CONFIGS on the cluster, for this check only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import dialled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brokernat.doctor.evidence import Evidence

CODE = "BN604"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in dialled(evidence):
        identity = spot.look.identity
        if spot.path is not None and spot.path.rule and identity is not None and identity.node_id is None:
            remedy = Remedy(broker=("allow this user to DESCRIBE_CONFIGS on the cluster",))
            message = "it answers, and which node it is cannot be proven"
            yield Finding(CODE, Severity.WARNING, spot.subject, message, (identity.detail,), remedy=remedy)


CHECK = Check(
    CODE,
    "Which node answers cannot be proven",
    "Which node answers at {subjects} could not be proven.",
    _find,
    (
        Need.METADATA,
        Need.MAP,
    ),
)
