"""The main job on YARN: HQ behind nginx with a login, executors in containers, and whatever of it is killed."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.netns.spark.spark_place import SparkPlace, yarn_place
from tests.soak.kills import Stage, Victim, new_round

from brokernat.testbed import NetnsWorld

pytestmark = [pytest.mark.netns, pytest.mark.soak]


@pytest.fixture(scope="module")
def yarn(world: NetnsWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkPlace]:
    with yarn_place(world.client, tmp_path_factory.mktemp("on-yarn")) as place:
        yield place


def test_a_pipeline_loses_nothing_when_executor_and_application_master_die(
    world: NetnsWorld, yarn: SparkPlace, tmp_path: Path
) -> None:
    played = new_round(Stage(world.hq, world.local, world.gateway, yarn, tmp_path), random.Random(1))

    delivery = played.play([Victim.EXECUTOR, Victim.APPLICATION_MASTER])

    logs = [log.read_text() for log in yarn.folder.glob("job-*/log")]
    assert any("proved: 12 endpoints from 3 JVMs" in log for log in logs), "four brokers, the driver, two containers"
    delivery.assert_complete()
    played.assert_duplicates_are_of_open_batches(delivery)
    reconciled = yarn.run([*played.file.words("reconcile", "tags"), "--format", "json"])
    assert reconciled.process.returncode == 0, reconciled.tail()
    partitions = json.loads(reconciled.output.read_text())["partitions"]
    assert sum(partition["missing"] for partition in partitions) == 0
