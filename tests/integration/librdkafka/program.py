"""A user's program on confluent-kafka: `python -m tests.integration.librdkafka.program`, its orders as JSON on stdin.

The first line says what to do and for which clusters; the answer is one line of JSON on stdout, and stderr is the log.
`exercise` does the work of every kind of client for all clusters, with clients of all of them open at the same time.
`traffic` keeps a producer and a group going while further lines come in, until one says `stop`. A process of its own,
because two releases of confluent-kafka cannot be imported into one.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from typing import Any

from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.clients.confluent import configure
from brokernat.config import Cluster

RECORDS = 20
"""Of one kind, in one partition."""

_PATIENCE = 120
_ON_THEIR_WAY = 2_000
"""What is sent and not acknowledged: while brokers are away it must not grow until memory or the reader ends it."""


def cluster_of(order: dict[str, Any]) -> Cluster:
    address_map = AddressMap.parse(order["map"], Unmapped(order["unmapped"])) if "map" in order else None
    return Cluster(order["name"], tuple(map(Endpoint.parse, order["bootstrap"])), address_map, order["client"])


def admin(orders: list[dict[str, Any]]) -> list[Any]:
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    clients = [AdminClient(configure({}, cluster_of(order))) for order in orders]
    for order, client in zip(orders, clients, strict=True):
        new = NewTopic(order["topic"], order["partitions"], order["replicas"])
        for future in client.create_topics([new], request_timeout=_PATIENCE).values():
            future.result()
    # Asks each node itself, so every broker is dialled by its advertised name.
    return [sorted(client.list_topics(timeout=_PATIENCE).brokers) for client in clients]


def _send(client: Any, order: dict[str, Any], kind: str) -> list[str]:
    failed: list[str] = []

    def delivered(error: Any, _message: Any) -> None:
        if error is not None:
            failed.append(str(error))

    for partition in range(order["partitions"]):
        for _ in range(RECORDS):
            client.produce(order["topic"], f"{kind} {order['name']}", partition=partition, on_delivery=delivered)
    client.flush(_PATIENCE)
    return failed


def producer(orders: list[dict[str, Any]]) -> list[Any]:
    from confluent_kafka import Producer

    clients = [Producer(configure({"acks": "all"}, cluster_of(order))) for order in orders]
    return [_send(client, order, "plain") for order, client in zip(orders, clients, strict=True)]


def transactional(orders: list[dict[str, Any]]) -> list[Any]:
    from confluent_kafka import Producer

    clients = [Producer(configure({"transactional.id": order["topic"]}, cluster_of(order))) for order in orders]
    answers: list[Any] = []
    for order, client in zip(orders, clients, strict=True):
        client.init_transactions(_PATIENCE)
        client.begin_transaction()
        failed = _send(client, order, "committed")
        client.commit_transaction(_PATIENCE)
        client.begin_transaction()
        _send(client, order, "aborted")
        client.abort_transaction(_PATIENCE)
        answers.append(failed)
    return answers


def _consumer(order: dict[str, Any]) -> Any:
    from confluent_kafka import Consumer

    conf = {"group.id": order["topic"], "auto.offset.reset": "earliest", "isolation.level": "read_committed"}
    client = Consumer(configure(conf, cluster_of(order)))
    client.subscribe([order["topic"]])
    return client


def _values(client: Any, seconds: float) -> list[str]:
    return [message.value().decode() for message in client.consume(500, seconds) if message.error() is None]


def group(orders: list[dict[str, Any]]) -> list[Any]:
    clients = [_consumer(order) for order in orders]
    answers = []
    for order, client in zip(orders, clients, strict=True):
        values: list[str] = []
        deadline = time.monotonic() + _PATIENCE
        while len(values) < 2 * RECORDS * order["partitions"] and time.monotonic() < deadline:
            values += _values(client, 1)
        client.commit(asynchronous=False)
        client.close()
        answers.append(Counter(values))
    return answers


KINDS = {"admin": admin, "producer": producer, "transactional": transactional, "group": group}


def exercise(orders: list[dict[str, Any]]) -> None:
    import confluent_kafka

    say({"version": confluent_kafka.__version__} | {kind: work(orders) for kind, work in KINDS.items()})


def traffic(order: dict[str, Any]) -> None:
    """Numbered records go round until told to stop; the answers say what was acknowledged and what has come back."""
    from confluent_kafka import Producer

    acked: set[str] = set()
    read: set[str] = set()
    failed: list[str] = []
    produced, consumed = threading.Event(), threading.Event()

    def produce() -> None:
        # Idempotent: a leader that moves in mid-batch must not reorder or lose what is retried.
        client = Producer(configure({"enable.idempotence": True, "linger.ms": 5}, cluster_of(order)))

        def delivered(error: Any, message: Any) -> None:
            if error is None:
                acked.add(message.value().decode())
            else:
                failed.append(str(error))

        number = 0
        while not produced.is_set():
            if number - len(acked) - len(failed) >= _ON_THEIR_WAY:
                client.poll(0.1)
                continue
            client.produce(order["topic"], f"{number}", partition=number % order["partitions"], on_delivery=delivered)
            client.poll(0.005)
            number += 1
        while client.flush(1):
            pass

    def consume() -> None:
        client = _consumer(order)
        while not consumed.is_set():
            read.update(_values(client, 0.2))
        client.close()

    def state() -> dict[str, Any]:
        return {"acked": len(acked), "read": len(read), "lost": len(acked.copy() - read), "failed": failed}

    threads = [threading.Thread(target=produce), threading.Thread(target=consume)]
    for thread in threads:
        thread.start()
    for line in sys.stdin:
        if line.strip() == "stop":
            break
        say(state())
    produced.set()
    threads[0].join()
    deadline = time.monotonic() + _PATIENCE
    while acked - read and time.monotonic() < deadline:
        time.sleep(0.1)
    consumed.set()
    threads[1].join()
    say(state())


def say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    written = json.loads(sys.stdin.readline())
    if written["do"] == "traffic":
        traffic(written["orders"][0])
    else:
        exercise(written["orders"])


if __name__ == "__main__":
    main()
