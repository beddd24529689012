"""Situation 1 for librdkafka: the client can reach nginx and nothing else, the brokers want SASL_PLAINTEXT.

confluent-kafka in its newest and oldest release, and Debian's kcat, which gets the map by two
properties.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.integration.librdkafka.conftest import Program, order
from tests.integration.librdkafka.program import RECORDS
from tests.integration.librdkafka.releases import NEWEST_IN_THE_GATE

from brokernat.clients import librdkafka
from brokernat.testbed import NetnsWorld

pytestmark = pytest.mark.netns

_TIMEOUT = 120
# kcat's -m, which ends init_transactions() too: its 5 seconds can be short for a cluster's first transaction.
_METADATA_TIMEOUT = "60"


@NEWEST_IN_THE_GATE
def test_every_kind_of_client_of_confluent_kafka(release: str, nginx_world: NetnsWorld, topic_name: str) -> None:
    hq = nginx_world.hq
    answer, log = Program.start(release, "exercise", [order(hq, topic_name)], nginx_world.client).end()
    assert answer["admin"] == [list(hq.nodes)]
    assert answer["producer"] == answer["transactional"] == [[]]
    assert answer["group"] == [{"plain hq": RECORDS * 6, "committed hq": RECORDS * 6}]
    for node, advertised in hq.advertised.items():
        assert f"translated {advertised} -> {hq.reachable[node]} " in log


class Kcat:
    """kcat where the client stands, the login in a file as one keeps it."""

    def __init__(self, world: NetnsWorld, folder: Path) -> None:
        self._world = world
        self.properties = librdkafka.properties(world.hq.cluster)
        self._file = folder / "kcat.conf"
        self._file.touch(mode=0o600)
        login = {name: value for name, value in self.properties.items() if "brokernat" not in f"{name}{value}"}
        self._file.write_text("".join(f"{name}={value}\n" for name, value in login.items()))

    def run(self, *words: str, stdin: str = "", mapped: bool = True) -> subprocess.CompletedProcess[str]:
        plugin = ["plugin.library.paths", "brokernat.map"] if mapped else []
        options = [word for name in plugin for word in ("-X", f"{name}={self.properties[name]}")]
        command = self._world.client.command(["kcat", "-F", str(self._file), "-m", _METADATA_TIMEOUT, *options, *words])
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=_TIMEOUT, check=False)


@pytest.fixture
def kcat(nginx_world: NetnsWorld, tmp_path: Path) -> Kcat:
    return Kcat(nginx_world, tmp_path)


def test_kcat_produces_by_a_transaction_and_reads_as_a_group(
    kcat: Kcat, nginx_world: NetnsWorld, topic_name: str
) -> None:
    nginx_world.hq.create_topic(topic_name, partitions=6)
    # With keys: without them one partition may get all, and nobody dials the other leaders.
    lines = [f"{number}:order {number}" for number in range(300)]
    keys = ["-K", ":"]
    sent = kcat.run("-P", "-t", topic_name, *keys, "-X", f"transactional.id={topic_name}", stdin="\n".join(lines))
    assert sent.returncode == 0, sent.stderr
    group = ["-G", topic_name, "-X", "auto.offset.reset=earliest", "-X", "isolation.level=read_committed"]
    read = kcat.run("-q", "-c", str(len(lines)), *keys, *group, topic_name)
    assert read.returncode == 0, read.stderr
    assert sorted(read.stdout.split("\n")[:-1]) == sorted(lines)
    for node, advertised in nginx_world.hq.advertised.items():
        assert f"translated {advertised} -> {nginx_world.hq.reachable[node]} " in sent.stderr


def test_kcat_without_the_map_dials_what_hq_advertises(kcat: Kcat, nginx_world: NetnsWorld, topic_name: str) -> None:
    """The failure that people have: metadata comes through nginx, and no record does."""
    nginx_world.hq.create_topic(topic_name)
    assert kcat.run("-L", "-t", topic_name, mapped=False).returncode == 0
    sent = kcat.run("-P", "-t", topic_name, "-X", "message.timeout.ms=4000", stdin="a record\n", mapped=False)
    assert sent.returncode != 0
    assert "192.168.1.2" in sent.stderr
