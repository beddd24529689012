"""What: partitions name node ids that the brokers' list does not hold.
Why: a broker lacks the listener that the client came in on, so it is filtered out of the answer; or it is down.
Remedy: define the listener on every broker, or come in on another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brokernat.doctor.evidence import Evidence

CODE = "BN503"


def _find(evidence: Evidence) -> Iterator[Finding]:
    first = next(look for look in evidence.bootstraps if look.brokers is not None)
    listed = {broker.node_id for broker in first.brokers or ()}
    for node_id in evidence.replicas or ():
        if node_id not in listed:
            remedy = Remedy(
                ("use bootstrap servers of a listener that all brokers have",),
                ("define the listener on this broker, or start it",),
            )
            message = "it holds partitions and is not among the brokers that are advertised"
            yield Finding(
                CODE,
                Severity.ERROR,
                f"node {node_id}",
                message,
                (f"told by bootstrap {first.endpoint}",),
                ("BN502",),
                remedy,
            )


CHECK = Check(
    CODE,
    "Brokers are missing on this listener",
    "Brokers that hold partitions are not advertised on this listener: {subjects}.",
    _find,
    (
        Need.METADATA,
        Need.PARTITIONS,
    ),
)
