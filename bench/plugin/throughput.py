"""Consuming and producing with confluent-kafka, plug-in and map against direct; beside it direct against direct.

The brokers have two listeners. One advertises addresses that are dead here; it is used with a map to the address where
it is bound, so that no gateway stands between. The other advertises what it binds and is used without the plug-in. Same
brokers, same topic, one process: librdkafka compiles nothing at run time, so there are no forks to speak of.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import confluent_kafka
from bench.ratios import in_turns
from bench.report import RECORD_BYTES, compare, say
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from tests.support.cluster_admin import delete_topics

from brokernat.address import AddressMap
from brokernat.clients.confluent import configure
from brokernat.testbed import LoopbackWorld

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brokernat.config import Cluster

CONSUMED, PARTITIONS = "consumed", 3
GONE_AT_ONCE = {"file.delete.delay.ms": "1000"}
"""What was produced is in memory, and nobody reads it."""
_BATCH = 10_000
# A queue that is full is left alone for a second by default: a run would measure how often that happened.
_NEVER_FULL = {"queued.min.messages": 1_000_000, "queued.max.messages.kbytes": 1_000_000, "fetch.queue.backoff.ms": 1}
_PATIENCE = 300


def measure(rounds: int, records: int) -> Iterator[bool]:
    """Both directions; the figure of each is the lower end of its interval."""
    say(f"librdkafka  {confluent_kafka.libversion()[0]}")
    with LoopbackWorld(local=None) as world:
        hq = world.hq
        bound = AddressMap.parse(",".join(f"{hq.advertised[node]}={hq.bound[node]}" for node in hq.nodes))
        mapped = replace(hq.cluster, bootstrap_servers=tuple(hq.bound.values()), address_map=bound)
        sides = [hq.direct, mapped, hq.direct]
        hq.create_topic(CONSUMED, partitions=PARTITIONS)
        produce(hq.direct, CONSUMED, records)
        names = (f"produced-{number}" for number in count())

        def produce_anew(side: Cluster) -> float:
            topic = next(names)
            hq.create_topic(topic, configs=GONE_AT_ONCE)
            seconds = produce(side, topic, records)
            delete_topics(hq, topic)
            return seconds

        runs: dict[str, list[Callable[[], float]]] = {
            "consume": [partial(consume, side, records) for side in sides],
            "produce": [partial(produce_anew, side) for side in sides],
        }
        for name, turns in runs.items():
            _, *taken = in_turns(turns, rounds + 1)
            yield compare(name, "plugin", records, [taken])


def produce(cluster: Cluster, topic: str, records: int) -> float:
    """Seconds from a new client to the last acknowledgement."""
    value = b"x" * RECORD_BYTES
    start = time.perf_counter()
    client = Producer(configure({"linger.ms": 5, "queue.buffering.max.messages": 500_000, "log_level": 3}, cluster))
    left = records
    while left:
        try:
            client.produce(topic, value)
            left -= 1
        except BufferError:
            client.poll(0.05)
    if client.flush(_PATIENCE):
        raise TimeoutError(f"{len(client)} records were not acknowledged")
    return time.perf_counter() - start


def consume(cluster: Cluster, records: int) -> float:
    """Seconds from a new client to the last record of the topic."""
    start = time.perf_counter()
    # Assigned and not subscribed: how long a group takes to form is chance.
    own = {"group.id": "none", "enable.auto.commit": False, "log_level": 3, **_NEVER_FULL}
    client = Consumer(configure(own, cluster))
    client.assign([TopicPartition(CONSUMED, partition, OFFSET_BEGINNING) for partition in range(PARTITIONS)])
    left = records
    while left > 0:
        left -= sum(message.error() is None for message in client.consume(_BATCH, 1))
        if time.perf_counter() - start > _PATIENCE:
            raise TimeoutError(f"{left} records did not come")
    seconds = time.perf_counter() - start
    client.close()
    return seconds
