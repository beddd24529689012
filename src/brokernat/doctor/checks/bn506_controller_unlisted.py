"""What: the controller that an answer names is a node that no answer lists, or there is none.
Why: with KRaft any live broker is named, by chance, and each time another one (KafkaApis.handleTopicMetadataRequest);
one that is not listed lacks the listener that the client came in on. A user without rights sees of it only this. Old
admin clients look for the controller and say `Timed out waiting for a node assignment`. None is named where the brokers
have lost the controller.
Remedy: define the listener on every broker, or see that the quorum has a leader.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import spots

CODE = "BN506"


def _find(evidence: Evidence) -> Iterator[Finding]:
    first = next(look for look in evidence.bootstraps if look.brokers is not None)
    # A node that is known from elsewhere is BN503's or BN502's to name.
    known = {broker.node_id for spot in spots(evidence) for broker in spot.look.brokers or ()}
    known |= set(evidence.replicas or ())
    known |= {each.node_id for seen in evidence.listeners if seen.look for each in seen.look.brokers or ()}
    named: dict[int, list[str]] = {}
    for spot in spots(evidence):
        controller = spot.look.controller_id
        if controller is not None and controller not in known and spot.look.cluster_id == first.cluster_id:
            named.setdefault(controller, []).append(spot.look.endpoint)
    for node_id, ends in sorted(named.items()):
        seen = (f"told by {', '.join(dict.fromkeys(ends))}",)
        if node_id < 0:
            subject, remedy = f"cluster {evidence.cluster}", Remedy(broker=("see that the quorum has a leader",))
            yield Finding(CODE, Severity.INFO, subject, "no controller is named", seen, remedy=remedy)
        else:
            remedy = Remedy(broker=("define the listener on every broker",))
            message = "it is named as the controller, and is not among the brokers"
            yield Finding(CODE, Severity.WARNING, f"node {node_id}", message, seen, remedy=remedy)


CHECK = Check(
    CODE,
    "The controller is not among the brokers",
    "The controller that is named is not among the brokers: {subjects}.",
    _find,
    (Need.METADATA,),
)
