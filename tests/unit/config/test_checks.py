"""Checks between sections find their problems where other parts of the file are wrong."""

import pytest

from brokernat.config.checks import check
from brokernat.config.document import parse_document


def kinds(text: str) -> list[str]:
    return [problem.code for problem in check(parse_document(text, "f"))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("clusters: 7\npipelines: {t: {source: {cluster: hq}}}", ["unknown-cluster"]),
        ("clusters: {hq: 7}\npipelines: {t: {source: {cluster: hq}, sink: 7}}", []),
        ("pipelines: {t: {enrich: [{reference: x}, 7, {}], references: []}}", ["unknown-reference"]),
        ("pipelines: {t: {enrich: 7, references: {x: 7}}}", []),
        ("pipelines: [7]", []),
        ("clusters: {hq: {address_map: [7], broker_nat: {}}}", ["two-maps"]),
        ("clusters: {hq: {address_map: , broker_nat: a:1}}", ["empty"]),
        ("pipelines: {t: {source: {topics: x}, sink: {topic: x, dead_letters: x}}}", ["same-topic"]),
        ("pipelines: {t: {mode: realtime, trigger_interval: 1 second}}", ["other-mode"]),
        (
            "pipelines: {t: {mode: realtime, source: {max_offsets_per_trigger: 7, min_partitions: 7}}}",
            ["other-mode"] * 2,
        ),
        ("pipelines: {t: {mode: realtime, references: {r: {refresh: every_batch}}}}", ["other-mode"]),
        ("pipelines: {t: {mode: realtime, epoch: 9 seconds, references: {r: {refresh: every_epoch}}}}", []),
        ("pipelines: {t: {epoch: 9 seconds, references: {r: {refresh: every_epoch}}}}", ["other-mode"] * 2),
        ("pipelines: {t: {mode: 7, references: 7, source: 7}}", []),
        ("7", []),
    ],
)
def test_checks(text: str, found: list[str]) -> None:
    assert kinds(text) == found
