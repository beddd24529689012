"""What `pipeline check` and `run` do with an executor that does not answer; the rest runs on real brokers elsewhere."""

from typing import Any, cast

import pytest

from brokernat.cli import pipeline
from brokernat.cli.spark import SparkOptions
from brokernat.clients import spark
from brokernat.clients.spark.proof import Outcome, Proof, ProofRow
from brokernat.pipelines import preflight
from brokernat.pipelines.check_result import CheckResult, Level, Preflight

ROW = ProofRow("driver", "here", "hq", 1, "a:1", "b:1", Outcome.PROVED)


@pytest.mark.parametrize(
    ("proof", "steps"),
    [
        (Proof((ROW,)), ["tried"]),
        (Proof((ROW,), missing=("1",)), ["not looked at: an executor has not answered"]),
        (Proof((ROW,), unregistered=1), ["not looked at: an executor has not answered"]),
        (Proof(()), ["not looked at: an executor has not answered"]),
    ],
)
def test_the_steps_wait_only_for_executors_that_have_answered(
    monkeypatch: pytest.MonkeyPatch, proof: Proof, steps: list[str]
) -> None:
    tried = CheckResult("steps", Level.OK, "tried")
    monkeypatch.setattr(preflight, "look_at_clusters", lambda *_: Preflight((), {}))
    monkeypatch.setattr(preflight, "try_steps", lambda *_: [tried])
    monkeypatch.setattr(spark, "prove", lambda *_, **__: proof)
    wanted = SparkOptions(None, (), "auto", None, 60.0)
    found, seen = pipeline._preflight(cast("Any", None), cast("Any", type("P", (), {"clusters": ()})), wanted)
    assert seen is proof
    assert [result.message for result in found.results] == steps
