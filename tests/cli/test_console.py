"""Streams as they may be: of another encoding, full, closed. The work is done, and nothing breaks."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from brokernat.cli import console

ODD = {"name": "bröker\udcff \x9b1m\u202e \U0001f600 例え \ufffd"}
FULL = Path("/dev/full")


def written(monkeypatch: pytest.MonkeyPatch, encoding: str, value: object) -> str:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    (console.data if isinstance(value, str) else console.json_data)(value)  # type: ignore[arg-type]
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "utf-16-le"])
def test_json_is_whole_in_every_encoding_and_holds_nothing_that_a_terminal_obeys(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    text = written(monkeypatch, encoding, ODD)
    assert json.loads(text) == ODD
    assert all(each.isprintable() or each == "\n" for each in text)
    assert ("例え" in text) == encoding.startswith("utf")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_text_that_the_encoding_lacks_is_escaped(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    assert "\\udcff" in written(monkeypatch, encoding, ODD["name"])


def brokernat(*arguments: str, shell: str) -> tuple[int, str, str]:
    """The command with streams as a shell opens them."""
    command = ["sh", "-c", f'exec "$@" {shell}', "sh", sys.executable, "-m", "brokernat", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_a_full_disk_behind_stdout_is_said_once() -> None:
    assert brokernat("config", "schema", shell=f">{FULL}") == (
        2,
        "",
        "error: stdout cannot be written: No space left on device\n",
    )


@pytest.mark.parametrize("words", ["--help", "--version", "map check --help", "ship audit --help"])
def test_a_full_disk_behind_the_help(words: str) -> None:
    code, _, error = brokernat(*words.split(), shell=f">{FULL}")
    assert (code, error) == (2, "error: stdout cannot be written: No space left on device\n")


def test_a_closed_stdout_is_an_error() -> None:
    code, _, error = brokernat("map", "translate", "--rule", "a=b", "a:1", shell=">&-")
    assert (code, error) == (2, "error: stdout cannot be written: it is closed\n")


@pytest.mark.parametrize("shell", ["2>&-", f"2>{FULL}", "<&- 2>&-"])
def test_nobody_has_to_read_what_is_said_beside(shell: str) -> None:
    assert brokernat("map", "translate", "--rule", "a=b", "a:1", shell=shell) == (0, "b:1\n", "")
    assert brokernat("map", "translate", "--rule", "a=b", "x:1", shell=shell)[::2] == (5, "")


def test_without_stdin_nobody_can_be_asked() -> None:
    code, _, said = brokernat("discover", "--bootstrap-server", "127.0.0.1:1", "--output", __file__, shell="<&-")
    assert code == 2
    assert "no terminal to confirm the change at" in said
