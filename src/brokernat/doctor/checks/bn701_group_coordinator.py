"""What: the coordinator of a consumer group is a node that this client does not reach.
Why: the coordinator is one node of the cluster, whichever its id is hashed to, so everything else may work.
Consumers find their group's coordinator and then cannot join: `Group coordinator … is unavailable or invalid`.
Remedy: that of the node, which is named with its own finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.coordinating import coordinators_out_of_reach
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need

CODE = "BN701"


def _find(evidence: Evidence) -> Iterator[Finding]:
    yield from coordinators_out_of_reach(evidence, "group", CODE)


CHECK = Check(
    CODE,
    "The coordinator of a consumer group is not reached",
    "The coordinators of {subjects} cannot be reached.",
    _find,
    (Need.METADATA, Need.GROUPS, Need.OFFSETS_TOPIC),
)
