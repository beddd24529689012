"""A checkpoint's files as Spark 4 writes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from brokernat.pipelines.checkpoint.committed import Range, as_option, offsets, read_committed, read_uncommitted
from brokernat.pipelines.checkpoint.files import Files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_both_kinds_of_files() -> None:
    assert offsets('\0v1\n{"orders":{"1":2,"0":5}}') == {"orders": {1: 2, 0: 5}}
    assert offsets('v1\n{"batchWatermarkMs":0}\n{"orders":{"0":7}}') == {"orders": {0: 7}}


def test_offsets_as_an_option() -> None:
    assert as_option({"orders": {0: 5}}) == '{"orders": {"0": 5}}'


@pytest.mark.spark
def test_the_last_commit_counts_and_a_partition_that_came_later_begins_at_0(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name, text in {
        "sources/0/0": '\0v1\n{"orders":{"0":5}}',
        "offsets/9": 'v1\n{}\n{"orders":{"0":7}}',
        "offsets/10": 'v1\n{}\n{"orders":{"0":9,"1":4}}',
        "offsets/11": 'v1\n{}\n{"orders":{"0":99,"1":99}}',
        "commits/9": 'v1\n{"nextBatchWatermarkMs":0}',
        "commits/10": 'v1\n{"nextBatchWatermarkMs":0}',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = read_committed(Files(spark), str(tmp_path))
    assert found == Range(begin={"orders": {0: 5, 1: 0}}, end={"orders": {0: 9, 1: 4}})
    begun = read_uncommitted(Files(spark), str(tmp_path))
    assert begun == Range(begin={"orders": {0: 9, 1: 4}}, end={"orders": {0: 99, 1: 99}})


@pytest.mark.spark
def test_without_a_commit_there_is_nothing(spark: SparkSession, tmp_path: Path) -> None:
    assert read_committed(Files(spark), str(tmp_path / "not-there")) is None


@pytest.mark.spark
def test_the_first_batch_begins_where_the_first_start_did(spark: SparkSession, tmp_path: Path) -> None:
    for name, text in {
        "sources/0/0": '\0v1\n{"orders":{"0":5}}',
        "offsets/0": 'v1\n{}\n{"orders":{"0":7,"1":2}}',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    files = Files(spark)
    assert read_uncommitted(files, str(tmp_path)) == Range({"orders": {0: 5, 1: 0}}, {"orders": {0: 7, 1: 2}})
    assert read_uncommitted(files, str(tmp_path / "not-there")) is None
