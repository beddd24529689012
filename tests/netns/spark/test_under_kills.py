"""One quick round of each kind of death, through real nginx; `make soak` plays many."""

import os
import random
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from tests.netns.spark.spark_place import SparkPlace
from tests.soak.kills import Stage, Victim, new_round, until

from brokernat.testbed import NetnsWorld

pytestmark = pytest.mark.netns


class KilledGateway:
    """The gateways of a world, ended by `kill -9` of every process on their hosts: what `stop` of nginx is not."""

    def __init__(self, world: NetnsWorld) -> None:
        self._world = world

    def stop(self) -> None:
        for host in ("gw", "gw2"):
            pids = subprocess.run(
                ["ip", "netns", "pids", self._world.namespace(host).name], capture_output=True, text=True, check=True
            )
            for pid in map(int, pids.stdout.split()):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        until(lambda: not self._world.gateway.running(), "the end of nginx")

    def start(self) -> None:
        self._world.gateway.start()

    def running(self) -> bool:
        return self._world.gateway.running()


@pytest.fixture
def stage(world: NetnsWorld, spark: SparkPlace, tmp_path: Path) -> Stage:
    return Stage(world.hq, world.local, KilledGateway(world), spark, tmp_path, outage=5)


def test_executor_leader_and_gateway_die_in_one_run_with_hq_as_source_and_sink(stage: Stage) -> None:
    played = new_round(stage, random.Random(1), sink=stage.hq)

    delivery = played.play([Victim.EXECUTOR, Victim.BROKER, Victim.GATEWAY])

    assert played.strokes == 3
    delivery.assert_complete()
    played.assert_duplicates_are_of_open_batches(delivery)


@pytest.mark.soak
def test_the_driver_dies_between_offset_log_and_commit_log(stage: Stage) -> None:
    played = new_round(stage, random.Random(1))

    delivery = played.play([Victim.DRIVER, Victim.DRIVER])

    assert played.starts == 3 + played.drained
    assert played.landed_between > 0
    delivery.assert_complete()
    played.assert_duplicates_are_of_open_batches(delivery)
