"""What becomes of the driver's first question."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from brokernat.address import Endpoint
from brokernat.clients.spark.proving import query_driver
from brokernat.config import Cluster

TIMED_OUT = {"cause": "java.util.concurrent.TimeoutException", "message": "no answer in time"}
NODES: dict[str, Any] = {"nodes": [{"id": 1, "endpoint": "a:1"}], "partitions": {}, "agent": None}


def session(discover: Callable[..., str]) -> Any:
    """A driver whose JVM gives these answers, and no node to ask."""
    function = SimpleNamespace(call=lambda _: json.dumps({"nodes": [], "executor": "driver"}))
    proof = SimpleNamespace(Proof=SimpleNamespace(discover=discover), ProofFunction=lambda *_: function)
    jvm = SimpleNamespace(io=SimpleNamespace(brokernat=SimpleNamespace(agent=SimpleNamespace(proof=proof))))
    spark = SimpleNamespace(conf=SimpleNamespace(get=lambda *_: None))
    return SimpleNamespace(java_class_visible=lambda _: True, spark=spark, jvm=jvm)


@pytest.mark.parametrize(
    ("first", "asked", "questions"),
    [
        ({**TIMED_OUT, "bootstrap": {"a:1": "connected"}}, 2, 1),
        ({**TIMED_OUT, "bootstrap": {"a:1": "refused"}}, 1, 0),
        ({"cause": "x.AuthenticationException", "message": "", "bootstrap": {"a:1": "connected"}}, 1, 0),
        (NODES, 1, 1),
    ],
    ids=["a busy machine", "nobody there", "no login", "an answer"],
)
def test_nodes_are_asked_for_again_where_a_server_connects_and_does_not_answer_in_time(
    first: dict[str, Any], asked: int, questions: int
) -> None:
    answers = [first, NODES]
    calls: list[tuple[object, ...]] = []

    def discover(*arguments: object) -> str:
        calls.append(arguments)
        return json.dumps(answers[len(calls) - 1])

    found, _, _ = query_driver(session(discover), [Cluster("hq", (Endpoint("a", 1),))], {})

    assert (len(calls), len(found)) == (asked, questions)
