"""One world and one Spark cluster for this folder: two headquarters that advertise the same addresses, each behind an
nginx of its own, with SASL_PLAINTEXT, and a local cluster.

Tests share the brokers and take topics of their own; the one that kills brokers brings them back.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.netns.spark.spark_place import SparkPlace, spark_place

from brokernat.testbed import ClusterOptions, NetnsWorld, Protocol

HQ = ClusterOptions(protocol=Protocol.SASL_PLAINTEXT)


@pytest.fixture(scope="package")
def world() -> Iterator[NetnsWorld]:
    # A login of its own: a record that crossed over would need the other side's password.
    with NetnsWorld(hq=HQ, second_hq=replace(HQ, username="other", password="other-secret")) as running:
        yield running


@pytest.fixture(scope="package")
def spark(world: NetnsWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkPlace]:
    with spark_place(world.client, tmp_path_factory.mktemp("spark"), mark_last_worker=True) as place:
        yield place
