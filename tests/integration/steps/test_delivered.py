"""Which source records stand behind what a sink holds; whole pipelines are in tests/integration/reconcile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from brokernat.pipelines.reading_back.delivered import held_offsets, source_coordinates

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

HEADERS = "headers array<struct<key:string,value:binary>>"


def test_only_coordinates_of_this_source_count_and_copies_are_counted(spark: SparkSession) -> None:
    texts = [
        b"cid/orders/0/7",
        b"cid/orders/0/7",
        b"cid/orders/1/7",
        b"other/orders/0/8",
        b"cid/orders/0",
        b"",
        b"\xff",
    ]
    rows = [([("brokernat-src", text)],) for text in texts]
    rows += [([("trace", b"cid/orders/0/9")],), ([],), (None,)]  # type: ignore[list-item]
    held = held_offsets(source_coordinates(spark.createDataFrame(rows, HEADERS), "cid"))
    assert sorted(map(tuple, held.collect())) == [("orders/0", 7, 2), ("orders/1", 7, 1)]


def test_a_dead_letter_and_its_replay_are_one_delivery(spark: SparkSession) -> None:
    rows = [
        ([("brokernat-src", f"cid/orders/0/{offset}".encode()), *replayed],)
        for offset, copies in {1: (0, 1), 2: (1,), 3: (0, 1, 1), 4: (1, 1), 5: (0, 0, 1)}.items()
        for replayed in ([("brokernat-src-replayed", b"now")] * copy for copy in copies)
    ]
    held = held_offsets(source_coordinates(spark.createDataFrame(rows, HEADERS), "cid"))
    # One delivery where retention has removed the dead letter, too; what came twice is a copy too many.
    assert {row["offset"]: row["copies"] for row in held.collect()} == {1: 1, 2: 1, 3: 2, 4: 2, 5: 2}


def test_of_several_headers_the_last_counts(spark: SparkSession) -> None:
    rows = [([("brokernat-src", b"cid/orders/0/1"), ("brokernat-src", b"cid/orders/0/2")],)]
    held = held_offsets(source_coordinates(spark.createDataFrame(rows, HEADERS), "cid"))
    assert [tuple(row) for row in held.collect()] == [("orders/0", 2, 1)]
