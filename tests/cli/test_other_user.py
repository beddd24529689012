"""Every command as a user who may neither read nor write what it is given, and who has no home, as in a container.

Root runs the commands as uid 65534. Where Python itself stands in a folder that is closed to others, a mount namespace
shows that user a copy of the way to it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

OTHER = 65534
SOURCES = Path(__file__).resolve().parents[2] / "src"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")

_AS_OTHER = """
set -e
if [ -n "$CLOSED" ]; then
  mount --bind "$BASE" "$KEEP"
  mount -t tmpfs -o mode=755 tmpfs "$CLOSED"
  mkdir -p "$BASE"
  mount --bind "$KEEP" "$BASE"
fi
[ -n "$HOME_OF_OTHER" ] && export HOME="$HOME_OF_OTHER" || unset HOME
exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
"""
FILE = """
clusters:
  hq:
    bootstrap_servers: 127.0.0.1:1
    address_map:
      - 192.168.1.23:9092 = 127.0.0.1:1
pipelines:
  tags:
    source: {cluster: hq, topics: [orders]}
    decode: {format: json, schema: "order_id STRING"}
    sink: {cluster: hq, topic: tags, dead_letters: dead}
    checkpoint: checkpoint
"""
LOGIN = """\
  login:
    bootstrap_servers: 127.0.0.1:1
    client: {sasl.mechanism: PLAIN, sasl.username: me, sasl.password: "${file:password}"}
