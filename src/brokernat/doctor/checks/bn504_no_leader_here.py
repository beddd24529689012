"""What: partitions have no leader that clients of this listener may dial: LISTENER_NOT_FOUND or LEADER_NOT_AVAILABLE,
still so a second later.
Why: the leader's broker lacks the listener that the client came in on, or no broker that holds the partition is up.
Producers say `Topic not present in metadata after 60000 ms`.
Remedy: define the listener on every broker; start the brokers that hold the partitions.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN504"
_REMEDIES = {
    "LISTENER_NOT_FOUND": ("define the listener on every broker, with an advertised endpoint",),
    "LEADER_NOT_AVAILABLE": ("start the brokers that hold the partitions, or define the listener on them",),
}


def _find(evidence: Evidence) -> Iterator[Finding]:
    for each in evidence.leaderless:
        nodes = ", ".join(map(str, each.nodes)) or "unknown"
        count = f"{each.count} partitions have" if each.count > 1 else "1 partition has"
        message = f"{count} no leader that this listener tells ({each.error})"
        seen = (f"one of them: {each.sample}", f"replicas on nodes: {nodes}")
        remedy = Remedy(broker=_REMEDIES.get(each.error, ()))
        because = ("BN502", "BN503")
        yield Finding(CODE, Severity.ERROR, f"cluster {evidence.cluster}", message, seen, because, remedy)


CHECK = Check(
    CODE,
    "Partitions have no leader on this listener",
    "Clients of this listener are told no leader for some partitions of {subjects}.",
    _find,
    (Need.METADATA, Need.PARTITIONS),
)
