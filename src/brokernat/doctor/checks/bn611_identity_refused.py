"""What: another node answers where a client thinks of this one, and the broker is new enough to tell: 4.4 and later
refuse a client that names another node or cluster (KIP-1242).
Why: clients from 4.4 on send both by default. They log `Rebootstrap requested by server due to cluster metadata
mismatch` and start over, again and again; older ones only loop on NOT_LEADER_OR_FOLLOWER.
Remedy: that of BN601 or BN612; `metadata.cluster.check.enable=false` in the client hides it.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence, Look
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import dialled

CODE = "BN611"
# The version of ApiVersions that carries a cluster and a node.
_CHECKS_IDENTITY = 5


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in dialled(evidence):
        path, identity = spot.path, spot.look.identity
        if path is None or identity is None or identity.node_id is None or not _was_asked(spot.look):
            continue
        # Asked for every id that is advertised, it said no to all where another method had to tell.
        if identity.node_id != path.broker.node_id or identity.method != "apiversions":
            remedy = Remedy(("correct what leads there; every client from 4.4 on is turned away",))
            own = "" if identity.node_id == path.broker.node_id else f" as node {identity.node_id}"
            message = f"what answers at {spot.look.endpoint}{own} refuses clients of 4.4 and later"
            because = ("BN501", "BN601", "BN602")
            yield Finding(CODE, Severity.ERROR, spot.subject, message, because=because, remedy=remedy)


def _was_asked(look: Look) -> bool:
    return look.newest("ApiVersions") >= _CHECKS_IDENTITY and bool(look.cluster_id)


CHECK = Check(
    CODE,
    "Clients from 4.4 on are refused",
    "The brokers behind {subjects} refuse clients from 4.4 on, which name the node they mean.",
    _find,
    (Need.METADATA,),
)
