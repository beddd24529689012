"""How a run is shown where there is no terminal, and the line that is kept up to date where there is one."""

import json
from dataclasses import replace

import pytest

from brokernat.cli import console
from brokernat.cli.pipeline import WAITING, display, summary
from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.progress import Progress
from brokernat.pipelines.references.copies import ReferenceVersion
from brokernat.pipelines.steps.counting import Counts

REPORT = BatchReport(4, Counts(10, 8, 1, 1, {"NullKey": 1}), 2.0, {"customers": ReferenceVersion("abc", 0.0)})
SPARK_REPORT = {
    "batchId": 4,
    "sources": [{"endOffset": {"t": {"0": 3}}, "latestOffset": {"t": {"0": 10}}}],
    "durationMs": {"addBatch": 1900},
}
PROGRESS = Progress().after(REPORT)


def test_a_line_for_each_batch_and_none_between(capsys: pytest.CaptureFixture[str]) -> None:
    with display("text") as show:
        show(Progress(), None)
        show(PROGRESS, REPORT)
        show(PROGRESS, None)
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "batch 4: 10 in = 8 tags + 1 dead letter + 1 filtered; 5 records/s\n"


def test_batches_that_come_faster_than_one_reads_share_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    progress = Progress()
    with display("text") as show:
        for number in range(6):
            report = replace(REPORT, batch_id=number)
            progress = progress.after(report)
            show(progress, report)
            now += 2
        show(progress, None)
        last = replace(REPORT, batch_id=6)
        show(progress.after(last), last)
        assert "batch 6" not in (before := capsys.readouterr().err)
    assert (before + capsys.readouterr().err).splitlines() == [
        "batch 0: 10 in = 8 tags + 1 dead letter + 1 filtered; 5 records/s",
        "batches 1 to 3: 30 in = 24 tags + 3 dead letters + 3 filtered; 5 records/s",
        "batches 4 to 5: 20 in = 16 tags + 2 dead letters + 2 filtered; 5 records/s",
        "batch 6: 10 in = 8 tags + 1 dead letter + 1 filtered; 5 records/s",
    ]


def test_a_json_line_for_each_batch(capsys: pytest.CaptureFixture[str]) -> None:
    with display("json") as show:
        show(PROGRESS, REPORT)
        show(PROGRESS, None)
    (line,) = capsys.readouterr().out.splitlines()
    counts = {"received": 10, "tags": 8, "dead_letters": 1, "filtered": 1, "causes": {"NullKey": 1}}
    about = {"version": 1, "batch": 4, "seconds": 2.0, "references": {"customers": "abc"}, "lag": None}
    assert json.loads(line) == counts | about


def test_the_line_says_that_it_waits_and_how_much_is_behind() -> None:
    assert summary(Progress()) == WAITING
    behind = PROGRESS.with_reports([SPARK_REPORT])
    assert summary(behind).endswith("5 records/s, lag 7")


def test_a_line_of_the_json_log_waits_for_sparks_report_of_its_batch(capsys: pytest.CaptureFixture[str]) -> None:
    console.log_as_json(True)
    with display("text", "json") as show:
        show(PROGRESS, REPORT)
        assert capsys.readouterr().err == ""
        show(PROGRESS.with_reports([SPARK_REPORT]), None)
    console.log_as_json(False)
    out, err = capsys.readouterr()
    line = json.loads(err)
    assert (out, line["message"].startswith("batch 4: 10 in = 8 tags")) == ("", True)
    assert (line["lag"], line["steps"], line["causes"]) == (7, {"addBatch": 1.9}, {"NullKey": 1})
    assert line["partitions"] == [{"topic": "t", "partition": 0, "end": 3, "latest": 10, "lag": 7}]
    assert line["references"][0]["version"] == "abc"
