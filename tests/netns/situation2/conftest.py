"""Situation 2 as people have it: brokers of 2.4.1 with ZooKeeper behind host-to-host NAT, and a cluster of Spark."""

from collections.abc import Iterator

import pytest
from tests.matrix.programs import Programs
from tests.netns.spark.spark_place import SparkPlace, spark_place

from brokernat.testbed import Between, ClusterOptions, NetnsWorld, Protocol

HQ = ClusterOptions(version="2.4.1", protocol=Protocol.SASL_PLAINTEXT)


@pytest.fixture(scope="package")
def world() -> Iterator[NetnsWorld]:
    with NetnsWorld(hq=HQ, between=Between.NFTABLES) as running:
        yield running


@pytest.fixture(scope="package")
def spark(world: NetnsWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkPlace]:
    with spark_place(world.client, tmp_path_factory.mktemp("spark")) as place:
        yield place


@pytest.fixture(scope="package")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs.compile(tmp_path_factory.mktemp("programs"))
