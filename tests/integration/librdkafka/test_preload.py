"""Programs that cannot be configured: the preloaded library and two variables, the program as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.integration.librdkafka.conftest import client_cluster
from tests.integration.librdkafka.releases import RELEASES, environment

from brokernat.clients import librdkafka
from brokernat.testbed import LoopbackWorld

pytestmark = pytest.mark.integration

PROGRAM = textwrap.dedent(
    """
    import json, sys
    import confluent_kafka as ck
    conf, topic = json.load(sys.stdin), sys.argv[1]
    producer = ck.Producer(conf)
    failed = []
    told = lambda error, message: failed.append(str(error)) if error else None
    for number in range(30):
        producer.produce(topic, f"{number}", partition=number % 3, on_delivery=told)
    left = producer.flush(float(sys.argv[2]))
    print("left", left, "failed", failed)
    """
)


def run(
    release: str, conf: dict[str, str], topic: str, *, seconds: int = 100, **variables: str
) -> subprocess.CompletedProcess[str]:
    preload = {"LD_PRELOAD": str(librdkafka.preload_library())} if variables else {}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, topic, f"{seconds}"],
        env=environment(release) | preload | variables,
        input=json.dumps(conf),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def plain(world: LoopbackWorld) -> dict[str, str]:
    """The program's own configuration: login and bootstrap servers."""
    properties = librdkafka.properties(client_cluster(world.hq))
    return {name: value for name, value in properties.items() if "brokernat" not in f"{name}{value}"}


@pytest.mark.parametrize("release", RELEASES)
def test_a_program_as_it_is(release: str, twins: LoopbackWorld, topic_name: str) -> None:
    twins.hq.create_topic(topic_name)
    rules = librdkafka.properties(twins.hq.cluster)["brokernat.map"]
    assert run(release, plain(twins), topic_name, seconds=3).stdout.startswith("left 30 ")
    done = run(release, plain(twins), topic_name, BROKERNAT_MAP=rules, BROKERNAT_UNMAPPED="fail")
    assert done.stdout == "left 0 failed []\n", done.stderr[-3000:]
    assert len(twins.hq.read(topic_name)) == 30


def test_a_client_with_the_plugin_keeps_its_own_map(twins: LoopbackWorld, topic_name: str) -> None:
    twins.hq.create_topic(topic_name)
    conf = librdkafka.properties(client_cluster(twins.hq))
    done = run("newest", conf, topic_name, BROKERNAT_MAP="kafka-1.hq.invalid = 127.0.0.1")
    assert done.stdout == "left 0 failed []\n", done.stderr[-3000:]


def test_a_wrong_map_is_told_and_nothing_is_dialled(twins: LoopbackWorld, topic_name: str) -> None:
    done = run("newest", plain(twins), topic_name, seconds=2, BROKERNAT_MAP="kafka-1")
    assert done.stdout.startswith("left 30 ")
    assert "[brokernat] BROKERNAT_MAP cannot be used, no connection is made: brokernat.map: line 1" in done.stderr


def test_programs_without_librdkafka_do_not_notice() -> None:
    done = subprocess.run(
        ["ls", "/"],
        env=os.environ | {"LD_PRELOAD": str(librdkafka.preload_library()), "BROKERNAT_MAP": "a = b"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert Path("/").joinpath(done.stdout.split()[0]).exists()
