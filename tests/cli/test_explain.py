"""`brokernat explain` as a person sees it: codes, pasted lines, whole logs, and what nobody knows."""

import gzip
import io
import json
import os
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.cli.conftest import Run

from brokernat.doctor.checks import catalogue
from brokernat.text import printable

DEAD = (
    "2026-11-21 18:00:0{} WARN NetworkClient: [Producer clientId=producer-1] Connection to node {} "
    "(192.168.1.23/192.168.1.23:9092) could not be established. Broker may not be available.\n"
)
LOG = (
    "2026-11-21 18:00:00 INFO AppInfoParser: Kafka version: 3.0.2\n"
    + DEAD.format(1, 2)
    + DEAD.format(2, 2)
    + DEAD.format(3, 2147483645)
    + "org.apache.kafka.common.errors.TimeoutException: Topic audit not present in metadata after 60000 ms.\n"
)


@pytest.mark.parametrize("words", [["BN302", "BN301"], ["bn302,bn-301"]], ids=" ".join)
def test_codes_are_explained_by_what_the_checks_say(run: Run, words: list[str]) -> None:
    said = " ".join(run("explain", *words).split())
    for code in ("BN302", "BN301"):
        entry = catalogue()[code]
        assert f"{code}: {entry.title} what {entry.what} why {entry.why} do {entry.remedy}" in said


@pytest.mark.parametrize("words", [[""], ["BN302", " "]])
def test_an_empty_argument_names_nothing(run: Run, words: list[str]) -> None:
    assert "error: an argument is empty" in run("explain", *words)


def test_an_unknown_code_among_others(run: Run) -> None:
    said = run("explain", "BN302", "BN300")
    assert said.startswith("exit 2\n--- stdout\n--- stderr\nerror: no check has the code `BN300`")
    assert "hint: did you mean BN301 or BN302 or " in said


def test_a_pasted_line(run: Run, snapshot: SnapshotAssertion) -> None:
    assert run("explain", DEAD.format(1, 2).strip()) == snapshot


def test_a_log(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "app.log").write_text(LOG)
    said = run("explain", "app.log")
    assert said == snapshot
    with gzip.open(folder / "app.log.gz", "wt") as file:
        file.write(LOG)
    assert run("explain", "app.log.gz") == said


def test_standard_input(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "app.log").write_text(LOG)
    from_file = run("explain", "app.log")
    for words in ([], ["-"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG.encode() + b"\xff\xfe\n")))
        assert run("explain", *words).replace("of 6 lines", "of 5 lines") == from_file


def test_json(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "app.log").write_text(LOG)
    said = run("explain", "app.log", "--format", "json")
    assert said == snapshot
    assert json.loads(run("explain", "BN302", "--format", "json").partition("stdout\n")[2].partition("---")[0])


@pytest.mark.parametrize("words", [["all is well"], ["none.log"], ["damaged.gz"], ["--nothing"]], ids=" ".join)
def test_what_cannot_be_explained(run: Run, folder: Path, snapshot: SnapshotAssertion, words: list[str]) -> None:
    (folder / "damaged.gz").write_bytes(b"\x1f\x8bno")
    assert run("explain", *words) == snapshot


def test_nothing_is_recognised_in_a_log_without_faults(run: Run, folder: Path) -> None:
    (folder / "app.log").write_text("INFO all is well\n" * 3)
    said = run("explain", "app.log", "--format", "json")
    assert said.startswith("exit 5\n")
    assert '"recognised": 0' in said


def test_control_characters_of_a_log_do_not_reach_the_terminal(run: Run) -> None:
    said = run("explain", "\x1b[31m" + DEAD.format(1, 2).strip() + "\x1b]0;title\x07")
    assert "\x1b" not in said
    assert "\x07" not in said


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_log_that_powershell_wrote(run: Run, folder: Path, encoding: str) -> None:
    (folder / "plain.log").write_text(LOG)
    (folder / "app.log").write_text(LOG.replace("\n", "\r\n"), encoding=encoding, newline="")
    assert run("explain", "app.log") == run("explain", "plain.log")


@pytest.mark.parametrize("output", ["text", "json"])
def test_nothing_of_a_log_is_obeyed_by_a_terminal(run: Run, folder: Path, output: str) -> None:
    host = "kafka\x9b31m\u202e-1\x1b[2Jx"
    line = f"Connection to node 2 ({host}/<unresolved>:9092) could not be established. Broker may not be available.\n"
    (folder / "app.log").write_text(line + f"KafkaJSConnectionError: Connection error: getaddrinfo X {host}\n")
    said = run("explain", "app.log", "--format", output)
    assert [character for character in said if character != "\n" and printable(character) != character] == []


