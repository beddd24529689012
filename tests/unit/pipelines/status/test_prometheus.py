"""The metrics, read by Prometheus' own parser."""

from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families
from tests.unit.pipelines.status.runs import MAP, PIPELINE, START, running

from brokernat.pipelines.progress import Progress
from brokernat.pipelines.status import RunStatus
from brokernat.pipelines.status.prometheus import metrics, metrics_text


def parsed(status: RunStatus, now: float) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    families = text_string_to_metric_families(metrics_text(status, now))
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


def value(status: RunStatus, now: float, name: str, **labels: str) -> float:
    return parsed(status, now)[name, frozenset({"pipeline": "tags", **labels}.items())]


def test_a_run_in_numbers() -> None:
    status, now = running(), START + 31
    expected: Mapping[tuple[str, tuple[tuple[str, str], ...]], float] = {
        ("brokernat_healthy", ()): 1,
        ("brokernat_starts_total", ()): 2,
        ("brokernat_seconds_since_progress", ()): 1,
        ("brokernat_records_received_total", ()): 300,
        ("brokernat_tags_total", ()): 270,
        ("brokernat_filtered_total", ()): 18,
        ("brokernat_dead_letters_total", (("cause", "MissingReference"),)): 9,
        # A cause that did not occur is 0 and not absent: a rate has a beginning then.
        ("brokernat_dead_letters_total", (("cause", "Tombstone"),)): 0,
        ("brokernat_batch_step_seconds_total", (("step", "addBatch"),)): 1.8 * 3,
        ("brokernat_partition_lag", (("topic", "orders"), ("partition", "0"))): 7,
        ("brokernat_partition_end_offset", (("topic", "orders"), ("partition", "0"))): 150,
        ("brokernat_reference_age_seconds", (("reference", "customers"),)): 91,
    }
    for (name, labels), wanted in expected.items():
        assert abs(value(status, now, name, **dict(labels)) - wanted) < 1e-6, name
    shown = {"executor": "1", "host": "host-1", "cluster": "hq", "fingerprint": MAP, "agent": "0.1.0"}
    assert value(status, now, "brokernat_address_map_info", **shown) == 1
    assert value(status, now + 600, "brokernat_healthy") == 0


def test_a_run_that_has_only_begun_has_metrics() -> None:
    status = RunStatus.of(PIPELINE, START)
    assert value(status, START, "brokernat_healthy") == 0
    assert not [name for name, _ in parsed(status, START) if name.startswith("brokernat_partition")]


def test_names_and_labels_are_prometheus_own_form() -> None:
    status = running()
    found = list(metrics(status, START))
    assert len({metric.name for metric in found}) == len(found)
    assert all(metric.name.endswith("_total") == (metric.kind == "counter") for metric in found)


def test_what_stands_in_a_label_is_escaped() -> None:
    name = 'a"b\\c\nd'
    status = RunStatus.of(PIPELINE.model_copy(update={"name": name}), START).followed(Progress(), None, START)
    assert {labels for metric, labels in parsed(status, START) if metric == "brokernat_healthy"} == {
        frozenset({("pipeline", name)})
    }
