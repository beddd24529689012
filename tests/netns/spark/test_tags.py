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


@pytest.mark.parametrize("loader", [pytest.param(Loader.JAVAAGENT, marks=pytest.mark.soak), Loader.REPORTER])
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
