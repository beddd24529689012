"""Headers to numbers to runs, on a small Spark."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from brokernat.config import Cluster
from brokernat.errors import IncompleteError
from brokernat.pipelines.reading_back import shipped
from brokernat.pipelines.reading_back.reconcile import SequenceRun, accounts
from brokernat.pipelines.reading_back.shipped import numbers, reconcile_topic, runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

HEADERS = "headers array<struct<key:string,value:binary>>"


@pytest.mark.parametrize(
    ("headers", "number"),
    [
        ([("brokernat-seq", b"web-1/17")], ("web-1", 17)),
        ([("other", b"x"), ("brokernat-seq", b"old/1"), ("brokernat-seq", b"new/2")], ("new", 2)),
        ([("brokernat-seq", b"web-1/017")], (None, 0)),
        ([("brokernat-seq", b"web-1/0")], (None, 0)),
        ([("brokernat-seq", b"a/b/1")], (None, 0)),
        ([("brokernat-seq", b"/1")], (None, 0)),
        ([("brokernat-seq", b"web-1/99999999999999999999")], (None, 0)),
        ([("brokernat-seq", b"\xff\xfe")], (None, 0)),
        ([("brokernat-seq", None)], (None, 0)),
        ([("other", b"web-1/17")], (None, None)),
        ([], (None, None)),
        (None, (None, None)),
    ],
)
def test_a_header_as_a_number(
    spark: SparkSession, headers: list[tuple[str, bytes | None]] | None, number: tuple[str | None, int | None]
) -> None:
    (row,) = numbers(spark.createDataFrame([(headers,)], HEADERS)).collect()
    assert tuple(row) == number


def test_runs_of_random_numbers_say_the_same_as_the_numbers(spark: SparkSession) -> None:
    dice = random.Random(20260101)
    sent = [(dice.choice("ab"), dice.randint(1, 300)) for _ in range(400)]
    unnumbered: list[tuple[str | None, int | None]] = [(None, None)] * 3 + [(None, 0)] * 2
    rows = spark.createDataFrame([*sent, *unnumbered], "source string, sequence bigint")

    found = runs(rows, block=16).orderBy("source", "first").collect()

    # Nulls come first, as Spark sorts them, and in them what has no header.
    assert [(row["first"], row["records"]) for row in found if row["source"] is None] == [(None, 3), (0, 2)]
    by_source = {
        account.source: account for account in accounts(SequenceRun(*row) for row in found if row["source"] is not None)
    }
    for source, account in by_source.items():
        own = [number for name, number in sent if name == source]
        assert account.missing == max(own) - len(set(own))
        assert (account.records, account.duplicates) == (len(own), len(own) - len(set(own)))


def test_of_a_topic_that_cannot_be_read_to_its_end_nothing_is_said(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = "array(struct('brokernat-seq' AS key, binary('web/1') AS value))"
    broken = spark.range(3).selectExpr(f"if(id < 2, {headers}, raise_error('7 is gone')) AS headers")
    monkeypatch.setattr(shipped, "read_topics", lambda *_: broken)
    with pytest.raises(IncompleteError, match=r"topic `audit` could not be read to its end: .*7 is gone"):
        reconcile_topic(spark, Cluster("hq", ()), "audit")
