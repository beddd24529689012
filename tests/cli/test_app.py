"""Help, usage errors, and every way to end."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat import __version__
from brokernat.cli import app, exit_codes
from brokernat.errors import BrokernatError, Finding, IncompleteError, NothingReachableError, Severity

Run = Callable[..., str]


@pytest.mark.parametrize("line", ["nothing", "--nothing", "map", "map tranlsate", "config schema extra"])
def test_usage_errors(run: Run, snapshot: SnapshotAssertion, line: str) -> None:
    assert run(*line.split()) == snapshot


@pytest.mark.parametrize(
    "line", ["config", "config check", "map", "map check", "map translate", "map export", "agent", "init"]
)
def test_help(run: Run, snapshot: SnapshotAssertion, line: str) -> None:
    assert run(*line.split(), "--help") == snapshot


def test_every_command_is_in_the_help_and_can_be_loaded(run: Run) -> None:
    text = run("--help")
    for name, (_, line) in app.COMMANDS.items():
        assert f"  {name} " in text
        assert app.cli.get_command(click.Context(app.cli), name) is not None, line


def test_version(run: Run) -> None:
    assert run("--version") == f"exit 0\n--- stdout\nbrokernat {__version__}\n--- stderr\n"


def command_that(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    monkeypatch.setattr(app, "cli", click.Command("test", callback=action))


def raising(error: BaseException) -> Callable[[], object]:
    def action() -> None:
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (
            NothingReachableError("no bootstrap server answered", hint="look"),
            3,
            "error: no bootstrap server answered\n\nhint: look\n",
        ),
        (IncompleteError("12 records are missing"), 6, "error: 12 records are missing\n"),
        (KeyboardInterrupt(), 130, "\nstopped\n"),
    ],
)
def test_errors_become_words_and_codes(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BrokernatError, code: int, words: str
) -> None:
    command_that(monkeypatch, raising(error))
    assert run() == f"exit {code}\n--- stdout\n--- stderr\n{words}"


def test_a_bug_shows_places_and_no_values(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    command_that(monkeypatch, raising(RuntimeError("the password is canary")))
    text = run()
    assert text.startswith("exit 1\n")
    assert "RuntimeError" in text
    assert "test_app.py:" in text
    assert "issue tracker" in text


@pytest.mark.parametrize(
    ("severities", "on_error", "on_warning"),
    [
        ([], 0, 0),
        (["info"], 0, 0),
        (["warning"], 0, 4),
        (["info", "warning"], 0, 4),
        (["error"], 5, 5),
        (["info", "error"], 5, 5),
        (["warning", "error"], 5, 5),
        (["error", "warning", "info"], 5, 5),
    ],
)
def test_the_code_of_findings_by_what_fails(severities: list[str], on_error: int, on_warning: int) -> None:
    found = [Finding("", "", severity=Severity(each)) for each in severities]
    assert exit_codes.findings_code(found, "error") == on_error
    assert exit_codes.findings_code(found, "warning") == on_warning


CONTRADICTION = ["--rule", "a:1=b:1", "--rule", "a:1=c:1"]
TWICE = ["--rule", "a:1=b:1", "--rule", "a:1=b:1"]


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize(
    ("rules", "on_error", "on_warning"), [(["--rule", "a=b"], 0, 0), (TWICE, 0, 4), (CONTRADICTION, 5, 5)]
)
def test_a_command_ends_with_that_code(run: Run, rules: list[str], on_error: int, on_warning: int, output: str) -> None:
    for fail_on, code in (("error", on_error), ("warning", on_warning)):
        assert run("map", "check", *rules, "--fail-on", fail_on, "--format", output).startswith(f"exit {code}\n")


def test_the_code_that_a_command_returns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    command_that(monkeypatch, lambda: 4)
    assert run().startswith("exit 4\n")


def brokernat(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "brokernat", *arguments]


def test_help_does_not_import_what_it_does_not_need() -> None:
    code = "import sys; from brokernat.cli.app import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pydantic", "ruamel.yaml", "pyspark", "brokernat.config", "rich"} & set(done.stderr.split())


def test_a_reader_that_goes_away_is_no_bug(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen(brokernat("config", "schema"), stdout=writer, stderr=subprocess.PIPE, text=True) as process:
        os.close(writer)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (128 + signal.SIGPIPE, "")


def test_the_installed_program() -> None:
    program = Path(sys.executable).with_name("brokernat")
    done = subprocess.run(
        [program, "map", "translate", "--rule", "a=b", "a:1"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "b:1\n"
