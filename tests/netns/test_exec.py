"""kcat from Debian through nginx, with a login: nothing in its command line but what kcat is to do."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from brokernat.config import Secret
from brokernat.testbed import NetnsWorld
from brokernat.testbed.config_file import config_text

pytestmark = pytest.mark.netns

LINES = [f"audit {number}" for number in range(30)]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(nginx_world: NetnsWorld, tmp_path: Path) -> Run:
    """Runs a command where clients stand."""
    (tmp_path / "brokernat.yaml").write_text(config_text([nginx_world.hq]))

    def run_it(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            nginx_world.client.command(words), cwd=tmp_path, env=dict(os.environ), input=stdin, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip

    return run_it


def test_kcat_writes_and_reads_through_nginx(
    run: Run, nginx_world: NetnsWorld, topic_name: str, tmp_path: Path
) -> None:
    nginx_world.hq.create_topic(topic_name)
    login = tmp_path / "login"
    client = nginx_world.hq.cluster.client
    lines = [f"{name}={value.reveal() if isinstance(value, Secret) else value}" for name, value in client.items()]
    servers = ",".join(map(str, nginx_world.hq.cluster.bootstrap_servers))
    login.write_text("\n".join([f"bootstrap.servers={servers}", *lines, ""]))
    produce = ["-P", "-t", topic_name, "-X", "message.timeout.ms=8000"]

    failed = run("kcat", "-F", str(login), *produce, stdin="lost")
    assert failed.returncode != 0
    assert nginx_world.hq.read(topic_name) == []

    kcat = [sys.executable, "-m", "brokernat", "exec", "--cluster", "hq", "--with-client-properties", "--", "kcat"]
    done = run(*kcat, *produce, stdin="\n".join(LINES))
    assert done.returncode == 0, done.stderr
    assert "it is linked to librdkafka" in done.stderr
    consumed = run(*kcat, "-C", "-t", topic_name, "-e", "-q")
    assert sorted(consumed.stdout.splitlines()) == sorted(LINES), consumed.stderr
    options = nginx_world.hq.plan.options
    assert options.password not in done.stderr + consumed.stderr


def test_kcat_lists_what_the_brokers_advertise(run: Run, nginx_world: NetnsWorld) -> None:
    done = run(
        sys.executable, "-m", "brokernat", "exec", "--cluster", "hq", "--quiet", "--with-client-properties", "--",
        "kcat", "-L", "-m", "30",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for advertised in nginx_world.hq.advertised.values():
        assert str(advertised) in done.stdout, "kcat shows what the brokers advertise, and reaches them all the same"
