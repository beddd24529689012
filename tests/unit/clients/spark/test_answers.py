"""Each form of answer that the agent's proof knows, as the rows that it becomes."""

from typing import Any

import pytest

from brokernat.clients.spark.proof import Expected, Outcome, discovery_row, notes_of, rows_of

EXPECTED = Expected("hq", "f" * 64, "0.1.0")
NODE = {"id": 2, "advertised": "192.168.1.24:9092", "reachable": "172.10.1.40:9094"}


def answer(*nodes: dict[str, Any], **facts: Any) -> dict[str, Any]:
    good = {
        "executor": "3",
        "host": "w2",
        "agent": "0.1.0",
        "fingerprint": "f" * 64,
        "problem": "",
        "nodes": list(nodes),
    }
    return good | facts


@pytest.mark.parametrize(
    ("said", "outcome", "cause"),
    [
        ({"outcome": "ok", "checked": "DescribeConfigs"}, Outcome.PROVED, "DescribeConfigs"),
        ({"outcome": "not-provable", "checked": "ListOffsets"}, Outcome.NOT_PROVABLE, "ListOffsets"),
        ({"outcome": "wrong-node", "answered_by": 1}, Outcome.OTHER_NODE, "the rule for node 2 leads to node 1"),
        ({"outcome": "timed-out", "tcp": "refused", "message": "late"}, Outcome.UNREACHABLE, "refused: late"),
        ({"outcome": "failed", "message": "SASL"}, Outcome.FAILED, "SASL"),
        ({"outcome": "failed", "message": "refuses", "reachable": None}, Outcome.UNMAPPED, "refuses"),
        ({"outcome": "something new"}, Outcome.FAILED, ""),
    ],
)
def test_a_node(said: dict[str, Any], outcome: Outcome, cause: str) -> None:
    (row,) = rows_of(answer(NODE | said), EXPECTED)
    assert (row.outcome, row.cause) == (outcome, cause)
    assert (row.executor, row.host, row.cluster, row.node_id, row.advertised) == (
        "3",
        "w2",
        "hq",
        2,
        "192.168.1.24:9092",
    )
    assert row.answered_by == said.get("answered_by")


@pytest.mark.parametrize(
    ("facts", "outcome", "cause"),
    [
        ({"agent": None}, Outcome.NO_AGENT, "nothing applies the map"),
        ({"agent": None, "cause": "java.lang.X", "message": "attach refused"}, Outcome.NO_AGENT, "attach refused"),
        ({"cause": "java.lang.X", "message": "broken"}, Outcome.FAILED, "java.lang.X: broken"),
        ({"fingerprint": "e" * 64}, Outcome.OTHER_MAP, "map eeeeeeeeeeee instead of ffffffffffff"),
        ({"problem": "line 1: no ="}, Outcome.OTHER_MAP, "line 1: no ="),
        ({"agent": "0.0.9"}, Outcome.OTHER_MAP, "agent 0.0.9 where the driver has 0.1.0"),
    ],
)
def test_a_jvm_that_cannot_be_trusted_gives_one_row_instead_of_its_nodes(
    facts: dict[str, Any], outcome: Outcome, cause: str
) -> None:
    (row,) = rows_of(answer(NODE | {"outcome": "ok"}, **facts), EXPECTED)
    assert row.outcome is outcome
    assert cause in row.cause
    assert row.node_id is None


def test_without_a_map_no_agent_is_needed() -> None:
    (row,) = rows_of(answer(NODE | {"outcome": "ok"}, agent=None), Expected("local", None, None))
    assert row.outcome is Outcome.PROVED


@pytest.mark.parametrize(
    ("found", "mapped", "outcome", "cause"),
    [
        (
            {"agent": "0.1.0", "message": "late", "bootstrap": {"a:1": "refused"}},
            True,
            Outcome.UNREACHABLE,
            "late (bootstrap servers a:1: refused)",
        ),
        ({"agent": "0.1.0", "message": "no topic"}, True, Outcome.FAILED, "no topic"),
        (
            {
                "agent": "0.1.0",
                "cause": "org.apache.kafka.common.errors.SaslAuthenticationException",
                "message": "Authentication failed",
                "bootstrap": {"a:1": "connected"},
            },
            True,
            Outcome.LOGIN_REFUSED,
            "Authentication failed",
        ),
        ({"message": "attach refused", "bootstrap": {"a:1": "connected"}}, True, Outcome.NO_AGENT, "attach refused"),
        (
            {"agent": None, "message": "late", "bootstrap": {"a:1": "refused"}},
            False,
            Outcome.UNREACHABLE,
            "a:1: refused",
        ),
    ],
)
def test_a_driver_that_sees_no_node(found: dict[str, Any], mapped: bool, outcome: Outcome, cause: str) -> None:
    row = discovery_row(found, "hq", mapped=mapped)
    assert row.outcome is outcome
    assert cause in row.cause


def test_two_kafka_clients_are_reported_and_one_is_not() -> None:
    copies = [{"version": "3.9.2", "location": "/a.jar"}, {"version": "2.4.1", "location": "/b.jar"}]
    assert notes_of(answer(kafka_clients=copies[:1])) == ()
    (note,) = notes_of(answer(kafka_clients=copies))
    assert "2 copies of kafka-clients" in note
    assert "2.4.1 (/b.jar)" in note
