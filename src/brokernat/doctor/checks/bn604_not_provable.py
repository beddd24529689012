"""What: the node is reached through a rule, and nothing told which one it is.
Why: brokers before 4.4 tell it only to whom may read their settings; and this user sees no topic that the node leads
(ListOffsets), nor does a certificate name this node alone.
Remedy: the right to DESCRIBE_CONFIGS on the cluster, for this check only.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import acl_line, dialled

CODE = "BN604"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in dialled(evidence):
        identity = spot.look.identity
        if spot.path is not None and spot.path.rule and identity is not None and identity.node_id is None:
            right = acl_line(evidence, "--operation DescribeConfigs --cluster")
            remedy = Remedy(broker=(f"let this user ask a broker for its settings: {right}",))
            message = "it answers, and which node it is cannot be proven"
            seen = (f"asked for its settings, it says: {identity.detail.upper()}",) if identity.detail else ()
            yield Finding(CODE, Severity.WARNING, spot.subject, message, seen, remedy=remedy)


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
