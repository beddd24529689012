"""A user's program: `python -m tests.integration.python_clients.program LIBRARY`, its orders as JSON on stdin.

The first line says what to do and for which clusters; the answer is one line of JSON on stdout, logs go to stderr.
`exercise` lets every role do its work for all clusters, clients of all of them open at the same time. `traffic` keeps
a producer and a consumer group going while further lines come in: `status`, and `stop`.
"""

import json
import logging
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

from tests.integration.python_clients.drivers import DRIVERS, Driver

from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.config import Cluster, load

RECORDS = 10
"""Of one partition, in one round."""

_PATIENCE = 90
_LATE = 3


@dataclass(frozen=True)
class Order:
    """A cluster of the file, and how this client differs from it."""

    cluster: Cluster
    topic: str
    partitions: int
    replicas: int
    conf: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, written: dict[str, Any]) -> "Order":
        cluster = load(Path(written["file"])).cluster(written["cluster"])
        if "bootstrap" in written:
            cluster = replaced(cluster, bootstrap_servers=tuple(map(Endpoint.parse, written["bootstrap"])))
        if "map" in written:
            cluster = replaced(cluster, address_map=AddressMap.parse(written["map"], Unmapped(written["unmapped"])))
        return cls(cluster, written["topic"], written["partitions"], written["replicas"], written.get("conf", {}))

    def records(self, kind: str) -> list[tuple[int, str]]:
        """This many of one kind for each partition; they name the cluster that they are meant for."""
        return [
            (partition, f"{kind} {self.cluster.name} {partition} {number}")
            for partition in range(self.partitions)
            for number in range(RECORDS)
        ]


def admin(driver: Driver, orders: list[Order]) -> list[Any]:
    clients = [driver.admin(order.cluster, **order.conf) for order in orders]
    for order, client in zip(orders, clients, strict=True):
        client.create_topic(order.topic, order.partitions, order.replicas)
    for client in clients:
        client.close()
    return [True for _ in orders]


def offsets(driver: Driver, orders: list[Order]) -> list[Any]:
    """What the group of the role before has committed, as the admin client sees it."""
    clients = [driver.admin(order.cluster, **order.conf) for order in orders]
    answers = [client.committed(order.topic) for order, client in zip(orders, clients, strict=True)]
    for client in clients:
        client.close()
    return answers


def producer(driver: Driver, orders: list[Order]) -> list[Any]:
    clients = [driver.producer(order.cluster, acks="all", **order.conf) for order in orders]
    counts = [
        len(client.send(order.topic, order.records("plain"))) for order, client in zip(orders, clients, strict=True)
    ]
    for client in clients:
        client.close()
    return counts


def transactional(driver: Driver, orders: list[Order]) -> list[Any]:
    clients = [driver.producer(order.cluster, transactional_id=order.topic, **order.conf) for order in orders]
    for order, client in zip(orders, clients, strict=True):
        client.transaction(order.topic, order.records("committed"), commit=True)
        client.transaction(order.topic, order.records("aborted"), commit=False)
        client.close()
    return [True for _ in orders]


def group(driver: Driver, orders: list[Order]) -> list[Any]:
    """What a group reads that sees committed records only, and what a second member reads after it: nothing."""
    answers = []
    conf = {"auto_offset_reset": "earliest", "isolation_level": "read_committed", "enable_auto_commit": False}
    clients = [
        driver.consumer(order.cluster, order.topic, group_id=order.topic, **conf, **order.conf) for order in orders
    ]
    for order, client in zip(orders, clients, strict=True):
        expected = 2 * RECORDS * order.partitions
        values: list[str] = []
        deadline = time.monotonic() + _PATIENCE
        while len(values) < expected and time.monotonic() < deadline:
            values += [value for _, value in client.poll(500)]
        values += [value for _, value in client.poll(500)]
        client.commit()
        client.close()
        answers.append(dict(Counter(" ".join(value.split()[:2]) for value in values)))
    return answers


ROLES: dict[str, Callable[[Driver, list[Order]], list[Any]]] = {
    "admin": admin,
    "producer": producer,
    "transactional": transactional,
    "group": group,
    "offsets": offsets,
}


def exercise(driver: Driver, orders: list[Order], roles: list[str]) -> dict[str, Any]:
    """The outcome of each role, a list with one entry for each order; or the error that ended it."""
    outcome: dict[str, Any] = {}
    for role in roles:
        try:
            outcome[role] = ROLES[role](driver, orders)
        except Exception as error:
            logging.exception("role %s", role)
            outcome[role] = f"{type(error).__name__}: {error}"
    return outcome


class Traffic:
    """Records go round until told to stop: what was acknowledged, what was read."""

    def __init__(self, driver: Driver, order: Order) -> None:
        self._driver, self._order = driver, order
        self._acked: dict[int, set[str]] = {partition: set() for partition in range(order.partitions)}
        self._read: dict[int, set[str]] = {partition: set() for partition in range(order.partitions)}
        self._failures: list[str] = []
        self._leaders: dict[str, int] = {}
        self._producing, self._consuming = threading.Event(), threading.Event()
        self._threads = [threading.Thread(target=self._produce), threading.Thread(target=self._consume)]

    def run(self) -> None:
        for thread in self._threads:
            thread.start()
        for line in sys.stdin:
            if line.strip() == "stop":
                break
            self._say()
        self._producing.set()
        self._threads[0].join()
        deadline = time.monotonic() + _PATIENCE
        while self._lost() and time.monotonic() < deadline:
            time.sleep(0.1)
        self._consuming.set()
        self._threads[1].join()
        self._say()

    def _produce(self) -> None:
        client = self._driver.producer(self._order.cluster, acks="all", **self._order.conf)
        while not self._producing.is_set():
            records = [(partition, f"{uuid.uuid4()}") for partition in self._acked]
            try:
                acknowledged = set(client.send(self._order.topic, records))
                self._leaders = client.leaders(self._order.topic)
            except Exception as error:  # noqa: BLE001 - whatever it is, the test is told
                self._failures.append(f"{type(error).__name__}: {error}")
                continue
            for partition, value in records:
                if value in acknowledged:
                    self._acked[partition].add(value)
        client.close()

    def _consume(self) -> None:
        conf = {"group_id": self._order.topic, "auto_offset_reset": "earliest"}
        client = self._driver.consumer(self._order.cluster, self._order.topic, **conf)
        while not self._consuming.is_set():
            try:
                polled = client.poll(200)
            except self._driver.passing:
                continue
            for partition, value in polled:
                self._read[partition].add(value)
        client.close()

    def _lost(self) -> int:
        return sum(len(self._acked[partition] - self._read[partition]) for partition in self._acked)

    def _say(self) -> None:
        state = {
            "acked_by_partition": {partition: len(values) for partition, values in self._acked.items()},
            "read_by_partition": {partition: len(values) for partition, values in self._read.items()},
            "acked": sum(map(len, self._acked.values())),
            "leaders": self._leaders,
            "failures": self._failures,
            "lost": self._lost(),
        }
        say(state)


def say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    driver = DRIVERS[sys.argv[1]]()
    written = json.loads(sys.stdin.readline())
    orders = [Order.read(order) for order in written["orders"]]
    if written["do"] == "traffic":
        Traffic(driver, orders[0]).run()
    else:
        say({"version": driver.version} | exercise(driver, orders, written["roles"]))


if __name__ == "__main__":
    main()
