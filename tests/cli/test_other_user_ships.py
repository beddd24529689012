"""What a user without permissions meets: shipping and bundles, in a process of another uid that has no home."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brokernat.bundle import manifest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

NOBODY = 65534
# Python itself may be in root's home, so everything is imported before the user changes.
ENTRY = """
import encodings.idna, importlib, os, pkgutil, sys
import confluent_kafka, brokernat
for name in ("bundle", "cli", "clients.confluent", "clients.librdkafka", "config", "shipping"):
    package = importlib.import_module(f"brokernat.{name}")
    for module in pkgutil.iter_modules(getattr(package, "__path__", ())):
        if module.name != "__main__":
            importlib.import_module(f"brokernat.{name}.{module.name}")
brokernat.config.load("brokernat.yaml")
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
exec(sys.argv.pop(1))
"""
CLI = "from brokernat.cli.app import main; sys.exit(main())"
Foreign = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody may enter and only root may write; pytest's own are for root alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "brokernat.yaml").write_text("clusters:\n  hq: {bootstrap_servers: '127.0.0.1:1'}\n")
        (folder / "secret").mkdir(mode=0o700)
        (folder / "own").mkdir()
        os.chown(folder / "own", NOBODY, NOBODY)
        yield folder


@pytest.fixture
def foreign(place: Path) -> Foreign:
    def run(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", ENTRY, program, *map(str, arguments)]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("HOME", "XDG_"))}
        return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)

    return run


def ship(spool: Path, *more: object) -> tuple[object, ...]:
    to = ("--cluster", "hq", "--topic", "t", "--spool", spool, "--once", "--patience", 0)
    return ("ship", *to, *more)


@pytest.mark.parametrize("spool", ["spool", "secret/spool", "secret"])
def test_a_spool_in_a_folder_of_another_user(place: Path, foreign: Foreign, spool: str) -> None:
    done = foreign(CLI, *ship(place / spool))
    assert done.returncode == 2, done.stderr
    assert str(place / spool) in done.stderr
    assert "Permission denied" in done.stderr
    assert f"uid {NOBODY}" in done.stderr
    assert "`--spool`" in done.stderr
    assert "internal error" not in done.stderr


@pytest.mark.parametrize("audit", [False, True])
def test_a_handler_s_spool_in_a_folder_of_another_user(place: Path, foreign: Foreign, audit: bool) -> None:
    program = (
        "from brokernat.shipping import KafkaHandler; from brokernat.errors import ConfigError\n"
        "try: KafkaHandler('hq', 't', sys.argv[1], audit=sys.argv[2] == 'True')\n"
        "except ConfigError as error: print(error)"
    )
    done = foreign(program, place / "spool", audit)
    assert done.returncode == 0, done.stderr
    assert f"the spool `{place / 'spool'}` cannot be written: Permission denied" in done.stdout
    assert "`spool=`" in done.stdout


def test_the_status_of_another_user_s_spool(place: Path, foreign: Foreign) -> None:
    for spool in ("secret", "secret/spool"):
        done = foreign(CLI, "ship", "status", "--spool", place / spool)
        assert done.returncode == 2, done.stderr
        assert f"the spool `{place / spool}` cannot be read: Permission denied" in done.stderr


@pytest.mark.parametrize("pattern", ["secret", "secret/app.log", "secret.log"])
def test_files_that_may_not_be_read_are_reported_and_waited_for(place: Path, foreign: Foreign, pattern: str) -> None:
    (place / "secret" / "app.log").write_text("hidden\n")
    (place / "secret.log").write_text("hidden\n")
    (place / "secret.log").chmod(0o600)
    (place / "open.log").write_text("one\n")
    files = ("--file", place / pattern, "--file", place / "open.log", "--from-beginning")
    done = foreign(CLI, *ship(place / "own" / "spool", *files))
    assert done.returncode == 6, done.stderr
    reason = f"{place / pattern} cannot be read by user id {NOBODY}: Permission denied"
    assert done.stderr.count(reason) == 1
    assert "0 acknowledged, 0 rejected, 1 left" in done.stderr


def test_a_folder_that_may_not_be_read_for_a_while_costs_no_position(place: Path, foreign: Foreign) -> None:
    logs = place / "own" / "logs"
    logs.mkdir()
    (logs / "app.log").write_text("one\n")
    line = ship(place / "own" / "spool", "--file", logs, "--from-beginning")
    for mode, left in ((0o755, 1), (0o700, 1), (0o755, 2)):
        logs.chmod(mode)
        done = foreign(CLI, *line)
        assert f"{left} left" in done.stderr
        with (logs / "app.log").open("a") as file:
            file.write("two\n" if mode == 0o700 else "")


@pytest.mark.parametrize("action", [[], ["--verify"], ["--install"]], ids=["make", "verify", "install"])
def test_a_bundle_where_this_user_may_not(place: Path, foreign: Foreign, action: list[str]) -> None:
    for name in ("secret/bundle", "bundle"):
        if action and name == "bundle":
            (place / name).mkdir(mode=0o700)
            manifest.write(place / name)
        done = foreign(CLI, "bundle", place / name, *action)
        assert done.returncode == 2, done.stderr
        assert str(place / name) in done.stderr
        assert "Permission denied" in done.stderr
        assert "internal error" not in done.stderr
