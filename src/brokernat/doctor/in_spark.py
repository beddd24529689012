"""Turns the proof of Spark's JVMs into evidence: the result of each JVM for each node; pure.

`clients.spark.prove` runs the proof. Its rows are in the order of JVMs, and a row without a node is about a whole JVM.
`pipeline check` has a proof but no probes, so it gets only the findings about executors.
"""

from __future__ import annotations

from collections.abc import Mapping

from brokernat.clients.spark.proof import Outcome, Proof, ProofRow
from brokernat.config import Cluster
from brokernat.doctor.checks import CHECKS, Need
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Evidence, ExecutorSeen, JvmOutcome, NodeOutcome, NodeTried
from brokernat.doctor.finding import CheckFinding

_NODES: Mapping[Outcome, NodeOutcome] = {
    Outcome.PROVED: "proved",
    Outcome.NOT_PROVABLE: "not-provable",
    Outcome.OTHER_NODE: "other-node",
    Outcome.UNMAPPED: "unmapped",
    Outcome.UNREACHABLE: "unreachable",
}
_JVMS: Mapping[Outcome, JvmOutcome] = {Outcome.NO_AGENT: "no-agent", Outcome.OTHER_MAP: "other-map"}


def executors_seen(proof: Proof, cluster: str) -> tuple[ExecutorSeen, ...]:
    """The results of each JVM for a cluster: the driver, the executors by number, then those without an answer."""
    rows: dict[str, list[ProofRow]] = {}
    for row in proof.rows:
        if row.cluster == cluster:
            rows.setdefault(row.executor, []).append(row)
    answered = [_seen(of_one) for _, of_one in sorted(rows.items(), key=lambda item: _order(item[0]))]
    silent = [ExecutorSeen(name, "", "silent") for name in sorted(set(proof.missing) - rows.keys(), key=_order)]
    return (*answered, *silent, *[ExecutorSeen("", "", "not-registered")] * proof.unregistered)


def findings(proof: Proof, cluster: Cluster) -> tuple[CheckFinding, ...]:
    """The findings about the executors and one cluster, from the proof only."""
    evidence = Evidence.without_network(cluster.name, executors=executors_seen(proof, cluster.name))
    return diagnose(evidence, [check for check in CHECKS if Need.EXECUTORS in check.needs]).findings


def _seen(rows: list[ProofRow]) -> ExecutorSeen:
    first = rows[0]
    nodes = tuple(
        NodeTried(row.node_id, row.advertised, row.dialled, _NODES.get(row.outcome, "failed"), row.cause)
        for row in rows
        if row.node_id is not None
    )
    outcome: JvmOutcome = "answered" if nodes else _JVMS.get(first.outcome, "failed")
    detail = "" if nodes else first.cause
    return ExecutorSeen(first.executor, first.host, outcome, detail, first.agent, first.fingerprint, nodes)


def _order(executor: str) -> tuple[bool, int, str]:
    return executor != "driver", int(executor) if executor.isdecimal() else 0, executor
