"""`brokernat doctor --server-properties` as a person sees it."""

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.cli.conftest import Run
from tests.unit.doctor.broker_files.conftest import BOB_AND_FRED, KRAFT, SITUATION_1
from tests.unit.doctor.conftest import WITHOUT_MAP

from brokernat.doctor.evidence import to_json


def before_skipped(said: str) -> str:
    """Which checks there are beside those of files is not what these tests are about."""
    return said.partition("\nskipped\n")[0]


def test_situation_1(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "server.properties").write_text(SITUATION_1)
    assert before_skipped(run("doctor", "--server-properties", "server.properties")) == snapshot


def test_the_port_decides_what_one_is_told(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "server.properties").write_text(BOB_AND_FRED)
    said = run("doctor", "--server-properties", "server.properties", "--fail-on", "warning")
    assert before_skipped(said) == snapshot


def test_for_programs(run: Run, folder: Path) -> None:
    (folder / "server.properties").write_text(KRAFT)
    said = run("doctor", "--server-properties", "server.properties", "--format", "json")
    report = json.loads(said.partition("--- stdout\n")[2].partition("--- stderr")[0])
    assert report["listeners_in_files"] == [
        {
            "listener": "PLAINTEXT",
            "protocol": "PLAINTEXT",
            "inter_broker": True,
            "comes_in_on": [{"broker": "server.properties", "node_id": 1, "host": "", "port": 9092, "published": None}],
            "is_told": [
                {
                    "broker": "server.properties",
                    "node_id": 1,
                    "host": "kafka-1.example",
                    "port": 9092,
                    "where": "anywhere",
                }
            ],
        }
    ]


def test_files_beside_what_was_seen(run: Run, folder: Path) -> None:
    (folder / "seen.json").write_text(to_json(WITHOUT_MAP))
    (folder / "server.properties").write_text(KRAFT)
    said = run("doctor", "--from", "seen.json", "--server-properties", "server.properties")
    assert "BN302" in said
    assert "returns 192.168.1.23:9092, which the file does" in said
    assert "no file was given for node 2, node 3" in said


def test_saved_with_the_evidence(run: Run, folder: Path) -> None:
    (folder / "server.properties").write_text(SITUATION_1)
    first = run("doctor", "--server-properties", "server.properties", "--save", "seen.json")
    assert "canary" not in (folder / "seen.json").read_text()
    assert run("doctor", "--from", "seen.json").partition("--- stderr")[0] == first.partition("--- stderr")[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--server-properties", "absent.properties"],
        ["--server-properties", "password", "--server-properties", "brokernat.yaml"],
        ["--server-properties", "s", "--map", "a=b"],
    ],
    ids=" ".join,
)
def test_said_wrong(run: Run, folder: Path, snapshot: SnapshotAssertion, arguments: list[str]) -> None:
    (folder / "s").write_text(KRAFT)
    assert run("doctor", *arguments) == snapshot
