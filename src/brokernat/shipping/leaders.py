"""Why the leaders of a topic acknowledge nothing while librdkafka reports no error.

A broker that is not the leader refuses records (NOT_LEADER_OR_FOLLOWER). librdkafka sends them again and reports
nothing, because this also happens for a moment when a leader moves. It never ends if a rule or a forward leads to
another broker. So after some seconds without an acknowledgement an AdminClient requests the end offset of each
partition from its leader: only the leader returns it, and the right to write to the topic is enough.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple, cast

from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.errors import BrokernatError
from brokernat.shipping.producer import describe

_PAUSE: Final = 4.0
_TIMEOUT: Final = 4.0
_METADATA_TIMEOUT: Final = 2.0
_REFUSALS: Final = ("NOT_LEADER_FOR_PARTITION", "NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PART")


class Delay(NamedTuple):
    """The reason why records have no answer; empty while it is not known."""

    reason: str = ""
    is_certain: bool = False
    """Whether it is the reason although the client reports an error of some connection."""


_UNKNOWN: Final = Delay()
_SILENT: Final = Delay("the brokers have acknowledged nothing for some seconds, and report no error")


def find_delay(cluster: Cluster, open_admin: Callable[[], Any], producer: Any, topic: str) -> Iterator[Delay]:
    """Looks for the reason as long as it is iterated; does not block, except for the request of metadata.

    A reason that is found twice in succession is returned: a leader that moves is another one by then.

    Args:
        cluster: the cluster of the producer.
        open_admin: creates an AdminClient of the cluster.
        producer: the producer that waits; while no broker answers it, no AdminClient connects.
        topic: the topic of the records.
    """
    before, admin = _UNKNOWN, None
    while True:
        resume = time.monotonic() + _PAUSE
        while time.monotonic() < resume:
            yield _UNKNOWN
        found = _UNKNOWN
        with suppress(Exception):  # the producer reports its errors itself
            metadata = producer.list_topics(topic, timeout=_METADATA_TIMEOUT)
            found = _SILENT  # confluent-kafka before 2.3 cannot request offsets
            admin = admin or open_admin()
            found = yield from _ask_leaders(cluster, admin, metadata, topic)
        yield found if found == before else _UNKNOWN
        before = found


def _ask_leaders(cluster: Cluster, admin: Any, metadata: Any, topic: str) -> Generator[Delay, None, Delay]:
    """The reason now; yields while the leaders have not answered."""
    from confluent_kafka import TopicPartition
    from confluent_kafka import admin as library

    latest = cast("Any", library).OffsetSpec.latest()
    if metadata.topics[topic].error is not None:
        return Delay(describe(metadata.topics[topic].error), is_certain=True)
    partitions = defaultdict(list)
    for number, led in sorted(metadata.topics[topic].partitions.items()):
        if led.leader not in metadata.brokers:
            return Delay(f"{topic}/{number} has no leader", is_certain=True)
        partitions[led.leader].append(TopicPartition(topic, number))
    # One request for each leader: a broker that hangs delays the results of its request only.
    requests = {
        leader: admin.list_offsets(dict.fromkeys(of_leader, latest), request_timeout=_TIMEOUT)
        for leader, of_leader in partitions.items()
    }
    silent = _SILENT
    for leader, results in requests.items():
        endpoint = _dialled_endpoint(cluster, leader, metadata.brokers[leader])
        for one, result in results.items():
            partition = f"{topic}/{one.partition}"
            while not result.done():
                admin.poll(0)  # OAUTHBEARER requests its token in `poll`
                yield _UNKNOWN
            name = _error_name(result)
            if name in _REFUSALS:
                return Delay(
                    f"the leader of {partition} is node {leader}, and node {leader}'s endpoint "
                    f"{endpoint} does not accept records for it: another broker may be behind it; "
                    f"`brokernat doctor --cluster {cluster.name}` finds which",
                    is_certain=True,
                )
            if name == "_TIMED_OUT" and silent is _SILENT:
                silent = Delay(f"node {leader} ({endpoint}), the leader of {partition}, does not answer")
    return silent


def _error_name(result: Any) -> str:
    error = result.exception()
    if error is not None:
        name: str = error.args[0].name()
        return name
    # librdkafka returns no error and no offset if it could not connect in time.
    return "" if result.result().offset >= 0 else "_TIMED_OUT"


def _dialled_endpoint(cluster: Cluster, node_id: int, broker: Any) -> str:
    """The endpoint that the client dials for a broker of the metadata."""
    try:
        advertised = Endpoint(broker.host, broker.port)
        return str(cluster.address_map.translate(advertised, node_id).endpoint if cluster.address_map else advertised)
    except BrokernatError:
        return f"{broker.host}:{broker.port}"
