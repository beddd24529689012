"""`brokernat ship` as a program: what it says, how it ends, what is in the spool then. No broker is needed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat.shipping import Spool, read_status
from brokernat.testbed.place import wait_until

Run = Callable[..., str]
Ship = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def ship(tmp_path: Path) -> Iterator[Ship]:
    """Starts the command against a broker that is not there."""
    (tmp_path / "nowhere.yaml").write_text("clusters:\n  hq:\n    bootstrap_servers: 127.0.0.1:1\n")
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> subprocess.Popen[str]:
        to = ("--config", tmp_path / "nowhere.yaml", "--cluster", "hq", "--topic", "t", "--spool", tmp_path / "spool")
        command = list(map(str, [sys.executable, "-m", "brokernat", "ship", *to, "--patience", 0, *arguments]))
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def messages(directory: Path) -> list[str]:
    spool = Spool(directory)
    try:
        return [json.loads(r)["message"] for block in spool.blocks_after(0, 1 << 40) for r in block.records]
    finally:
        spool.close()


@pytest.mark.parametrize(
    "line",
    [
        "",
        "status",
        "status audit --spool s",
        "--cluster hq --topic t",
        "--cluster hq --topic t --spool s --max-spool 10k",
        "--cluster hq --topic a/b --spool s",
        "--cluster hq --topic t --spool s --once --file brokernat.yaml --file no/*.log --file gone.log",
    ],
)
def test_usage(run: Run, snapshot: SnapshotAssertion, line: str) -> None:
    assert run("ship", *line.split()) == snapshot


def test_once_takes_what_is_there_and_says_what_is_left(ship: Ship, tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("one\ntwo\nand a rest")
    process = ship("--file", tmp_path / "app.log", "--once", "--patience", "1")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 6
    assert f"0 acknowledged, 0 rejected, 3 left in {tmp_path / 'spool'} (" in said
    assert "127.0.0.1:1 failed: Connection refused)" in said
    assert messages(tmp_path / "spool") == ["one", "two", "and a rest"]


SECTION = """
clusters:
  hq: {bootstrap_servers: "127.0.0.1:1"}
shipping:
  audit: {cluster: hq, topic: t, spool: spool, files: [app.log], from_beginning: true}
