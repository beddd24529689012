"""Two headquarters with the same 192.168.1.23-25:9092 behind different gateways, in one application."""

from pathlib import Path

import pytest
from tests.netns.spark.spark_place import SparkPlace
from tests.netns.spark.two_headquarters import assert_no_record_crosses_over

from brokernat.testbed import NetnsWorld

pytestmark = [pytest.mark.netns, pytest.mark.soak]


def test_one_application_reads_both_and_no_record_crosses_over(
    world: NetnsWorld, spark: SparkPlace, tmp_path: Path
) -> None:
    assert [str(endpoint) for endpoint in world.hq.advertised.values()] == [
        "192.168.1.23:9092",
        "192.168.1.24:9092",
        "192.168.1.25:9092",
    ]
    assert_no_record_crosses_over(world.hq, world.hq2, world.local, spark, tmp_path)
