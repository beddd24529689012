"""What `pipeline reconcile` prints and how it ends; Spark and the brokers are in tests/integration/reconcile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.cli.conftest import PIPELINE

from brokernat.cli import reconcile
from brokernat.clients.spark.proof import Outcome, Proof, ProofRow
from brokernat.pipelines.reading_back import delivered, proposal, shipped
from brokernat.pipelines.reading_back.delivered import Delivered
from brokernat.pipelines.reading_back.proposal import Proposal
from brokernat.pipelines.reading_back.reconcile import SourceAccount, Span
from brokernat.pipelines.reading_back.shipped import Shipped

WHOLE = SourceAccount("web-1", 1, 40, 41, 1, 0, ())
TORN = SourceAccount(
    "web-2", 2, 30, 7, 0, 23, (Span(1, 1), Span(5, 6), Span(8, 8), Span(10, 10), Span(12, 12), Span(14, 30))
)
ABSENT = SourceAccount("web-3", None, None, 0, 0, 5, (Span(1, 5),))
TOPIC = "--cluster hq --topic audit"


@pytest.mark.parametrize(
    ("line", "sources"),
    [
        (TOPIC, (WHOLE,)),
        (TOPIC, (WHOLE, TORN, ABSENT)),
        (f"{TOPIC} --from-first", (TORN,)),
        (f"{TOPIC} --format json", (TORN,)),
        (f"{TOPIC} --reached web-1", ()),
        (f"{TOPIC} --reached web/1/x", ()),
        ("--cluster hq", ()),
        ("--cluster hq --topic a/b", ()),
        ("", ()),
        ("tags --topic audit", ()),
        ("--cluster nowhere --topic audit", ()),
    ],
)
def test_a_shipped_topic(
    run: Callable[..., str],
    snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    sources: tuple[SourceAccount, ...],
) -> None:
    monkeypatch.setattr(reconcile, "proved_session", lambda *_: nullcontext())
    monkeypatch.setattr(shipped, "reconcile_topic", lambda *_, **__: Shipped(sources, len(sources) - 1, 0))
    assert run("pipeline", "reconcile", *line.split()) == snapshot


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize(
    "found",
    [
        (),
        (Delivered("orders", 0, 0, 9, 0, 9, 8, 0, 1, 0), Delivered("orders", 1, 3, 3)),
        (Delivered("orders", 0, 0, 9, 2, 7, 5, 3, 0, 2, (Span(4, 4), Span(8, 8))),),
    ],
    ids=["new", "whole", "torn"],
)
def test_a_pipeline(
    run: Callable[..., str],
    folder: Path,
    snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
    found: tuple[Delivered, ...],
    output: str,
) -> None:
    with (folder / "brokernat.yaml").open("a") as file:
        file.write(PIPELINE)
    monkeypatch.setattr(reconcile, "proved_session", lambda *_: nullcontext())
    monkeypatch.setattr(delivered, "reconcile_pipeline", lambda *_: found)
    assert run("pipeline", "reconcile", "tags", "--format", output) == snapshot


@pytest.mark.parametrize(
    "line",
    [
        "tags --propose-offsets",
        "tags --propose-offsets --from-first --write",
        "tags --propose-offsets --format json",
        "tags --write",
        f"{TOPIC} --propose-offsets",
    ],
)
def test_the_offsets_of_a_lost_checkpoint(
    run: Callable[..., str], folder: Path, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    with (folder / "brokernat.yaml").open("a") as file:
        file.write(PIPELINE)
    whole = Proposal("orders", 0, 0, 9, 9)
    torn = Proposal("orders", 1, 0, 9, 4, missing=2, missing_ranges=(Span(4, 4), Span(7, 7)), repeated=3)
    empty, late = Proposal("orders", 2, 5, None, 5), Proposal("orders", 3, 12, 9, 12, removed=3)
    monkeypatch.setattr(reconcile, "proved_session", lambda *_: nullcontext())
    found = (whole, torn, empty, *([late] if "--write" in line else []))
    monkeypatch.setattr(proposal, "propose_offsets", lambda *_, **__: found)
    assert run("pipeline", "reconcile", *line.split()) == snapshot


@pytest.mark.parametrize("line", [TOPIC, "tags"])
def test_nothing_is_read_by_jvms_that_are_not_proved(
    run: Callable[..., str], folder: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    with (folder / "brokernat.yaml").open("a") as file:
        file.write(PIPELINE)
    row = ProofRow("driver", "here", "hq", 1, "a:1", "b:1", Outcome.NO_AGENT)
    read: list[object] = []
    monkeypatch.setattr("brokernat.cli.spark.user_session", lambda *_: nullcontext())
    monkeypatch.setattr("brokernat.clients.spark.prove", lambda *_, **__: Proof((row,)))
    monkeypatch.setattr(shipped, "reconcile_topic", lambda *_, **__: read.append("topic"))
    monkeypatch.setattr(delivered, "reconcile_pipeline", lambda *_: read.append("pipeline"))
    assert run("pipeline", "reconcile", *line.split()).startswith("exit 5\n")
    assert read == []
