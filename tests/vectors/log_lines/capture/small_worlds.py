"""Clusters that are not as they should be: one that just begins, one whose brokers do not find each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from brokernat.testbed import ClusterOptions, Listener, LoopbackWorld, Protocol, RunningCluster
from brokernat.testbed.place import wait_until

OLD = "2.4.1"


@contextmanager
def beginning() -> Iterator[RunningCluster]:
    """One broker that makes topics when they are asked for, and cannot make its own, which want three brokers.

    Brokers from 2.8 on answer a question for such a topic as they do for an unknown one.
    """
    wanted = {
        "auto.create.topics.enable": "true",
        "offsets.topic.replication.factor": "3",
        "transaction.state.log.replication.factor": "3",
    }
    with LoopbackWorld(hq=None, local=ClusterOptions(brokers=1, version=OLD, broker_properties=wanted)) as world:
        yield world.local


@contextmanager
def estranged(version: str) -> Iterator[RunningCluster]:
    """Two brokers that tell each other a name that does not resolve."""
    options = ClusterOptions(
        brokers=2,
        version=version,
        listeners=(Listener("NAMES", Protocol.PLAINTEXT, advertised="kafka-1.hq.invalid"),),
        broker_properties={"inter.broker.listener.name": "NAMES"},
    )
    with LoopbackWorld(hq=None, local=options) as world:
        world.local.create_topic("orders", partitions=4, replicas=2)
        logs = [world.local.log(node) for node in world.local.nodes]
        wait_until(
            lambda: any("Error connecting" in log.read_text() for log in logs), "what they say of it", timeout=60
        )
        yield world.local
