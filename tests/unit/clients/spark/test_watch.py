"""What becomes of executors by what they answer, also of those that join later; real ones are in tests/integration."""

import json
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brokernat.clients.spark import proving
from brokernat.clients.spark.proof import Expected, Outcome, Proof, ProofRow


def row(executor: str, outcome: Outcome = Outcome.PROVED) -> ProofRow:
    return ProofRow(executor, "here", "hq", 1, "a:1", "b:1", outcome)


@pytest.mark.parametrize(
    ("newcomer", "fails"),
    [
        (Proof((row("1"),)), False),
        (Proof((), missing=("1",)), True),
        (Proof((row("1", Outcome.NO_AGENT),)), True),
    ],
    ids=["well", "silent", "without an agent"],
)
def test_a_newcomer_that_is_not_proved_is_a_failure_also_when_it_is_silent(
    monkeypatch: pytest.MonkeyPatch, newcomer: Proof, fails: bool
) -> None:
    asked: list[frozenset[str]] = []
    looked = threading.Semaphore(0)

    def executors() -> dict[str, str]:
        looked.release()
        return {"0": "here", "1": "here"}

    def ask(*_: object, proved: frozenset[str], **__: object) -> Proof:
        asked.append(proved)
        return newcomer

    session = SimpleNamespace(is_local=False, executors=executors)
    monkeypatch.setattr(proving, "ClassicSession", lambda _: session)
    monkeypatch.setattr(proving, "query_driver", lambda *_: ((), (), ()))
    monkeypatch.setattr(proving, "query_executors", ask)
    failed: list[Proof] = []
    with proving.watch(cast("Any", None), [], Proof((row("driver"), row("0"))), failed.append, interval=0.001):
        # A look after the one that asked: nobody is asked twice.
        for _ in range(3):
            assert looked.acquire(timeout=60)
    assert failed == ([newcomer] if fails else [])
    assert asked == [frozenset({"driver", "0"})]


def test_an_answer_counts_for_the_executor_that_gave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark runs a job elsewhere when its executor is busy for longer than `spark.locality.wait`."""
    monkeypatch.setattr(proving, "_POLL_SECONDS", 0.0)
    asked: list[str] = []
    run_by = {"0": ["0"], "1": ["0", "1"]}

    def run_on(name: str, *_: object) -> SimpleNamespace:
        asked.append(name)
        node = {"id": 1, "outcome": "ok", "advertised": "a:1", "reachable": "b:1"}
        answer = json.dumps({"executor": run_by[name].pop(0), "host": "here", "nodes": [node]})
        row = SimpleNamespace(getString=lambda _: answer)
        return SimpleNamespace(isDone=lambda: True, get=lambda: [row])

    session = SimpleNamespace(executors=lambda: {"0": "here", "1": "here"}, run_on=run_on)
    question = proving.Question(None, Expected("hq", None, None))
    found = proving.query_executors(cast("Any", session), (question,), timeout=7200)
    assert asked == ["0", "1", "1"]
    assert found.ok
    assert found.executors == {"0", "1"}
