"""What: two files have one node id.
Why: the id is what makes a broker or a controller itself. The second that starts is refused, or takes the first one's
place.
Remedy: an id of its own for each node; controllers and brokers share the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import all_listeners
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN820"


def _find(evidence: Evidence) -> Iterator[Finding]:
    brokers = all_listeners(evidence)
    for node_id in dict.fromkeys(each.node_id for each in brokers if each.node_id is not None):
        files = [each.file.name for each in brokers if each.node_id == node_id]
        if len(files) > 1:
            remedy = Remedy(broker=("give each node a `node.id` (before KRaft: `broker.id`) of its own",))
            message = f"{len(files)} files have this id"
            yield Finding(CODE, Severity.ERROR, f"node {node_id}", message, tuple(files), remedy=remedy)


CHECK = Check(
    CODE,
    "Two files have one node id",
    "Files of different nodes have one id: {subjects}.",
    _find,
    (Need.FILES,),
)