def test_of_a_long_line_the_part_that_says_it_is_shown(run: Run) -> None:
    said = run("explain", '{"kubernetes":"' + "x" * 3000 + '"} ' + DEAD.format(1, 2).strip() + " " + "y" * 3000)
    shown = next(line for line in said.splitlines() if "could not be established" in line)
    assert len(shown) < 420
    assert "Connection to node 2 (192.168.1.23/192.168.1.23:9092)" in shown


def test_a_line_like_a_known_one_is_not_claimed(run: Run) -> None:
    line = "ERROR [Producer clientId=p] Connection to node 2 could not now be established: Node may not be available"
    said = run("explain", line)
    assert said.startswith("exit 5\n")
    assert "not a known line\n" in said
    assert "What it means is not known." in said
    assert '"like": "java-no-connection"' in run("explain", line, "--format", "json")


def test_one_explanation_is_printed_once(run: Run, folder: Path) -> None:
    # sarama logs one closed connection in three places.
    (folder / "app.log").write_text(
        "[sarama] 2026/11/20 06:25:28 Failed to read SASL handshake header : EOF\n"
        "[sarama] 2026/11/20 06:25:28 Error while sending ApiVersionsRequest to broker k1:9096: EOF\n"
        "[sarama] 2026/11/20 06:25:28 client/metadata got error from broker -1 while fetching metadata: EOF\n"
    )
    assert run("explain", "app.log").count("means") == 1


UNKNOWN_HOST = "kafka: java.net.UnknownHostException: k\n"
LEADER = "NOT_LEADER_OR_FOLLOWER\n"


def test_several_files_lines_and_codes_are_all_explained(run: Run, folder: Path) -> None:
    (folder / "a.log").write_text(UNKNOWN_HOST)
    (folder / "b.log").write_text(LEADER)
    both = run("explain", "a.log", "b.log")
    assert "a name does not resolve" in both
    assert "another broker is the leader" in both
    assert "2 of 2 lines recognised" in both
    assert run("explain", UNKNOWN_HOST.strip(), LEADER.strip()) == both
    said = run("explain", "a.log", "BN302")
    assert said.startswith("exit 0\n--- stdout\nBN302: ")
    assert "a name does not resolve" in said
    told = json.loads(run("explain", "BN302", "b.log", "--format", "json").partition("stdout\n")[2].partition("---")[0])
    assert (told["codes"][0]["code"], told["recognised"]) == ("BN302", 1)


@pytest.mark.parametrize("words", [["a.log", "none.log"], ["BN302", "none.log"], ["none.log", "other.log"]])
def test_a_file_that_is_missing_among_others(run: Run, folder: Path, words: list[str]) -> None:
    (folder / "a.log").write_text(UNKNOWN_HOST)
    said = run("explain", *words)
    assert said.startswith("exit 2\n--- stdout\n--- stderr\nerror: `none.log` is not a file, a code or a log line")


def test_a_line_without_quotes_is_one_line(run: Run) -> None:
    line = DEAD.format(1, 2).strip()
    assert run("explain", *line.split()) == run("explain", line)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("NOT_LEADER_OR_FOLLOWER", "another broker is the leader of the partition"),
        ("org.apache.kafka.common.errors.NotLeaderOrFollowerException", "another broker is the leader"),
        ("TOPIC_AUTHORIZATION_FAILED", "Kafka's answer"),
        ("_TRANSPORT", "a connection to a broker failed or ended"),
    ],
)
def test_the_name_of_an_error_is_a_line(run: Run, name: str, title: str) -> None:
    said = run("explain", name)
    assert said.startswith("exit 0\n")
    assert title in said


def test_a_pipe_by_its_path(run: Run, folder: Path) -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as pipe:
        pipe.write(LEADER)
    try:
        assert "another broker is the leader" in run("explain", f"/dev/fd/{reader}")
    finally:
        os.close(reader)


def test_a_folder_is_no_log(run: Run) -> None:
    assert run("explain", ".") == "exit 2\n--- stdout\n--- stderr\nerror: `.` cannot be read: Is a directory\n"


@pytest.mark.parametrize("words", [[], ["-"]])
def test_a_closed_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    said = run("explain", *words)
    assert said.startswith("exit 2\n--- stdout\n--- stderr\nerror: standard input is closed\n\nhint: give a code")