"""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """`open/` may be read, `closed/` holds files that may not; neither may be written."""
    with tempfile.TemporaryDirectory(prefix="brokernat-test-", dir="/tmp") as name:
        place = Path(name)
        for each in (place, place / "open", place / "closed", place / "home", place / "keep"):
            each.mkdir(exist_ok=True)
            each.chmod(0o755)
        for closed in (place / "open", place / "closed"):
            (closed / "brokernat.yaml").write_text(FILE)
            (closed / "login.yaml").write_text(f"clusters:\n{LOGIN}")
            (closed / "rules").write_text("192.168.1.23:9092 = 127.0.0.1:1\n")
            (closed / "password").write_text("canary\n")
            (closed / "broker.yml").write_text("services: {}\n")
            for file in closed.iterdir():
                file.chmod(0o644 if closed.name == "open" and file.name != "password" else 0o600)
        (place / "shut").mkdir(mode=0o700)
        (place / "shut" / "log").write_text("x\n")
        yield place


def as_other(folder: Path, home: str | None, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in `folder` as a user of no rights there; `home` is what HOME says, None for nothing."""
    base = Path(sys.base_prefix)
    closed = next((str(each) for each in reversed(base.parents) if not each.stat().st_mode & 0o001), "")
    keep = folder.parent / "keep"
    words = ("unshare", "--mount", "sh", "-c", _AS_OTHER, "sh", sys.executable, *command)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "BROKERNAT_", "PYTHON"))}
    own = {"CLOSED": closed, "BASE": str(base), "KEEP": str(keep), "HOME_OF_OTHER": home or ""}
    python = {"PYTHONPATH": str(SOURCES), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        words, cwd=folder, env={**kept, **own, **python, **variables},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


CLOSED = {
    "config check": "brokernat.yaml",
    "map check --cluster hq": "brokernat.yaml",
    "map check --file rules": "rules",
    "map export --cluster hq": "brokernat.yaml",
    "doctor --cluster hq": "brokernat.yaml",
    "doctor --from rules": "rules",
    "doctor --server-properties broker.yml": "broker.yml",
    "doctor --bootstrap-server 127.0.0.1:1 --map file:rules": "rules",
    "discover --cluster hq": "brokernat.yaml",
    "explain ./rules": "rules",
    "render nginx --cluster hq": "brokernat.yaml",
    "ship --cluster hq --topic audit --spool spool": "brokernat.yaml",
    "pipeline check tags": "brokernat.yaml",
    "pipeline run tags": "brokernat.yaml",
    "pipeline reconcile tags": "brokernat.yaml",
}
UNWRITABLE = {
    "init --config new.yaml": "new.yaml",
    "map export --cluster hq --output out": "out",
    "render nginx --cluster hq --output out": "out",
    "doctor --bootstrap-server 127.0.0.1:1 --html page.html": "page.html",
    "doctor --bootstrap-server 127.0.0.1:1 --save evidence.json": "evidence.json",
    "discover --bootstrap-server 127.0.0.1:1 --output out": "out",
    "agent --copy-to jars": "jars",
    "plugin --copy-to libraries": "libraries",
    "bundle new": "new",
    "bundle --verify ../shut": "shut",
    "ship status --spool ../shut": "shut",
    "doctor --config login.yaml": "password",
    "pipeline check tags": "checkpoint",
    "pipeline run tags": "checkpoint",
    "explain ../shut/log": "shut/log",
}


def judge(done: subprocess.CompletedProcess[str], path: str) -> None:
    said = done.stdout + done.stderr
    assert done.returncode == 2, said
    assert "internal error" not in said
    assert "Traceback" not in said
    assert path in said
    assert "Permission denied" in said or "not writable" in said or "may not" in said, said


@pytest.mark.parametrize("command", CLOSED)
def test_what_may_not_be_read_is_named(folder: Path, command: str) -> None:
    done = as_other(folder / "closed", None, "-m", "brokernat.cli.app", *command.split())
    judge(done, CLOSED[command])
    assert f"uid {OTHER}" in done.stderr


@pytest.mark.parametrize("command", UNWRITABLE)
def test_what_may_not_be_written_is_named(folder: Path, command: str) -> None:
    judge(as_other(folder / "open", "/nonexistent", "-m", "brokernat.cli.app", *command.split()), UNWRITABLE[command])


@pytest.mark.parametrize("home", [None, "/nonexistent", "read-only"])
def test_no_command_needs_a_home(folder: Path, home: str | None) -> None:
    home = str(folder / "home") if home == "read-only" else home
    for command in ("config check --skip-secrets", "map check --file rules", "agent", "plugin", "explain BN104"):
        done = as_other(folder / "open", home, "-m", "brokernat.cli.app", *command.split())
        assert done.returncode == 0, done.stderr


def test_the_folder_of_logs_is_elsewhere_without_a_home(folder: Path) -> None:
    code = (
        "from brokernat.pipelines.state import locked, user_folder\n"
        "with locked(user_folder('tags')): print(user_folder('tags'))"
    )
    (folder / "tmp").mkdir()
    (folder / "tmp").chmod(0o777)
    done = as_other(folder / "open", None, "-c", code, TMPDIR=str(folder / "tmp"))
    assert done.stdout == f"{folder}/tmp/brokernat-state-{OTHER}/tags\n", done.stderr


PYTHON = {
    "a pipeline's folder": (
        "from pathlib import Path; from brokernat.pipelines.state import locked\n"
        "with locked(Path('/proc/brokernat')): pass",
        "/proc/brokernat",
    ),
    "a handler's spool": (
        "from brokernat.config import load; from brokernat.shipping import KafkaHandler\n"
        "KafkaHandler(load(resolve_secrets=False).cluster('hq'), 'audit', 'spool')",
        "spool",
    ),
    "a session's jars": (
        "from pyspark.sql import SparkSession; from brokernat.config import load\n"
        "from brokernat.clients.spark import configure\n"
        "configure(SparkSession.builder, [load(resolve_secrets=False).cluster('hq')])",
        "XDG_CACHE_HOME",
    ),
}


@pytest.mark.parametrize("what", PYTHON)
def test_a_program_gets_one_error_with_the_path(folder: Path, what: str) -> None:
    code, path = PYTHON[what]
    done = as_other(folder / "open", None, "-c", code, XDG_CACHE_HOME=str(folder / "open"))
    last = done.stderr.rpartition("Traceback")[2]
    assert "brokernat.errors.ConfigError: " in last or "Error: the spool" in last, done.stderr
    assert path in last.rpartition("Error: ")[2]
    assert "hint: " in last
