from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat.map_text import read_rules_file

Run = Callable[..., str]

RULE = "192.168.1.23:9092 = 172.10.1.40:9093"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--rule", RULE, "192.168.1.23:9092"],
        ["--rule", RULE, "--rule", "*.hq = gw", "b.hq:7", "192.168.1.23:9092"],
        ["--rule", RULE, "192.168.1.24:9092"],
        ["--rule", RULE, "192.168.1.24:9092", "192.168.1.23:9092", "--format", "json"],
        ["--rule", RULE, "--unmapped", "pass", "192.168.1.24:9092"],
        ["--rule", "a:1 = b, c = d:1", "--rule", "e", "a:1"],
        ["--rule", "*.hq:1 = gw:{1+id}", "a.hq:1"],
        ["--rule", RULE, "kafka", "10.0.0.1:x"],
        ["--rule", RULE, "--cluster", "hq", "a:1"],
        ["192.168.1.24:9092", "k.hq.internal:9092"],
        ["--cluster", "hq", "[FD00:0::1]:9092"],
        ["--cluster", "local", "a:1"],
        ["--cluster", "qh", "a:1"],
        ["--file", "rules", "a:1"],
        ["--file", "brokernat.yaml", "a:1"],
    ],
    ids=" ".join,
)
def test_translate(run: Run, folder: Path, snapshot: SnapshotAssertion, arguments: list[str]) -> None:
    (folder / "rules").write_text("# mine\na:1 = b:1\n")
    assert run("map", "translate", *arguments) == snapshot


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 0),
        (["--rule", "a=b, a:1=c:1"], 5),
        (["--rule", "a=b, b=c"], 0),
        (["--rule", "a=b, b=c", "--fail-on", "warning"], 4),
        (["--rule", "a=b, b=c", "--format", "json"], 0),
        (["--rule", "a:1=b"], 2),
    ],
)
def test_check(run: Run, snapshot: SnapshotAssertion, arguments: list[str], code: int) -> None:
    text = run("map", "check", *arguments)
    assert text.startswith(f"exit {code}\n")
    assert text == snapshot


@pytest.mark.parametrize("command", ["check", "translate"])
@pytest.mark.parametrize("words", [["--rule", ""], ["--rule", RULE, "--rule", " , "], ["--file", "empty"]])
def test_a_map_without_a_rule_is_refused(run: Run, folder: Path, command: str, words: list[str]) -> None:
    (folder / "empty").write_text("# no rule\n")
    said = run("map", command, *words, *(["a:1"] if command == "translate" else []))
    assert said.startswith("exit 2\n--- stdout\n--- stderr\nerror: the rule")
    assert "hint: write `advertised = reachable`" in said


def test_findings_name_the_cluster(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    file = folder / "brokernat.yaml"
    file.write_text(file.read_text() + "    address_map: [a=b, a=b]\n")
    assert run("map", "check") == snapshot
    assert run("map", "translate", "a:1") == snapshot


def test_no_cluster_has_a_map(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "brokernat.yaml").write_text("clusters: {hq: {bootstrap_servers: 'gw:1'}}")
    assert run("map", "check") == snapshot


@pytest.mark.parametrize("arguments", [[], ["--cluster", "hq", "--format", "json"]])
def test_export(run: Run, snapshot: SnapshotAssertion, arguments: list[str]) -> None:
    assert run("map", "export", *arguments) == snapshot


def test_what_was_exported_is_the_same_map(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    assert run("map", "export", "--output", "rules") == snapshot
    assert len(read_rules_file(folder / "rules").rules) == 4
    assert "rules: 4, findings: 0" in run("map", "check", "--file", "rules")


def test_rules_with_their_sides_exchanged_are_found_by_both_checks(run: Run, folder: Path) -> None:
    (folder / "brokernat.yaml").write_text(
        "clusters:\n  hq:\n    bootstrap_servers: 172.10.1.40:9093\n    address_map:\n"
        "      - 172.10.1.40:9093 = 192.168.1.23:9092\n      - 172.10.1.40:9094 = 192.168.1.24:9092\n"
    )
    for command in ("map", "config"):
        said = run(command, "check", "--fail-on", "warning")
        assert said.startswith("exit 4\n")
        assert "may be reversed: its advertised side is the host of the bootstrap server 172.10.1.40:9093" in said
        assert "hint: a rule is written `advertised = reachable`" in said
        assert "`192.168.1.23:9092 = 172.10.1.40:9093`" in said


def test_a_device_that_does_not_exist_is_no_missing_folder(run: Run) -> None:
    printed = run("map", "export", "--output", "/proc/x")
    assert printed.startswith("exit 2\n")
    assert "`/proc/x` cannot be written: it does not exist, and no file can be made there" in printed
