"""`brokernat doctor` as a person sees it: reports of saved evidence, and ways to say it wrong."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from syrupy.assertion import SnapshotAssertion
from tests.cli.conftest import Run
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped

from brokernat.doctor.checks import CHECKS
from brokernat.doctor.evidence import to_json


def test_from_saved_evidence(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "seen.json").write_text(to_json(WITHOUT_MAP))
    # How many checks there are is not what this is about.
    said = re.sub(r"skipped\n.*?\n\n", "", run("doctor", "--from", "seen.json"), flags=re.DOTALL)
    assert re.sub(r"; .* skipped", "; ...", said) == snapshot


def test_a_page_is_written_beside_the_report(run: Run, folder: Path) -> None:
    (folder / "seen.json").write_text(to_json(WITHOUT_MAP))
    said = run("doctor", "--from", "seen.json", "--html", "report.html")
    assert "root cause: " in said
    assert "report.html: the report as an HTML page" in said
    assert "<title>hq: errors between this host" in (folder / "report.html").read_text("utf-8")


def test_suppressed(run: Run, folder: Path) -> None:
    (folder / "seen.json").write_text(to_json(WITHOUT_MAP))
    some = run("doctor", "--from", "seen.json", "--suppress", "BN302=node 1 *", "--suppress", "bn606")
    assert some.startswith("exit 5\n")
    assert "1 finding suppressed" in some
    assert "`--suppress BN606` matched no finding" in some
    every = run("doctor", "--from", "seen.json", "--suppress", "BN302", "--suppress", "BN2*", "--fail-on", "warning")
    assert every.startswith("exit 0\n")
    assert "6 findings suppressed" in every
    assert run("doctor", "--suppress", "BN999").startswith("exit 2\n")


def test_every_check_is_listed(run: Run) -> None:
    listed = run("doctor", "--list-checks")
    assert all(f"{check.code}  {check.title}\n" in listed for check in CHECKS)
    said = run("doctor", "--list-checks", "--format", "json")
    (page,) = (
        each["doc"]
        for each in json.loads(said.partition("--- stdout\n")[2].partition("---")[0])
        if each["code"] == "BN302"
    )
    assert page == "docs/reference/codes/BN302.md"


def test_the_schema_is_that_of_the_output(run: Run, folder: Path) -> None:
    (folder / "seen.json").write_text(to_json(WITHOUT_MAP))

    def printed(*arguments: str) -> Any:
        return json.loads(run("doctor", *arguments).partition("--- stdout\n")[2].rpartition("--- stderr")[0])

    schema = printed("--schema")
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(printed("--from", "seen.json", "--format", "json"))


@pytest.mark.parametrize(
    ("rules", "fail_on", "code"), [("", "warning", 0), (",a=b", "error", 0), (",a=b", "warning", 4)]
)
def test_exit_codes(run: Run, folder: Path, rules: str, fail_on: str, code: int) -> None:
    text = to_json(mapped({1: 1, 2: 2, 3: 3}))
    (folder / "seen.json").write_text(text.replace('"rules": [', '"rules": ["a=b",') if rules else text)
    assert run("doctor", "--from", "seen.json", "--fail-on", fail_on).startswith(f"exit {code}\n")


def test_a_disk_that_is_full_in_the_end_costs_nobody_the_report(run: Run, folder: Path) -> None:
    (folder / "seen.json").write_text(to_json(WITHOUT_MAP))
    for option in ("--save", "--html"):
        said = run("doctor", "--from", "seen.json", option, "/dev/full")
        assert said.startswith("exit 2\n")
        assert "root cause: " in said
        assert "`/dev/full` cannot be written: No space left on device" in said


@pytest.mark.parametrize("option", ["--save", "--html"])
def test_files_are_looked_at_before_the_network_is(run: Run, folder: Path, option: str) -> None:
    """Nothing answers at that endpoint, which would be another code."""
    before = (folder / "brokernat.yaml").read_bytes()
    (folder / "itself").symlink_to("itself")
    for file, words in (
        ("brokernat.yaml", "and is not overwritten"),
        ("none/file", "there is no folder"),
        (".", "it is a folder"),
        ("itself", "`itself` cannot be written"),
    ):
        said = run("doctor", "--bootstrap-server", "127.0.0.1:1", option, file)
        assert said.startswith("exit 2\n--- stdout\n--- stderr\n")
        assert words in said
    assert (folder / "brokernat.yaml").read_bytes() == before


def test_what_the_doctor_wrote_itself_is_written_over(run: Run, folder: Path) -> None:
    (folder / "seen.json").write_text(to_json(WITHOUT_MAP))
    (folder / "empty").touch()
    arguments = ("doctor", "--from", "seen.json", "--save", "seen.json", "--html")
    for page in ("page.html", "page.html", "empty"):
        assert run(*arguments, page).startswith("exit 5\n")
    assert (folder / "page.html").read_bytes() == (folder / "empty").read_bytes()
    assert (folder / "seen.json").read_text() == to_json(WITHOUT_MAP)


def test_evidence_that_was_touched(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = to_json(WITHOUT_MAP)
    later = whole.replace('"version": 3', '"version": 4').replace('"refused"', '"quantum"')
    for text, words in (
        (whole[: len(whole) // 2], "Invalid JSON: EOF"),
        (later, "evidence of version 4; this brokernat reads version 3"),
        (
            whole.replace('"refused"', '"quantum"', 1),
            "probe.connect.attempts.0.outcome: Input should be 'connected',",
        ),
        (whole.replace('"port": 9092', '"port": "canary"', 1), "port: Input should be a valid integer"),
        (whole.replace('"bootstraps"', '"canary"'), "bootstraps: Field required"),
        (whole.replace('"rules": null', '"rules": ["no rule"]'), "rules.0: "),
        (
            whole.replace('[\n          "172.10.1.40"', '[\n          "x"', 1),
            "0.resolve.addresses.0: this is no",
        ),
        ("[" * 100_000, "Invalid JSON"),
    ):
        (folder / "seen.json").write_text(text)
        said = run("doctor", "--from", "seen.json")
        assert said.startswith("exit 2\n"), said
        assert words in said
    (folder / "seen.json").write_text("\ufeff" + whole, "utf-8")
    assert run("doctor", "--from", "seen.json").startswith("exit 5\n")
    monkeypatch.setattr("brokernat.cli.doctor._LARGEST_EVIDENCE", 1000)
    assert "is larger than 256 MiB" in run("doctor", "--from", "seen.json")


def test_nothing_answers(run: Run, folder: Path) -> None:
    said = run("doctor", "--bootstrap-server", "127.0.0.1:1", "--save", "seen.json", "--format", "json")
    assert said.startswith("exit 3\n")
    assert "BN103" in said
    assert "BN103" in run("doctor", "--from", "seen.json")


@pytest.mark.parametrize("name", ["\udcff", "g" * 40_000], ids=["no-text", "too-long"])
def test_a_group_that_kafka_cannot_be_asked_for(run: Run, name: str) -> None:
    assert "not a valid name in Kafka" in run("doctor", "--bootstrap-server", "127.0.0.1:1", "--group", name)


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
        ["--from", "x", "--save", "y", "--html", "y"],
        ["--bootstrap-server", "127.0.0.1:1", "--timeout", "nan"],
    ],
    ids=" ".join,
)
def test_said_wrong(run: Run, snapshot: SnapshotAssertion, arguments: list[str]) -> None:
    assert run("doctor", *arguments) == snapshot
