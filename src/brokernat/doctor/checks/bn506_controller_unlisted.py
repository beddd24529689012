"""What: the controller that metadata names is not among the brokers that it lists, or there is none.
Why: it lacks the listener that the client came in on, or the quorum has no leader. Old admin clients look for it and
say `Timed out waiting for a node assignment`.
Remedy: define the listener on every broker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brokernat.doctor.evidence import Evidence

CODE = "BN506"


def _find(evidence: Evidence) -> Iterator[Finding]:
    # A node that is known from elsewhere is BN503's or BN502's to name; which one KRaft gives out here is chance.
    known = {broker.node_id for look in evidence.bootstraps for broker in look.brokers or ()}
    known |= set(evidence.replicas or ())
    known |= {each.node_id for seen in evidence.listeners if seen.look for each in seen.look.brokers or ()}
    for look in evidence.bootstraps:
        if look.controller_id is not None and look.controller_id not in known:
            remedy = Remedy(broker=("define the listener on every broker, and see that the quorum has a leader",))
            told = "no controller is named" if look.controller_id < 0 else f"node {look.controller_id} is named"
            message = f"{told}, which is not among the brokers"
            yield Finding(CODE, Severity.INFO, f"bootstrap {look.endpoint}", message, remedy=remedy)


CHECK = Check(
    CODE,
    "The controller is not among the brokers",
    "{subjects} names a controller that clients cannot find.",
    _find,
    (Need.METADATA,),
)
