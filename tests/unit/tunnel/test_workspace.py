"""What ends with a workspace, whatever it does against it."""

import os
import signal
import sys
from pathlib import Path

import pytest

from brokernat.testbed.place import wait_until
from brokernat.tunnel import forwarder as module
from brokernat.tunnel.forwarder import Workspace


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return Workspace()


def test_the_guard_outlives_the_signals_that_a_service_manager_sends_to_all(workspace: Workspace) -> None:
    guard = Path(f"/proc/{workspace._guard.pid}/status")
    stops = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def ignores_all() -> bool:
        (ignored,) = (line.split()[1] for line in guard.read_text().splitlines() if line.startswith("SigIgn:"))
        return all(int(ignored, 16) >> (number - 1) & 1 for number in stops)

    wait_until(ignores_all, "the guard has begun", timeout=60)
    for number in stops:
        os.kill(workspace._guard.pid, number)
    assert workspace.folder.is_dir()
    workspace.close()
    assert not workspace.folder.exists()


def test_a_program_that_does_not_end_is_killed(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_ENDS_WITHIN", 0.1)
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); signal.pause()"
    process = workspace.start([sys.executable, "-c", code], tmp_path / "log")
    wait_until(lambda: (tmp_path / "log").read_text() == "deaf\n", "the program is deaf", timeout=60)
    workspace.end(process)
    assert process.wait(60) == -signal.SIGKILL
    workspace.close()
