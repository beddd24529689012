"""The child is the process: terminal, signals, exit codes, stdin and stdout are its own."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.exec.conftest import Exec

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("nothing_ignored")]

YAML = """\
clusters:
  hq:
    bootstrap_servers: 172.10.1.40:9093
    address_map: ["192.168.1.23:9092 = 172.10.1.40:9093"]
"""


@pytest.fixture
def run(tmp_path: Path) -> Exec:
    (tmp_path / "brokernat.yaml").write_text(YAML)
    return Exec(tmp_path, dict(os.environ))


@pytest.mark.parametrize("code", [0, 1, 2, 125, 200])
def test_exit_codes_are_the_childs(run: Exec, code: int) -> None:
    assert run.run(["sh", "-c", f"exit {code}"]).returncode == code


def test_our_own_failures(run: Exec, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    assert run.run(["no-such-program"]).returncode == 127
    assert run.run([str(tmp_path / "data")]).returncode == 126
    assert run.run(["sh"], "--no-such-option").returncode == 125
    assert run.run(["sh"], cluster="nothing").returncode == 125
    assert run.bare([sys.executable, "-m", "brokernat", "exec", "--cluster", "hq"]).returncode == 125


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP])
def test_a_signal_ends_the_child_and_nothing_is_left(run: Exec, number: signal.Signals) -> None:
    process = subprocess.Popen(
        run.words(["sh", "-c", "echo $$; exec sleep 600"]), cwd=run.folder, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process, process.stdout:
        assert int(process.stdout.readline()) == process.pid, "the child has taken our place"
        process.send_signal(number)
        assert process.wait(60) == -number
    # What a shell makes of it.
    done = run.run(["sh", "-c", f"kill -{number.value} $$"])
    assert done.returncode == -number


def test_a_program_that_catches_sigterm_finishes_in_its_own_way(run: Exec) -> None:
    script = "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.1; done"
    process = subprocess.Popen(run.words(["sh", "-c", script]), cwd=run.folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout:
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        assert process.wait(60) == 7
        assert process.stdout.read() == "bye\n"


def test_stdin_and_stdout_are_untouched(run: Exec) -> None:
    done = run.run(["cat"], stdin="a\n\tb")
    assert done.stdout == "a\n\tb"


def test_a_reader_that_goes_away_ends_the_child(run: Exec) -> None:
    line = " ".join(run.words(["yes"])) + " | head -n 1"
    done = run.bare(["sh", "-c", line])
    assert done.stdout == "y\n"
    assert "Broken pipe" not in done.stderr


def test_a_terminal_is_the_childs(run: Exec) -> None:
    controller, terminal = pty.openpty()
    try:
        words = run.words(["sh", "-c", "test -t 0 && test -t 1 && exit 3"])
        process = subprocess.Popen(words, cwd=run.folder, stdin=terminal, stdout=terminal, stderr=subprocess.DEVNULL)
        assert process.wait(60) == 3
    finally:
        os.close(controller)
        os.close(terminal)


def test_an_exec_in_an_exec_replaces(run: Exec, tmp_path: Path) -> None:
    (tmp_path / "brokernat.yaml").write_text(YAML + YAML.partition("\n")[2].replace("hq", "other").replace("23", "99"))
    show = 'echo "$JAVA_TOOL_OPTIONS|$BROKERNAT_MAP|$PYTHONPATH"'
    once = run.run(["sh", "-c", show], cluster="other").stdout
    inner = run.words(["sh", "-c", show], cluster="other")
    assert run.run(inner).stdout == once
    assert "192.168.1.99" in once
    assert "192.168.1.23" not in once


def test_a_script_without_a_first_line_is_the_shells(run: Exec, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("echo $1; exit 4\n")
    script.chmod(0o755)
    done = run.run([str(script), "word"])
    assert (done.stdout, done.returncode) == ("word\n", 4)
