"""What: another node answers where a client thinks of this one, and the broker is new enough to tell: 4.4 and later
refuse a client that names another node or cluster (KIP-1242).
Why: clients from 4.4 on send both by default. They log `Rebootstrap requested by server due to cluster metadata
mismatch` and start over, again and again; older ones only loop on NOT_LEADER_OR_FOLLOWER.
Remedy: that of BN601 or BN612; `metadata.cluster.check.enable=false` in the client hides it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import dialled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brokernat.doctor.evidence import Evidence

CODE = "BN611"
# The version of ApiVersions that carries a cluster and a node.
_CHECKS_IDENTITY = 5


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in dialled(evidence):
        path, identity = spot.path, spot.look.identity
        if path is None or identity is None or identity.node_id in (None, path.broker.node_id):
            continue
        if spot.look.newest("ApiVersions") >= _CHECKS_IDENTITY:
            remedy = Remedy(("correct what leads there; every client from 4.4 on is turned away",))
            message = f"node {identity.node_id} at {spot.look.endpoint} refuses clients of 4.4 and later"
            yield Finding(CODE, Severity.ERROR, spot.subject, message, because=("BN501", "BN601"), remedy=remedy)


CHECK = Check(
    CODE,
    "Clients from 4.4 on are refused",
    "The brokers behind {subjects} refuse clients from 4.4 on, which name the node they mean.",
    _find,
    (Need.METADATA,),
)
