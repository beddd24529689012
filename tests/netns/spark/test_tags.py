"""The main job where it has to work: HQ behind nginx with SASL_PLAINTEXT, executors in JVMs of their own."""

import json
from pathlib import Path

import pytest
from tests.netns.spark.orders import send_orders
from tests.netns.spark.pipeline_file import pipeline_file
from tests.netns.spark.spark_place import SparkPlace

from brokernat.clients.spark import Loader
from brokernat.testbed import NetnsWorld

pytestmark = pytest.mark.netns

JOB = Path(__file__).parent / "jobs" / "run_pipelines.py"


@pytest.mark.parametrize("loader", [Loader.JAVAAGENT, Loader.REPORTER])
def test_in_is_tags_plus_dead_letters_with_hq_as_source_and_as_sink(
    world: NetnsWorld, spark: SparkPlace, tmp_path: Path, loader: Loader
) -> None:
    """One pipeline leaves HQ for the local cluster, one goes through the NAT both ways, both in one session."""
    away, home = send_orders(world.hq, world.local, 2_000), send_orders(world.hq, world.hq, 1_000)
    file = pipeline_file(tmp_path, {"away": away, "home": home})

    job = spark.run([str(JOB), str(file.path), loader, "away", "home"])

    assert job.process.returncode == 0, job.tail()
    assert json.loads(job.output.read_text().splitlines()[-1]) == {
        "loader": loader,
        "away": "2012 in = 2000 tags + 12 dead letters + 0 filtered",
        "home": "1012 in = 1000 tags + 12 dead letters + 0 filtered",
    }
    for sent in (away, home):
        sent.delivered().assert_exact()


def test_a_pipeline_with_swapped_lines_does_not_start(world: NetnsWorld, spark: SparkPlace, tmp_path: Path) -> None:
    one, other, third = world.hq.plan.brokers
    swapped = [f"{one.advertised} = {other.reachable}", f"{other.advertised} = {one.reachable}"]
    swapped.append(f"{third.advertised} = {third.reachable}")
    sent = send_orders(world.hq, world.local, 10)
    file = pipeline_file(tmp_path, {"tags": sent}, rules={"hq": swapped})

    job = spark.run(file.words("run", "tags", "--once"))

    assert job.process.returncode == 5, job.tail()
    assert "the rule for node 1 leads to node 2" in job.log.read_text()
    assert not file.checkpoint(sent).begun()
    assert world.local.read(sent.topics.tags) == []
