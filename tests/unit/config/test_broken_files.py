"""One file per kind of mistake, and the whole report of each."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat.config import load
from brokernat.errors import ConfigError

BROKEN = Path(__file__).parent / "broken"
NAMES = sorted(path.name for path in BROKEN.glob("*.yaml"))


@pytest.fixture(autouse=True)
def _in_the_folder_above(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BROKEN.parent)


@pytest.mark.parametrize("name", NAMES)
def test_report(name: str, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(ConfigError) as caught:
        load(f"broken/{name}", environ={"HQ_USER": "me"})
    report = caught.value.report().replace(str(BROKEN), "FOLDER")
    assert report == snapshot
    assert "hunter2" not in report
    assert "canary" not in report


def test_problems_are_in_the_order_of_the_file() -> None:
    with pytest.raises(ConfigError) as caught:
        load("broken/many_at_once.yaml", environ={})
    lines = [problem.location.line or 0 for problem in caught.value.problems]
    assert lines == sorted(lines)
    assert len(lines) > 25


def test_there_are_enough_of_them() -> None:
    assert len(NAMES) >= 20
