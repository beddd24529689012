"""Orders in, tags and dead letters out: made with known outcomes, written past everything under test, and compared
record by record through the coordinates that each output record carries."""

import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from brokernat.demo.data import customers_csv, make_orders
from brokernat.testbed import Record, RunningCluster

SOURCE_HEADER = "brokernat-src"


@dataclass(frozen=True)
class Topics:
    """The topics of one run; none are shared."""

    orders: str
    tags: str
    dead: str

    @classmethod
    def fresh(cls) -> "Topics":
        run = uuid.uuid4().hex[:8]
        return cls(f"orders-{run}", f"tags-{run}", f"tags-{run}.dead")


@dataclass(frozen=True)
class Sent:
    """What was written: the topics, and how many tags and dead letters must come of it."""

    topics: Topics
    source: RunningCluster
    sink: RunningCluster
    tags: int
    dead_letters: int

    def with_more(self, count: int) -> "Sent":
        """Write `count` good orders with twelve broken ones among them behind what is there."""
        orders = make_orders(count)
        self.source.write(self.topics.orders, [Record(value.encode(), key.encode()) for key, value in orders.records])
        tags, dead_letters = self.tags + orders.expected_tags, self.dead_letters + orders.expected_dead_letters
        return replace(self, tags=tags, dead_letters=dead_letters)

    def delivered(self) -> "Delivery":
        """Compare what is in the sink now with what is in the source now."""
        ends = self.source.end_offsets(self.topics.orders)
        where = f"{self.source.cluster_id}/{self.topics.orders}"
        expected = {f"{where}/{partition}/{offset}" for partition, end in ends.items() for offset in range(end)}
        return Delivery(
            self,
            frozenset(expected),
            tuple(self.sink.read(self.topics.tags)),
            tuple(self.sink.read(self.topics.dead)),
        )


@dataclass(frozen=True)
class Delivery:
    """The sink held against the source."""

    sent: Sent
    expected: frozenset[str]
    tags: tuple[Record, ...]
    dead_letters: tuple[Record, ...]

    @cached_property
    def copies(self) -> Counter[str]:
        """How often each source record arrived, by its coordinates."""
        return Counter(coordinates((*self.tags, *self.dead_letters)))

    @property
    def missing(self) -> frozenset[str]:
        return self.expected - self.copies.keys()

    @property
    def foreign(self) -> frozenset[str]:
        """Coordinates that no source record has."""
        return frozenset(self.copies.keys() - self.expected)

    @property
    def duplicated(self) -> frozenset[str]:
        return frozenset(src for src, times in self.copies.items() if times > 1)

    def assert_complete(self) -> None:
        """Nothing missing, nothing invented, each record what it must be; copies of a record are equal."""
        assert not self.missing, f"{len(self.missing)} of {len(self.expected)} missing: {sorted(self.missing)[:5]}"
        assert not self.foreign
        tags, dead = set(coordinates(self.tags)), set(coordinates(self.dead_letters))
        assert not tags & dead
        assert (len(tags), len(dead)) == (self.sent.tags, self.sent.dead_letters)
        copies: dict[bytes | None, set[tuple[bytes | None, bytes | None]]] = {}
        for record in (*self.tags, *self.dead_letters):
            copies.setdefault(record.header(SOURCE_HEADER), set()).add((record.key, record.value))
        assert all(len(different) == 1 for different in copies.values())

    def assert_exact(self) -> None:
        """Complete, and each record once."""
        self.assert_complete()
        assert not self.duplicated


def coordinates(records: Iterable[Record]) -> list[str]:
    """`brokernat-src` of each record."""
    return [(record.header(SOURCE_HEADER) or b"").decode() for record in records]


def send_orders(source: RunningCluster, sink: RunningCluster, count: int, *, partitions: int = 3) -> Sent:
    """Make topics of one's own on both clusters, and write into the first of them as `Sent.with_more` does."""
    topics = Topics.fresh()
    source.create_topic(topics.orders, partitions=partitions)
    for name in (topics.tags, topics.dead):
        sink.create_topic(name, partitions=2)
    return Sent(topics, source, sink, 0, 0).with_more(count)


def write_customers(folder: Path) -> Path:
    """The reference data that orders are joined with."""
    path = folder / "customers.csv"
    path.write_text(customers_csv())
    return path