"""


def test_the_start_names_what_goes_where_and_what_waits(ship: Ship, tmp_path: Path) -> None:
    for held in ("0 records", "1 record"):
        (tmp_path / "app.log").write_text("one\n")
        _, said = ship("--file", tmp_path / "app.log", "--from-beginning", "--once").communicate(timeout=120)
        assert f"shipping {tmp_path / 'app.log'} to topic `t` of cluster `hq` (127.0.0.1:1)\n" in said
        assert f"spool {tmp_path / 'spool'}: {held} held\n" in said


def test_a_spool_with_records_for_another_topic_is_refused_unless_redirected(run: Run, folder: Path) -> None:
    (folder / "brokernat.yaml").write_text("clusters:\n  hq: {bootstrap_servers: '127.0.0.1:1'}\n")
    (folder / "app.log").write_text("one\n")
    options = ("--cluster", "hq", "--spool", "spool", "--once", "--patience", "0")
    run("ship", *options, "--topic", "nosuch", "--file", "app.log", "--from-beginning")
    said = run("ship", *options, "--topic", "audit")
    assert said.startswith("exit 2\n")
    assert "has 1 record for topic `nosuch` of cluster `hq`, but was opened for topic `audit` of cluster `hq`" in said
    assert "--topic nosuch --spool" in said
    assert run("ship", *options, "--topic", "audit", "--redirect").startswith("exit 6\n")
    assert "for           topic `audit` of cluster `hq`" in run("ship", "status", "--spool", "spool")


def test_a_name_is_all_that_the_file_leaves_to_say(run: Run, folder: Path) -> None:
    (folder / "audit.yaml").write_text(SECTION)
    (folder / "app.log").write_text("one\ntwo\n")
    said = run("ship", "audit", "--config", "audit.yaml", "--once", "--patience", "0")
    assert said.startswith("exit 6\n")
    assert messages(folder / "spool") == ["one", "two"]
    for line in ("ship status audit --config audit.yaml", "ship --config audit.yaml status audit"):
        assert "waiting       2" in run(*line.split())
    assert run("ship", "--config", "audit.yaml", "audit", "--once", "--patience", "0").startswith("exit 6\n")
    assert messages(folder / "spool") == ["one", "two"]


@pytest.mark.parametrize("line", ["audits --config audit.yaml", "--topic t audit --config audit.yaml"])
def test_a_name_said_wrong(run: Run, folder: Path, snapshot: SnapshotAssertion, line: str) -> None:
    (folder / "audit.yaml").write_text(SECTION)
    assert run("ship", *line.split()) == snapshot


def test_a_pipe_is_shipped_to_its_end(ship: Ship, tmp_path: Path) -> None:
    process = ship("--stdin")
    process.communicate("\n".join(map(str, range(10_000))), timeout=120)
    assert process.returncode == 6
    assert messages(tmp_path / "spool") == [str(number) for number in range(10_000)]


def test_a_full_spool_lets_the_writer_of_a_pipe_wait(ship: Ship, tmp_path: Path) -> None:
    process = ship("--stdin", "--max-spool", "1M")
    assert process.stdin is not None
    wait_until(partial(_has_accepted, tmp_path, 0), "the shipper", timeout=60)
    os.set_blocking(process.stdin.fileno(), False)
    written, stuck_since = 0, time.monotonic()
    while time.monotonic() - stuck_since < 2:
        try:
            written += os.write(process.stdin.fileno(), b"x" * 999 + b"\n")
            stuck_since = time.monotonic()
        except BlockingIOError:
            time.sleep(0.01)
    (status,) = read_status(tmp_path / "spool")
    assert status.held <= status.limit == 1 << 20
    assert written < 2 << 20


def test_sigterm_ends_a_pipe_with_a_full_spool(ship: Ship) -> None:
    process = ship("--stdin", "--max-spool", "1M", "--patience", "1")
    assert process.stdin is not None
    assert process.stderr is not None
    pipe = process.stdin.fileno()
    os.set_blocking(pipe, False)
    with suppress(BlockingIOError):
        os.write(pipe, b"\n" * 65536)
    while "reading waits" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 6
    assert "records of standard input lost: the spool had no room" in said


def test_a_closed_standard_input_is_refused_before_a_spool_is_made(ship: Ship, tmp_path: Path) -> None:
    options = "--config c.yaml --cluster hq --topic t --spool spool --stdin"
    (tmp_path / "c.yaml").write_text("clusters:\n  hq: {bootstrap_servers: '127.0.0.1:1'}\n")
    for stdin in ("<&-", "0>out"):
        done = subprocess.run(
            ["/bin/sh", "-c", f"exec {sys.executable} -m brokernat ship {options} {stdin}"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert done.stderr.startswith(
            "error: `--stdin`: standard input is not open for reading\n\nhint: write `program |"
        )
    assert not (tmp_path / "spool").exists()


def test_once_fails_if_it_could_not_read_a_file(run: Run, folder: Path) -> None:
    (folder / "audit.yaml").write_text(SECTION)
    (folder / "app.log").symlink_to("app.log")
    said = run("ship", "audit", "--config", "audit.yaml", "--once", "--patience", "0")
    assert said.startswith("exit 6\n")
    assert "app.log cannot be read by user id" in said


def test_a_spool_in_a_watched_folder_does_not_ship_itself(run: Run, folder: Path) -> None:
    (folder / "audit.yaml").write_text(
        SECTION.replace("spool: spool, files: [app.log]", "spool: e, files: [e, 'e*/**']")
    )
    (folder / "e").mkdir(mode=0o755)
    (folder / "e" / "app.log").write_text("one\n")
    for _ in range(2):
        assert run("ship", "audit", "--config", "audit.yaml", "--once", "--patience", "0").startswith("exit 6\n")
    assert messages(folder / "e") == ["one"]


def test_sigterm_stores_what_was_read_and_the_next_start_goes_on(ship: Ship, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("one\n")
    for number, line in enumerate(("two", "three"), 1):
        process = ship("--file", log, "--from-beginning")
        wait_until(partial(_has_accepted, tmp_path, number), "the first lines", timeout=60)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 6
        with log.open("a") as file:
            file.write(line + "\n")
    assert messages(tmp_path / "spool") == ["one", "two"]


def test_a_second_shipper_is_refused_in_words(ship: Ship, tmp_path: Path) -> None:
    first = ship("--stdin")
    wait_until(lambda: _accepted(tmp_path) == 0, "the first shipper", timeout=60)
    second = ship("--stdin")
    _, said = second.communicate(timeout=60)
    assert second.returncode == 2
    assert f"error: the spool {tmp_path / 'spool'} is in use by process {first.pid}" in said
    assert "hint: give each process its own spool" in said


def test_status_while_it_runs_and_afterwards(ship: Ship, run: Run, tmp_path: Path) -> None:
    process = ship("--stdin")
    assert process.stdin is not None
    process.stdin.write("one\n")
    process.stdin.flush()
    wait_until(lambda: _accepted(tmp_path) == 1, "the line", timeout=60)
    for used, words in ((True, "in use"), (False, "not in use")):
        said = json.loads(
            run("ship", "status", "--spool", str(tmp_path / "spool"), "--format", "json").split("\n---")[1][7:]
        )
        (one,) = said["spools"]
        assert (one["accepted"], one["pending"], one["acknowledged"], one["in_use"]) == (1, 1, 0, used)
        text = run("ship", "status", "--spool", str(tmp_path / "spool"))
        assert f"source {one['source']}, {words}" in text
        assert "waiting       1" in text
        process.kill()
        process.wait()


def test_a_spool_that_cannot_be_made_is_no_bug_of_ours(run: Run, folder: Path) -> None:
    (folder / "audit.yaml").write_text(SECTION)
    (folder / "spool").write_text("a file where the folder should be")
    said = run("ship", "audit", "--config", "audit.yaml")
    assert said.startswith("exit 2\n")
    assert "spool` cannot be written: Not a directory" in said
    assert "hint: name another with `--spool`" in said


def test_a_folder_without_a_spool_is_said(run: Run, tmp_path: Path) -> None:
    assert "there is no spool" in run("ship", "status", "--spool", str(tmp_path))


def _has_accepted(folder: Path, count: int) -> bool:
    return _accepted(folder) == count


def _accepted(folder: Path) -> int | None:
    try:
        return read_status(folder / "spool")[0].accepted
    except Exception:  # noqa: BLE001 - it is being made
        return None
