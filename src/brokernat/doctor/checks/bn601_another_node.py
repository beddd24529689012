"""What: the node behind the endpoint that is dialled says that it is another one than metadata means.
Why: two rules are exchanged, a forward leads to the wrong broker, a hosts file gives several names one address. Clients
loop on NOT_LEADER_OR_FOLLOWER; from 4.4 on they bootstrap again and again.
Remedy: exchange the targets.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import dialled, proven_line, renumbered, sureness

CODE = "BN601"


def _find(evidence: Evidence) -> Iterator[Finding]:
    if renumbered(evidence) is not None:
        return
    for spot in dialled(evidence):
        path, identity = spot.path, spot.look.identity
        # Where several nodes answer, none is wrong: BN602 says it.
        if path is None or identity is None or identity.others or identity.node_id in (None, path.broker.node_id):
            continue
        right = next(
            (
                each.look.endpoint
                for each in dialled(evidence)
                if each.look.identity and each.look.identity.node_id == path.broker.node_id
            ),
            None,
        )
        lines = (f"{path.broker.endpoint} = {right}",) if right else proven_line(evidence, path)
        message = f"node {identity.node_id} answers at {spot.look.endpoint}, node {path.broker.node_id} is expected"
        seen = (f"method: {identity.method}", *((f"rule: {path.rule}",) if path.rule else ()))
        remedy = Remedy(rules=lines, broker=("correct the forward to this node",))
        yield Finding(CODE, Severity.ERROR, spot.subject, message, seen, ("BN501", "BN205"), remedy, sureness(identity))


CHECK = Check(
    CODE,
    "Another node answers",
    "Another node answers behind what is dialled for {subjects}.",
    _find,
    (Need.METADATA,),
)
