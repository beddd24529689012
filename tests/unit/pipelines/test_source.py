"""What Spark's Kafka source is asked for; what it does with that is in tests/integration."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brokernat.config import Cluster
from brokernat.config.model import Source
from brokernat.pipelines.checkpoint.committed import Range
from brokernat.pipelines.reading_back.shipped import read_topics
from brokernat.pipelines.steps.source import BATCH_RECORDS, read_between, read_stream, source_options

SOURCE = Source(cluster="hq", topics=["orders", "more"], starting_offsets="latest")


class Reader:
    """A DataFrameReader that reads nothing."""

    def format(self, name: str) -> Reader:
        assert name == "kafka"
        return self

    def options(self, **given: str) -> Reader:
        self.given = given
        return self

    def load(self) -> dict[str, str]:
        return self.given


SPARK: Any = SimpleNamespace(read=Reader(), readStream=Reader())


def asked(client: dict[str, str] | None = None, **how: Any) -> Any:
    """The options of a stream."""
    return read_stream(SPARK, SOURCE, source_options(Cluster("hq", (), client=client or {})), **how)


def test_a_stream_passes_over_no_record_that_is_gone() -> None:
    found = asked()
    assert (found["subscribe"], found["startingOffsets"]) == ("orders,more", "latest")
    assert (found["failOnDataLoss"], found["includeHeaders"]) == ("true", "true")
    assert found["maxOffsetsPerTrigger"] == str(BATCH_RECORDS)
    assert "maxOffsetsPerTrigger" not in asked(whole=True)


def test_what_a_lost_checkpoint_is_gone_on_at_wins_over_the_file() -> None:
    assert asked(starting='{"orders":{"0":7}}')["startingOffsets"] == '{"orders":{"0":7}}'


def test_aborted_records_are_none_unless_the_cluster_says_otherwise() -> None:
    assert asked()["kafka.isolation.level"] == "read_committed"
    assert asked({"isolation.level": "read_uncommitted"})["kafka.isolation.level"] == "read_uncommitted"


@pytest.mark.parametrize(("how", "fails"), [({}, "true"), ({"fail_on_loss": False}, "false")])
def test_a_range_that_is_gone_is_an_error_unless_it_may_be(how: dict[str, bool], fails: str) -> None:
    found: Any = read_between(SPARK, {}, Range({"orders": {0: 1, 1: 2}}, {"orders": {1: 9, 0: 3}}), **how)
    assert (found["assign"], found["failOnDataLoss"]) == ('{"orders": [0, 1]}', fails)
    assert found["startingOffsets"] == '{"orders": {"0": 1, "1": 2}}'
    assert found["endingOffsets"] == '{"orders": {"1": 9, "0": 3}}'


def test_a_topic_that_loses_records_while_it_is_read_back_is_no_whole_one() -> None:
    found: Any = read_topics(SPARK, Cluster("hq", ()), "tags", "dead")
    assert (found["subscribe"], found["failOnDataLoss"]) == ("tags,dead", "true")
    assert (found["startingOffsets"], found["endingOffsets"]) == ("earliest", "latest")
