"""The rows of a proof as evidence, the findings of the executors, and how a report shows them."""

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import BROKERS, GATEWAY, WITHOUT_MAP, mapped

from brokernat.address import Endpoint
from brokernat.clients.spark import Outcome, Proof, ProofRow
from brokernat.config import Cluster
from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.evidence import Evidence, ExecutorSeen, NodeTried, from_json, to_json
from brokernat.doctor.in_spark import executors_seen, findings
from brokernat.doctor.reports.json_v1 import json_v1
from brokernat.doctor.reports.terminal import terminal

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
HQ = Cluster("hq", (Endpoint.parse("172.10.1.40:9093"),))
MAP = "0123456789abcdef"
SPARK = {"BN613", "BN614", "BN615"}


def row(executor: str, node_id: int | None, outcome: Outcome = Outcome.PROVED, cause: str = "") -> ProofRow:
    ends = ("", "") if node_id is None else (BROKERS[node_id - 1].endpoint, GATEWAY[node_id])
    return ProofRow(executor, f"w{executor}", "hq", node_id, *ends, outcome, cause, agent="0.1.0", fingerprint=MAP)


def rows(executor: str, **outcomes: Outcome) -> tuple[ProofRow, ...]:
    return tuple(row(executor, node, outcomes.get(f"node{node}", Outcome.PROVED)) for node in (1, 2, 3))


def diagnosed(proof: Proof, evidence: Evidence = HEALTHY) -> Diagnosis:
    return diagnose(replace(evidence, executors=executors_seen(proof, "hq")))


def told(found: Diagnosis) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for each in found.findings:
        if each.code in SPARK:
            told.setdefault(each.code, []).append(each.subject)
    return told


def test_each_jvm_once_the_driver_first_and_executors_by_number() -> None:
    proof = Proof((*rows("10"), *rows("driver"), *rows("9")), missing=("11",), unregistered=1)
    assert [(seen.executor, seen.outcome, len(seen.nodes)) for seen in executors_seen(proof, "hq")] == [
        ("driver", "answered", 3),
        ("9", "answered", 3),
        ("10", "answered", 3),
        ("11", "silent", 0),
        ("", "not-registered", 0),
    ]


def test_rows_of_another_cluster_are_not_this_ones() -> None:
    assert executors_seen(Proof(rows("driver")), "local") == ()


def test_one_that_answered_for_this_cluster_is_not_silent_here() -> None:
    (seen,) = executors_seen(Proof(rows("0"), missing=("0",)), "hq")
    assert seen.outcome == "answered"


@pytest.mark.parametrize("outcome", Outcome)
def test_a_nodes_outcome_is_kept(outcome: Outcome) -> None:
    (seen,) = executors_seen(Proof((row("0", 2, outcome, "why"),)), "hq")
    assert seen.nodes[0].reached is row("0", 2, outcome).ok
    assert seen.nodes[0].detail == "why"


def test_where_no_spark_was_asked_the_checks_say_so() -> None:
    skipped = {each.code: each.reason for each in diagnose(HEALTHY).skipped}
    assert {code: reason for code, reason in skipped.items() if code in SPARK} == dict.fromkeys(
        SPARK, "no Spark executors were probed (`--on-executors`)"
    )


def test_nothing_is_found_where_every_executor_reaches_every_node() -> None:
    found = diagnosed(Proof((*rows("driver"), *rows("0", node2=Outcome.NOT_PROVABLE))))
    assert found.findings == ()
    assert set(found.passed) > SPARK


def test_an_executor_that_does_not_reach_what_the_driver_reaches_is_the_cause() -> None:
    found = diagnosed(Proof((*rows("driver"), *rows("0"), *rows("3", node2=Outcome.UNREACHABLE))))
    assert found.cause is not None
    assert found.cause.sentence == "The driver reaches nodes that executors cannot reach: executor 3 on w3."
    (finding,) = found.findings
    assert finding.message == "does not reach node 2, which the driver reaches"
    assert finding.details == (f"node 2 at {GATEWAY[2]}: unreachable",)
    assert finding.remedy.client == (f"allow connections from w3 to {GATEWAY[2]}",)


def test_what_nobody_reaches_is_no_fault_of_the_executor() -> None:
    barred = {"node2": Outcome.UNREACHABLE}
    proof = Proof((*rows("driver", **barred), *rows("0", **barred)))
    assert told(diagnosed(proof, WITHOUT_MAP)) == {}
    # The doctor's own look counts as the driver's.
    assert told(diagnosed(proof)) == {"BN613": ["executor 0 on w0"]}


@pytest.mark.parametrize(
    ("proof", "code", "subjects"),
    [
        (Proof((*rows("driver"), row("0", None, Outcome.NO_AGENT, "attach refused"))), "BN614", ["executor 0 on w0"]),
        (Proof((row("driver", None, Outcome.OTHER_MAP, "map a instead of b"),)), "BN614", ["the driver"]),
        (Proof((*rows("driver"), row("0", None, Outcome.FAILED, "no truststore"))), "BN613", ["executor 0 on w0"]),
        (Proof(rows("driver"), missing=("4", "5")), "BN615", ["executor 4", "executor 5"]),
        (Proof(rows("driver"), unregistered=2), "BN615", ["an executor that was expected"]),
    ],
)
def test_a_jvm_that_shows_nothing(proof: Proof, code: str, subjects: list[str]) -> None:
    assert told(diagnosed(proof)) == {code: subjects}


def test_a_proof_alone_gives_the_executors_findings_and_no_others() -> None:
    found = findings(Proof((*rows("driver"), row("0", None, Outcome.NO_AGENT))), HQ)
    assert [(each.code, each.subject) for each in found] == [("BN614", "executor 0 on w0")]


def test_it_is_kept_in_a_file() -> None:
    proof = Proof((*rows("driver"), row("0", None, Outcome.NO_AGENT)), missing=("1",), unregistered=1)
    evidence = replace(HEALTHY, executors=executors_seen(proof, "hq"))
    assert from_json(to_json(evidence), "file") == evidence


def test_the_report_has_a_line_for_each_jvm() -> None:
    seen = (
        ExecutorSeen("driver", "edge", "answered", "", "0.1.0", MAP, (NodeTried(1, "a:1", "b:1", "proved"),)),
        ExecutorSeen("3", "w3", "answered", "", None, None, (NodeTried(2, "a:2", "", "unreachable", "timed out"),)),
        ExecutorSeen("4", "w4", "no-agent"),
        ExecutorSeen("5", "", "silent"),
        ExecutorSeen("", "", "not-registered"),
    )
    found = diagnose(replace(HEALTHY, executors=seen))
    text = terminal(found, 100)
    for line in (
        "  ok the driver on edge: agent 0.1.0, map 0123456789ab: reaches node 1\n",
        "  x  executor 3 on w3: no agent, no map: not node 2 (unreachable)\n",
        "  x  executor 4 on w4: no agent\n",
        "  x  executor 5: no answer\n",
        "  x  an executor that was expected: did not register\n",
    ):
        assert line in text
    shown = json_v1(found)["executors"]
    assert [each["executor"] for each in shown] == ["driver", "3", "4", "5", ""]
    assert shown[1]["nodes"] == [
        {"node_id": 2, "advertised": "a:2", "dialled": "", "outcome": "unreachable", "detail": "timed out"}
    ]
