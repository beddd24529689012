"""What: an executor of Spark does not reach a node that the driver reaches.
Why: the way from its host is another one: a route or a firewall rule that only the driver's host has, a name that
resolves there to something else.
Remedy: open the way from that host to the endpoint that is dialled; every executor needs every node.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import reached_from_here

CODE = "BN613"


def _find(evidence: Evidence) -> Iterator[Finding]:
    here = reached_from_here(evidence)
    for executor in evidence.executors:
        if executor.is_driver or not here:
            continue
        barred = [node for node in executor.nodes if not node.reached and node.node_id in here]
        if barred:
            ends = [node.dialled or node.advertised for node in barred]
            names = ", ".join(f"node {node.node_id}" for node in barred)
            seen = tuple(
                f"node {node.node_id} at {end}: {node.outcome}" + (f": {node.detail}" if node.detail else "")
                for node, end in zip(barred, ends, strict=True)
            )
            remedy = Remedy((f"let {executor.host} dial {', '.join(dict.fromkeys(ends))}",))
            message = f"does not reach {names}, which the driver reaches"
            yield Finding(CODE, Severity.ERROR, executor.name, message, seen, remedy=remedy)
        elif executor.outcome == "failed":
            remedy = Remedy((f"look at what Kafka's client needs on {executor.host}: files, names, a Java",))
            message = "its Kafka client failed before it reached any node"
            yield Finding(CODE, Severity.ERROR, executor.name, message, (executor.detail,), remedy=remedy)


CHECK = Check(
    CODE,
    "An executor does not reach what the driver reaches",
    "The driver reaches nodes that executors cannot reach: {subjects}.",
    _find,
    (Need.EXECUTORS,),
)
