"""Situation 1 for logs: a service and `brokernat ship` stand where only nginx can be reached, the brokers want a login.

nginx is stopped in the middle: what was taken then waits in the spool, and the sequences prove that all of it arrives.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.librdkafka.conftest import client_cluster
from tests.integration.shipping.reading_back import arrived
from tests.netns.spark.pipeline_file import cluster_section, write_file

from brokernat.errors import ConfigError
from brokernat.shipping import SpoolDamagedError, read_status
from brokernat.testbed import NetnsWorld
from brokernat.testbed.place import wait_until

pytestmark = pytest.mark.netns

TIMEOUT = 240
COUNT = 20_000
SERVICE = """
import logging, sys
from brokernat.shipping import KafkaHandler
config, topic, spool = sys.argv[1:]
handler = KafkaHandler("hq", topic, spool, audit=True, config=config, close_timeout=0)
log = logging.getLogger("audit")
log.propagate = False
log.setLevel(logging.INFO)
log.addHandler(handler)
for line in sys.stdin:
    log.info("%s", line.rstrip())
    print(handler.flush(120), handler.status().pending, flush=True)
"""


def test_lines_of_a_file_while_nginx_is_away(nginx_world: NetnsWorld, topic_name: str, tmp_path: Path) -> None:
    hq, spool, log = nginx_world.hq, tmp_path / "spool", tmp_path / "app.log"
    hq.create_topic(topic_name, partitions=3)
    config = write_file(tmp_path, {"hq": cluster_section(hq.cluster)}, {})
    log.touch()
    to = ("--config", str(config), "--cluster", "hq", "--topic", topic_name, "--spool", str(spool))
    words = [
        sys.executable,
        "-m",
        "brokernat",
        "ship",
        *to,
        "--file",
        str(log),
        "--from-beginning",
        "--patience",
        "120",
    ]
    said = tmp_path / "said"
    with said.open("wb") as output:
        process = subprocess.Popen(nginx_world.client.command(words), stderr=output)
    try:
        write(log, 0)
        wait_until(lambda: shipped(spool) == COUNT, "the first lines", timeout=TIMEOUT)
        nginx_world.gateway.stop()
        write(log, COUNT)
        wait_until(lambda: read_status(spool)[0].accepted == 2 * COUNT, "the lines in the spool", timeout=TIMEOUT)
        assert shipped(spool) == COUNT
    finally:
        nginx_world.gateway.start()
        process.terminate()
        process.wait(TIMEOUT)
    assert process.returncode == 143, said.read_text()
    found = arrived(hq, topic_name)
    assert found.gaps() == {}
    assert found.messages == {f"line {number}": 1 for number in range(2 * COUNT)}


def write(log: Path, first: int) -> None:
    with log.open("a") as file:
        file.writelines(f"line {number}\n" for number in range(first, first + COUNT))


def shipped(spool: Path) -> int:
    try:
        return read_status(spool)[0].acknowledged
    except (ConfigError, SpoolDamagedError):
        # Nobody has made it yet.
        return 0


def test_a_service_over_tls_with_the_brokers_own_names(tls_world: NetnsWorld, topic_name: str, tmp_path: Path) -> None:
    """Every audit call returns before the next line is given, so that what it promised is known."""
    hq = tls_world.hq
    hq.create_topic(topic_name, partitions=2)
    config = write_file(tmp_path, {"hq": cluster_section(client_cluster(hq))}, {})
    lines = [f"audit {number}" for number in range(20)]
    words = [sys.executable, "-c", SERVICE, str(config), topic_name, str(tmp_path / "spool")]
    done = subprocess.run(
        tls_world.client.command(words), input="\n".join(lines), capture_output=True, text=True, timeout=TIMEOUT,
        check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["True 0"] * len(lines), done.stderr
    found = arrived(hq, topic_name)
    assert (found.gaps(), found.duplicates) == ({}, 0)
    assert found.messages == dict.fromkeys(lines, 1)
