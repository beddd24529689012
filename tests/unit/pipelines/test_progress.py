from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.counting import Counts
from brokernat.pipelines.progress import Progress, lag


def test_batches_add_up() -> None:
    first = BatchReport(4, Counts(10, 7, 2, 1), 2.0, {})
    progress = Progress().after(first).after(BatchReport(5, Counts(30, 30), 1.0, {}))
    assert (progress.counts, progress.batches, progress.last_batch) == (Counts(40, 37, 2, 1), 2, 5)
    assert progress.rate == 30.0


def test_lag_is_the_sum_over_partitions_in_both_forms_of_offsets() -> None:
    as_text = {"sources": [{"endOffset": '{"t": {"0": 5, "1": 7}}', "latestOffset": '{"t": {"0": 9, "1": 7}}'}]}
    as_objects = {"sources": [{"endOffset": {"t": {"0": 5}}, "latestOffset": {"t": {"0": 6}, "u": {"0": 3}}}]}
    assert (lag(as_text), lag(as_objects)) == (4, 1)


def test_no_report_keeps_the_last_lag() -> None:
    progress = Progress().with_lag({"sources": [{"endOffset": {"t": {"0": 1}}, "latestOffset": {"t": {"0": 3}}}]})
    assert progress.with_lag(None).with_lag({"sources": [{}]}).lag == 2
