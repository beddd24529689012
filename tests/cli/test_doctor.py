"""`brokernat doctor` as a person sees it: reports of saved evidence, and ways to say it wrong."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.cli.conftest import Run
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped

from brokernat.doctor.evidence import to_json


def test_from_saved_evidence(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "seen.json").write_text(to_json(WITHOUT_MAP))
    assert run("doctor", "--from", "seen.json") == snapshot


@pytest.mark.parametrize(
    ("rules", "fail_on", "code"), [("", "warning", 0), (",a=b", "error", 0), (",a=b", "warning", 4)]
)
def test_exit_codes(run: Run, folder: Path, rules: str, fail_on: str, code: int) -> None:
    text = to_json(mapped({1: 1, 2: 2, 3: 3}))
    (folder / "seen.json").write_text(text.replace('"rules": [', '"rules": ["a=b",') if rules else text)
    assert run("doctor", "--from", "seen.json", "--fail-on", fail_on).startswith(f"exit {code}\n")


def test_nothing_answers(run: Run, folder: Path) -> None:
    said = run("doctor", "--bootstrap-server", "127.0.0.1:1", "--save", "seen.json", "--format", "json")
    assert said.startswith("exit 3\n")
    assert "BN103" in said
    assert "BN103" in run("doctor", "--from", "seen.json")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--map", "a=b"],
        ["--cluster", "hq", "--bootstrap-server", "a:1"],
        ["--from", "none.json"],
        ["--from", "brokernat.yaml"],
        ["--from", "x", "--cluster", "hq"],
        ["--from", "x", "--on-executors"],
        ["--bootstrap-server", "127.0.0.1:1", "--proof-timeout", "5"],
        ["--bootstrap-server", "a"],
    ],
    ids=" ".join,
)
def test_said_wrong(run: Run, snapshot: SnapshotAssertion, arguments: list[str]) -> None:
    assert run("doctor", *arguments) == snapshot
