"""What a run knows at a moment, and when it needs somebody."""

from dataclasses import replace

from tests.unit.pipelines.status.runs import MAP, PIPELINE, PROOF, START, progress, row, running

from brokernat.clients.spark import Outcome, Proof
from brokernat.pipelines.progress import Progress
from brokernat.pipelines.status import SAMPLES, ExecutorMap, Phase, RunStatus

BUSY = "Getting offsets from KafkaV2[Subscribe[orders]]"


def test_a_run_is_healthy_from_its_start_to_its_end() -> None:
    status = RunStatus.of(PIPELINE, START)
    assert status.trouble(START + 1) == "the query has not started yet"
    status = status.proved(PROOF).started(1, START + 30)
    assert status.trouble(START + 30) is None
    assert replace(status, phase=Phase.FINISHING).trouble(START + 30) is None
    assert status.ended().trouble(START + 60) == "the query has ended"
    failed = status.ended("a record is too large for the sink\nhint: raise the limit")
    assert failed.trouble(START + 60) == "the query failed: a record is too large for the sink"


def test_a_batch_without_progress_is_stalled_and_says_what_spark_does() -> None:
    status = running().followed(progress(3), BUSY, START + 100)
    last = START + 30
    assert status.trouble(last + 300) is None
    assert status.trouble(last + 301) == f"no progress for 301 s: {BUSY}"
    assert status.followed(progress(4), BUSY, last + 301).trouble(last + 302) is None


def test_a_query_that_waits_for_records_makes_progress() -> None:
    later = START + 100_000
    status = running().followed(progress(3), None, later)
    assert status.seconds_since_progress(later) == 0
    assert status.trouble(later) is None
    assert status.activity == "waiting for records"


def test_real_time_mode_has_one_epoch_more() -> None:
    pipeline = PIPELINE.model_copy(update={"mode": "realtime", "epoch": "2 minutes", "stalled_after": "30 seconds"})
    status = RunStatus.of(pipeline, START).started(1, START).followed(Progress(), BUSY, START + 1)
    assert status.trouble(START + 150) is None
    assert status.trouble(START + 151) == f"no progress for 151 s: {BUSY}"


def test_the_samples_are_few_and_the_oldest_go() -> None:
    status = running(0)
    for second in range(1, 6 * SAMPLES):
        status = status.followed(Progress(), None, START + second)
    times = [sample.at - START for sample in status.samples]
    assert len(times) == SAMPLES
    assert (times[0], times[-1]) == (5 * (6 * SAMPLES // 5 - SAMPLES), 6 * SAMPLES - 5)


def test_routes_and_maps_are_those_of_every_jvm_also_of_those_that_joined() -> None:
    status = running().proved(Proof((row("2", 1), row("2", 2, Outcome.NOT_PROVABLE))))
    first, second, third = status.routes
    assert (first.advertised, first.reachable) == ("192.168.1.23:9092", "172.10.1.40:9093")
    assert first.proved_by == ("driver", "1", "2")
    assert (second.proved_by, second.not_provable_by) == (("driver", "1"), ("2",))
    assert third.node_id == 3
    assert [each.executor for each in status.maps] == ["driver", "1", "2"]
    assert status.maps[0] == ExecutorMap("driver", "host-driver", "hq", MAP, "0.1.0")
