"""One line for each JVM of a Spark application, for people: who it is, what it holds, what it reached."""

from __future__ import annotations

from brokernat.doctor.evidence import ExecutorSeen

_OTHERWISE = {
    "no-agent": "no agent",
    "other-map": "another map or agent",
    "failed": "its Kafka client failed",
    "silent": "no answer",
    "not-registered": "did not register",
}
_FINGERPRINT = 12


def executor_line(executor: ExecutorSeen) -> str:
    """`executor 3 on w2: agent 0.1.0, map 0f3c…: reaches node 1, node 3; not node 2 (unreachable)`."""
    name = f"{executor.name} on {executor.host}" if executor.is_driver and executor.host else executor.name
    if executor.outcome != "answered":
        return f"{name}: {_OTHERWISE[executor.outcome]}"
    held = f"agent {executor.agent}" if executor.agent else "no agent"
    held += f", map {executor.fingerprint[:_FINGERPRINT]}" if executor.fingerprint else ", no map"
    reached = ", ".join(f"node {node.node_id}" for node in executor.nodes if node.reached)
    barred = ", ".join(f"node {node.node_id} ({node.outcome})" for node in executor.nodes if not node.reached)
    told = "; ".join(filter(None, (f"reaches {reached}" if reached else "", f"not {barred}" if barred else "")))
    return f"{name}: {held}: {told}"
