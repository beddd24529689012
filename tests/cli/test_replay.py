"""Which dead letters a command line selects, and how the result is shown; the replay itself runs on real brokers."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import PIPELINE

from brokernat.cli import replay
from brokernat.pipelines.reading_back import replay as library
from brokernat.pipelines.reading_back.replay import Replayed, Selection, SourceRange, chunks
from brokernat.pipelines.steps.envelope import FaultKind

FOUND = Replayed(12, 3, 5, 1, {"WrongType": 3})


@pytest.fixture
def asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Selection, bool]]:
    """What the command has asked for."""
    found: list[tuple[Selection, bool]] = []

    def replayed(spark: None, prepared: object, selection: Selection, on_chunk: Any, *, dry_run: bool) -> Replayed:
        found.append((selection, dry_run))
        on_chunk(FOUND)
        return FOUND

    with (folder / "brokernat.yaml").open("a") as file:
        file.write(PIPELINE)
    monkeypatch.setattr(replay, "proved_session", lambda *_: nullcontext())
    monkeypatch.setattr(library, "replay_pipeline", replayed)
    return found


def test_without_options_all_are_selected(run: Callable[..., str], asked: list[tuple[Selection, bool]]) -> None:
    printed = run("pipeline", "replay", "tags")
    assert asked == [(Selection(), False)]
    assert printed.splitlines()[:1] == ["exit 0"]
    assert "12 records selected, 5 tags" in printed.partition("--- stderr")[2]
    expected = ["selected", "replayed before", "now tags", "now filtered", "still WrongType"]
    lines = printed.partition("--- stderr")[0].splitlines()[3:]
    assert [line.rpartition("  ")[0].strip() for line in lines] == expected


def test_causes_times_and_coordinates(run: Callable[..., str], asked: list[tuple[Selection, bool]]) -> None:
    causes = ("--cause", "WrongType", "--cause", "MissingReference")
    times = ("--since", "2026-01-05", "--until", "2026-01-06T08:30:00+01:00")
    records = ("--record", "orders/0/7", "--record", "orders/12/100-250")
    printed = run("pipeline", "replay", "tags", *causes, *times, *records, "--dry-run", "--format", "json")
    selection = Selection(
        (FaultKind.WRONG_TYPE, FaultKind.MISSING_REFERENCE),
        datetime(2026, 1, 5, tzinfo=UTC),
        datetime(2026, 1, 6, 8, 30, tzinfo=timezone(timedelta(hours=1))),
        (SourceRange("orders", 0, 7, 7), SourceRange("orders", 12, 100, 250)),
    )
    assert asked == [(selection, True)]
    found = json.loads(printed.partition("--- stdout\n")[2].partition("--- stderr")[0])
    about = {"version": 1, "pipeline": "tags", "dry_run": True, "selected": 12, "before": 3}
    assert found == about | {"tags": 5, "filtered": 1, "still": {"WrongType": 3}}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--cause", "Broken"), "'Broken' is not one of"),
        (("--since", "yesterday"), "`yesterday` is not a time such as 2026-01-05"),
        (("--record", "orders/0"), "`orders/0` is not TOPIC/PARTITION/OFFSET"),
    ],
)
def test_what_cannot_be_selected_is_a_usage_error(
    run: Callable[..., str], asked: list[tuple[Selection, bool]], options: tuple[str, str], problem: str
) -> None:
    printed = run("pipeline", "replay", "tags", *options)
    assert printed.startswith("exit 2\n")
    assert problem in printed
    assert asked == []


def test_chunks_cover_a_topic_once() -> None:
    assert list(chunks({0: 3}, {0: 3}, 10)) == []
    found = list(chunks({0: 5, 1: 0, 2: 7}, {0: 50, 1: 1, 2: 7}, 30))
    read = [(n, at) for begin, end in found for n in begin for at in range(begin[n], end[n])]
    assert sorted(read) == [*((0, at) for at in range(5, 50)), (1, 0)]
    assert all(sum(end[n] - begin[n] for n in begin) <= 30 for begin, end in found)
