"""Kafka's console tools and Debian's kcat through nginx, with a login, also over TLS: nothing in their command lines
but what they are to do."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.exec.conftest import KAFKA_BIN, distribution
from tests.integration.librdkafka.conftest import client_cluster
from tests.netns.spark.pipeline_file import cluster_section, write_file

from brokernat.config import Secret
from brokernat.testbed import NetnsWorld
from brokernat.testbed.running_cluster import config_text

pytestmark = pytest.mark.netns

LINES = [f"audit {number}" for number in range(30)]

EXEC = [sys.executable, "-m", "brokernat", "exec", "--cluster", "hq", "--with-client-properties", "--"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(nginx_world: NetnsWorld, tmp_path: Path) -> Run:
    """Runs a command where clients stand."""
    (tmp_path / "brokernat.yaml").write_text(config_text([nginx_world.hq]))

    return runner(nginx_world, tmp_path)


def runner(world: NetnsWorld, folder: Path) -> Run:
    """Runs commands in a folder, where the clients of the world stand."""

    def run_it(*words: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            world.client.command(words), cwd=folder, env={**os.environ, **environ}, input=stdin, capture_output=True,
            text=True, timeout=240, check=False,
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
    produce = ["-P", "-t", topic_name]

    failed = run("kcat", "-F", str(login), *produce, "-X", "message.timeout.ms=8000", stdin="lost")
    assert failed.returncode != 0
    assert nginx_world.hq.read(topic_name) == []

    kcat = [*EXEC, "kcat"]
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


def test_kafkas_console_tools_write_read_and_look_at_the_group(
    run: Run, nginx_world: NetnsWorld, topic_name: str
) -> None:
    environ = distribution()

    def tool(name: str, *words: str, stdin: str = "") -> str:
        done = run(*EXEC, str(KAFKA_BIN / f"kafka-{name}.sh"), *words, stdin=stdin, **environ)
        assert done.returncode == 0, done.stderr[-4000:]
        assert nginx_world.hq.plan.options.password not in done.stdout + done.stderr
        return done.stdout

    tool("topics", "--create", "--topic", topic_name, "--partitions", "6", "--replication-factor", "3")
    # With keys, so that each partition has records: of one without, the group may have read and committed nothing.
    keys = ("--reader-property", "parse.key=true", "--reader-property", "key.separator=:")
    tool("console-producer", "--topic", topic_name, *keys, stdin="\n".join(f"{line}:{line}" for line in LINES))
    group = ("--group", topic_name)
    read = tool(
        "console-consumer", "--topic", topic_name, *group, "--from-beginning", "--max-messages", str(len(LINES)),
        "--timeout-ms", "120000",
    )  # fmt: skip
    # Newer releases print what they think of the older name of an option to stdout as well.
    assert sorted(line for line in read.splitlines() if line.startswith("audit ")) == sorted(LINES)
    lines = tool("consumer-groups", "--describe", *group).splitlines()
    described = [line.split() for line in lines if topic_name in line]
    assert len(described) == 6
    # GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG: every partition's leader was asked.
    assert sum(int(line[3]) for line in described) == sum(int(line[4]) for line in described) == len(LINES)


def test_kcat_over_tls_verifies_the_brokers_own_names(tls_world: NetnsWorld, topic_name: str, tmp_path: Path) -> None:
    hq, run = tls_world.hq, runner(tls_world, tmp_path)
    hq.create_topic(topic_name, partitions=2)
    write_file(tmp_path, {"hq": cluster_section(client_cluster(hq))}, {})
    sent = run(*EXEC, "kcat", "-P", "-t", topic_name, stdin="\n".join(LINES))
    assert sent.returncode == 0, sent.stderr
    assert sorted((record.value or b"").decode() for record in hq.read(topic_name)) == sorted(LINES)
    read = run(*EXEC, "kcat", "-C", "-t", topic_name, "-e", "-q")
    assert sorted(read.stdout.splitlines()) == sorted(LINES), read.stderr

    # The control: the gateway's address is in no certificate.
    write_file(tmp_path, {"hq": cluster_section(client_cluster(hq, by_name=False))}, {})
    refused = run(*EXEC, "kcat", "-L", "-m", "5")
    assert refused.returncode != 0
    assert "certificate verify failed" in refused.stderr
