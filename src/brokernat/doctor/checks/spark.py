"""Checks of the JVMs of a Spark application."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.checks.places import reached_from_here
from brokernat.doctor.checks.registry import Need, check, error
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding


@check("BN613", Need.EXECUTORS)
def executor_way(evidence: Evidence) -> Iterator[CheckFinding]:
    """An executor does not reach a node that the driver reaches.

    Cause: The driver reaches nodes that executors cannot reach: {subjects}.
    What: a Spark executor does not reach a node that the driver reaches.
    Why: the executor's host has other routes or firewall rules than the driver's host, or resolves a name to another
    address.
    Remedy: open the path from that host to the dialled endpoint; every executor needs every node.
    """
    here = reached_from_here(evidence)
    for executor in evidence.executors:
        if executor.is_driver or not here:
            continue
        barred = [node for node in executor.nodes if not node.reached and node.node_id in here]
        if barred:
            ends = [node.dialled or node.advertised for node in barred]
            names = ", ".join(f"node {node.node_id}" for node in barred)
            seen = [
                f"node {node.node_id} at {end}: {': '.join(filter(None, (node.outcome, node.detail)))}"
                for node, end in zip(barred, ends, strict=True)
            ]
            fix = f"allow connections from {executor.host} to {', '.join(dict.fromkeys(ends))}"
            yield error(executor.name, f"does not reach {names}, which the driver reaches", seen, client=fix)
        elif executor.outcome == "failed":
            fix = f"check what Kafka's client needs on {executor.host}: files, names, Java"
            message = "its Kafka client failed before it reached any node"
            yield error(executor.name, message, (executor.detail,), client=fix)


_WITHOUT_MAP = {
    "no-agent": (
        "no agent runs there, so nothing applies the map",
        "remove -XX:+DisableAttachMechanism from the JVM's options, or put the agent on every host "
        "(`brokernat agent --copy-to DIR`) and name it with `--agent-path`",
    ),
    "other-map": (
        "it has another map or another agent",
        "restart the application, so that all of its JVMs have the same map and agent",
    ),
}


@check("BN614", Need.EXECUTORS)
def executor_map(evidence: Evidence) -> Iterator[CheckFinding]:
    """An executor does not have the map.

    Cause: The address map is not in force everywhere in the Spark application: {subjects}.
    What: a JVM of the Spark application has no agent, or has another map than this one.
    Why: the session was not started with the map, the JVM does not allow an agent to attach, or the map has changed
    since the start.
    Remedy: restart the application with this map; give `--agent-path` if a JVM does not allow an agent to attach.
    """
    for executor in evidence.executors:
        if executor.outcome in _WITHOUT_MAP:
            message, advice = _WITHOUT_MAP[executor.outcome]
            yield error(executor.name, message, (executor.detail,), client=advice)


_SILENT = {
    "silent": ("did not answer in time", "read its log; `--proof-timeout` gives it more time"),
    "not-registered": (
        "did not register in time",
        "check at the master whether cores and memory are free, and in the worker's log whether it starts",
    ),
}


@check("BN615", Need.EXECUTORS)
def executor_silent(evidence: Evidence) -> Iterator[CheckFinding]:
    """An executor did not answer.

    Cause: No proof came from {subjects}.
    What: a Spark executor did not answer in time, or an expected executor never registered.
    Why: it is busy or hangs at its start, or the cluster has no free cores or memory for it. A missing answer proves
    neither success nor failure.
    Remedy: read its log and the application's page at the master; free cores and memory in the cluster, or give the
    proof more time.
    """
    for executor in dict.fromkeys(evidence.executors):
        if executor.outcome in _SILENT:
            message, advice = _SILENT[executor.outcome]
            yield error(executor.name, message, client=advice)
