"""How tests are given to several processes, and what a person sees of it."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.progress import Progress
from tests.workers import SECONDS, bring_forward, group_of, longest_first

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("group", SECONDS)
def test_what_is_timed_is_there(group: str) -> None:
    assert (ROOT / group).exists()


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/matrix/test_clients.py::test_a[x/y::z]", "tests/matrix"),
        ("tests/netns/test_exec.py::test_a", "tests/netns"),
        ("tests/netns/spark/test_tags.py::test_a", "tests/netns/spark"),
        ("tests/integration/exec/test_spark.py::test_a", "tests/integration/exec/test_spark.py"),
        ("tests/unit/test_errors.py::test_a", "tests/unit/test_errors.py"),
    ],
)
def test_the_innermost_group_or_the_file(nodeid: str, group: str) -> None:
    assert group_of(nodeid) == group


def test_the_longest_come_first_and_a_group_keeps_its_order() -> None:
    names = ["tests/unit/a.py::x", "tests/matrix/a.py::x", "tests/unit/b.py::x", "tests/matrix/b.py::x"]
    items = [SimpleNamespace(nodeid=name) for name in names]
    longest_first(cast("list[pytest.Item]", items))
    assert [item.nodeid for item in items] == [names[1], names[3], names[0], names[2]]


def test_groups_that_share_a_world_come_in_one_run() -> None:
    names = ["tests/leaks/test_clients.py::x", "tests/integration/a.py::x", "tests/integration/steps/a.py::x"]
    items = [SimpleNamespace(nodeid=name) for name in names]
    longest_first(cast("list[pytest.Item]", items))
    assert [item.nodeid for item in items] == names[::-1]


@pytest.mark.parametrize(("process", "first"), [(0, "long"), (1, "long"), (2, "short"), (3, "short")])
def test_from_the_third_process_on_the_shortest_come_first(process: int, first: str) -> None:
    waiting = OrderedDict.fromkeys(["long", "middle", "short"])
    bring_forward(waiting, process)
    assert next(iter(waiting)) == first


def test_a_group_that_has_ended_is_one_line_and_a_failure_another() -> None:
    said: list[str] = []
    progress = Progress(cast("Any", SimpleNamespace(write_line=lambda line, **_: said.append(line))))
    ids = ["tests/a.py::one", "tests/b.py::one", "tests/a.py::two"]
    raised = SimpleNamespace(reprcrash=SimpleNamespace(path="tests/a.py", lineno=7, message="E: why\nassert 1 == 2"))
    progress.pytest_xdist_node_collection_finished(ids)
    progress.pytest_xdist_node_collection_finished(ids)
    for nodeid in ids:
        for when in ("setup", "call", "teardown"):
            failed = (nodeid, when) == ("tests/a.py::two", "call")
            outcome = "failed" if failed else "passed"
            report = SimpleNamespace(nodeid=nodeid, when=when, duration=1, outcome=outcome, longrepr=raised)
            report.failed, report.passed = failed, not failed
            progress.pytest_runtest_logreport(cast("pytest.TestReport", report))
        progress.pytest_runtest_logfinish(nodeid)
    assert said == [
        "[ 66%]    3 s  tests/b.py: 1 passed",
        "FAILED tests/a.py::two (call): tests/a.py:7: E: why",
        "[100%]    6 s  tests/a.py: 1 failed, 1 passed",
    ]
