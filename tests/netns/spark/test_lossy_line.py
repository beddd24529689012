"""A line that loses every twentieth packet is slow, and that is all."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.netns.spark.orders import send_orders
from tests.netns.spark.pipeline_file import pipeline_file
from tests.netns.spark.spark_place import SparkPlace
from tests.support.faults import Faults

from brokernat.testbed import NetnsWorld

pytestmark = [pytest.mark.netns, pytest.mark.soak]

PERCENT = 5


def test_a_pipeline_through_a_line_that_loses_packets_is_complete(
    world: NetnsWorld, spark: SparkPlace, tmp_path: Path
) -> None:
    # Home again through the same line: what is produced suffers as well as what is asked for.
    sent = send_orders(world.hq, world.hq, 2_000)
    file = pipeline_file(tmp_path, {"tags": sent})

    with ExitStack() as line:
        for endpoint in world.hq.reachable.values():
            line.enter_context(Faults(world.client).lossy(endpoint, PERCENT))
        job = spark.run(file.words("run", "tags", "--once"))
        lost = Faults(world.client).packets()

    assert job.process.returncode == 0, job.tail()
    assert lost > 0
    sent.delivered().assert_complete()
