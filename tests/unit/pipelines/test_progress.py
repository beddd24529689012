from typing import Any

from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.progress import PartitionProgress, Progress, partitions
from brokernat.pipelines.references.copies import ReferenceVersion
from brokernat.pipelines.steps.counting import Counts


def spark_report(batch: int, end: Any, latest: Any, **milliseconds: int) -> dict[str, Any]:
    return {"batchId": batch, "sources": [{"endOffset": end, "latestOffset": latest}], "durationMs": milliseconds}


def test_batches_add_up() -> None:
    first = BatchReport(4, Counts(10, 7, 2, 1, {"NullKey": 2}), 2.0, {})
    version = ReferenceVersion("abc", 3.0)
    second = BatchReport(5, Counts(30, 29, 1, 0, {"NullKey": 1}), 1.0, {"customers": version})
    progress = Progress().after(first).after(second)
    assert (progress.counts, progress.batches, progress.last_batch) == (Counts(40, 36, 3, 1), 2, 5)
    assert progress.counts.causes == {"NullKey": 3}
    assert (progress.rate, progress.seconds, progress.versions) == (30.0, 3.0, {"customers": version})


def test_lag_is_the_sum_over_partitions_in_both_forms_of_offsets() -> None:
    as_text = spark_report(0, '{"t": {"0": 5, "1": 7}}', '{"t": {"0": 9, "1": 7}}')
    as_objects = spark_report(0, {"t": {"0": 5}}, {"t": {"0": 6}, "u": {"0": 3}})
    assert [Progress().with_reports([report]).lag for report in (as_text, as_objects)] == [4, 1]
    assert partitions(as_objects) == (PartitionProgress("t", 0, 5, 6), PartitionProgress("u", 0, 3, 3))


def test_a_partition_that_is_read_beyond_what_was_planned_hides_no_lag_of_another() -> None:
    progress = Progress().with_reports([spark_report(0, {"t": {"0": 9, "1": 1}}, {"t": {"0": 5, "1": 4}})])
    assert [partition.lag for partition in progress.partitions] == [0, 3]
    assert progress.lag == 3


def test_a_report_without_ends_keeps_the_last_lag() -> None:
    progress = Progress().with_reports([spark_report(0, {"t": {"0": 1}}, {"t": {"0": 3}})])
    assert progress.with_reports([]).with_reports([{**spark_report(1, {}, {}, addBatch=1), "sources": [{}]}]).lag == 2
    assert Progress().with_reports([]).lag is None


def test_a_report_counts_once_however_often_it_is_seen() -> None:
    reports = [spark_report(n, {}, {}, addBatch=1500, walCommit=20) for n in (7, 8)]
    progress = Progress().with_reports(reports[:1]).with_reports(reports).with_reports(reports)
    assert progress.steps == {"addBatch": 1.5, "walCommit": 0.02}
    assert progress.steps_total == {"addBatch": 3.0, "walCommit": 0.04}
    assert progress.committed == 8


def test_what_spark_reports_while_it_waits_hides_neither_the_last_batch_nor_the_next() -> None:
    progress = Progress().with_reports([spark_report(0, {"t": {"0": 5}}, {"t": {"0": 5}}, addBatch=1500)])
    waiting = spark_report(1, {"t": {"0": 5}}, {"t": {"0": 5}}, latestOffset=11)
    assert progress.with_reports([waiting]) == progress
    next_one = spark_report(1, {"t": {"0": 9}}, {"t": {"0": 9}}, addBatch=500)
    progress = progress.with_reports([waiting, next_one])
    assert (progress.committed, progress.partitions[0].end, progress.steps_total) == (1, 9, {"addBatch": 2.0})
