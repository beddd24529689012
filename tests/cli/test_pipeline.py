"""What `pipeline check` and `run` do with an executor that does not answer; the rest runs on real brokers elsewhere."""

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import pytest
from tests.cli.conftest import PIPELINE

from brokernat.cli import pipeline
from brokernat.cli.spark import SparkOptions
from brokernat.clients import spark
from brokernat.clients.spark.proof import Outcome, Proof, ProofRow
from brokernat.pipelines import preflight
from brokernat.pipelines.check_result import CheckResult, Level, Preflight

ROW = ProofRow("driver", "here", "hq", 1, "a:1", "b:1", Outcome.PROVED)


@pytest.mark.parametrize(
    ("proof", "is_local", "steps"),
    [
        (Proof((ROW,)), False, ["tried"]),
        (Proof((ROW,), missing=("1",)), False, ["not checked: an executor has not answered"]),
        (Proof((ROW,), unregistered=1), False, ["not checked: an executor has not answered"]),
        (Proof(()), False, ["not checked: an executor has not answered"]),
        (Proof(()), True, ["tried"]),
    ],
)
def test_the_steps_wait_only_for_executors_that_have_answered(
    monkeypatch: pytest.MonkeyPatch, proof: Proof, is_local: bool, steps: list[str]
) -> None:
    tried = CheckResult("steps", Level.OK, "tried")
    monkeypatch.setattr(preflight, "check_clusters", lambda *_: Preflight((), {}))
    monkeypatch.setattr(preflight, "try_steps", lambda *_: [tried])
    monkeypatch.setattr(preflight, "task_slots", lambda *_: [])
    monkeypatch.setattr(spark, "prove", lambda *_, **__: proof)
    wanted = SparkOptions(None, (), "auto", None, 60.0)
    session = SimpleNamespace(sparkContext=SimpleNamespace(_jsc=SimpleNamespace(isLocal=lambda: is_local)))
    found, seen = pipeline._preflight(cast("Any", session), cast("Any", type("P", (), {"clusters": ()})), (), wanted)
    assert seen is proof
    assert [result.message for result in found.results] == steps


FAILED = ProofRow("driver", "here", "hq", 1, "a:1", "b:1", Outcome.OTHER_NODE, "the rule for node 1 leads to node 2")
WRONG = CheckResult("sink", Level.ERROR, "topic `tags` does not exist", code=2)


class Running:
    """A run that ends when it is stopped, or at once."""

    def __init__(self) -> None:
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True

    def poll(self) -> bool:
        return False

    def reports(self, after: int | None) -> list[dict[str, Any]]:
        return []

    def activity(self) -> None:
        return None


@pytest.fixture
def started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Running]:
    """The runs that the command has started, on a Spark that is none."""
    runs: list[Running] = []

    def start(*_: object, **__: object) -> Running:
        runs.append(Running())
        return runs[-1]

    with (folder / "brokernat.yaml").open("a") as file:
        file.write(PIPELINE)
    monkeypatch.setattr(pipeline, "pipeline_session", lambda *_: nullcontext())
    monkeypatch.setattr("brokernat.pipelines.supervised.start", start)
    monkeypatch.setattr("brokernat.pipelines.checkpoint.state.State.count_start", lambda *_: 1)
    monkeypatch.setattr(spark, "watch", lambda *_, **__: nullcontext())
    return runs


@pytest.mark.parametrize(
    ("results", "rows", "code"),
    [
        ((), (ROW,), 0),
        ((), (FAILED,), 5),
        ((WRONG,), (ROW,), 2),
        ((WRONG,), (FAILED,), 5),
    ],
    ids=["well", "not proved", "check found an error", "both"],
)
def test_a_run_starts_only_when_all_is_proved_and_found_well(
    run: Callable[..., str],
    started: list[Running],
    monkeypatch: pytest.MonkeyPatch,
    results: tuple[CheckResult, ...],
    rows: tuple[ProofRow, ...],
    code: int,
) -> None:
    monkeypatch.setattr(pipeline, "_preflight", lambda *_: (Preflight(results, {}), Proof(rows)))
    printed = run("pipeline", "run", "tags")
    assert printed.startswith(f"exit {code}\n")
    assert len(started) == (code == 0)


def test_a_newcomer_that_is_not_proved_stops_the_run_and_is_its_end(
    run: Callable[..., str], started: list[Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def watch(*arguments: Any, **_: object) -> Iterator[None]:
        on_failure = arguments[3]
        on_failure(Proof((), missing=("7",)))
        yield

    monkeypatch.setattr(pipeline, "_preflight", lambda *_: (Preflight((), {}), Proof((ROW,))))
    monkeypatch.setattr(spark, "watch", watch)
    printed = run("pipeline", "run", "tags")
    assert printed.startswith("exit 5\n")
    assert "no answer from executor 7" in printed
    assert [one.stopped for one in started] == [True]


def test_a_status_address_that_is_taken_ends_the_command_before_spark_starts(
    run: Callable[..., str], folder: Path, started: list[Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    def session(*_: object) -> NoReturn:
        pytest.fail("Spark was started")

    monkeypatch.setattr(pipeline, "pipeline_session", session)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        printed = run("pipeline", "run", "tags", "--status", str(port))
        with (folder / "brokernat.yaml").open("a") as file:
            file.write(f"    status: 127.0.0.1:{port}\n")
        assert run("pipeline", "run", "tags") == printed
    assert printed.startswith("exit 2\n")
    assert f"the status page cannot listen on 127.0.0.1:{port}: Address already in use\n\nhint: choose" in printed


def test_the_status_of_a_run_is_announced_and_the_log_may_be_json(
    run: Callable[..., str], started: list[Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    warned = CheckResult("sink topic tags", Level.WARNING, "it is compacted", "remove `cleanup.policy`")
    monkeypatch.setattr(pipeline, "_preflight", lambda *_: (Preflight((warned,), {}), Proof((ROW,))))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    printed = run("pipeline", "run", "tags", "--status", str(port), "--log-format", "json")
    announced, warning, proved, end = (json.loads(line) for line in printed.partition("--- stderr\n")[2].splitlines())
    assert announced["message"] == f"status page: http://127.0.0.1:{port}/"
    assert (warning["level"], warning["message"]) == ("warning", "sink topic tags: it is compacted")
    assert warning["hint"] == "remove `cleanup.policy`"
    assert proved["routes"][0] == {
        "cluster": "hq",
        "node_id": 1,
        "advertised": "a:1",
        "reachable": "b:1",
        "proved_by": ["driver"],
        "not_provable_by": [],
    }
    assert (end["level"], end["message"]) == ("info", "tags: 0 in = 0 tags + 0 dead letters + 0 filtered in 0 batches")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", end["time"])
    # The next command of this process is plain again.
    assert "status page" in run("pipeline", "run", "tags", "--status", str(port)).splitlines()[3]
