"""Topics that are named: what stops clients, and what is only told."""

from __future__ import annotations

from typing import Literal

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import BROKERS, mapped

from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Coordinator, TopicSeen
from brokernat.doctor.finding import Severity

HEALTHY = mapped({1: 1, 2: 2, 3: 3})


@pytest.mark.parametrize(
    ("seen", "code", "severity"),
    [
        (TopicSeen("audit", partitions=3), None, None),
        (TopicSeen("audit", partitions=3, rights=("READ", "WRITE", "DESCRIBE")), None, None),
        (TopicSeen("audit", partitions=3, rights=("WRITE", "DESCRIBE")), "BN509", Severity.INFO),
        (TopicSeen("audit", partitions=3, rights=("DESCRIBE",)), "BN509", Severity.ERROR),
        (TopicSeen("audit", "TOPIC_AUTHORIZATION_FAILED"), "BN509", Severity.ERROR),
        (TopicSeen("audit", "UNKNOWN_TOPIC_OR_PARTITION"), "BN508", Severity.ERROR),
        (TopicSeen("a b", "INVALID_TOPIC_EXCEPTION"), "BN508", Severity.ERROR),
        (TopicSeen("audit", "not-answered"), "BN508", Severity.WARNING),
        (TopicSeen("audit", partitions=3, in_sync=2, required=2), None, None),
        (TopicSeen("audit", partitions=3, in_sync=1), None, None),
        (TopicSeen("audit", partitions=3, in_sync=1, required=2), "BN511", Severity.ERROR),
    ],
)
def test_a_topic(seen: TopicSeen, code: str | None, severity: Severity | None) -> None:
    found = diagnose(replace(HEALTHY, topics=(seen,)))
    assert [(each.code, each.severity) for each in found.findings] == ([(code, severity)] if code else [])
    assert (found.cause.code if found.cause else None) == (code if severity is Severity.ERROR else None)


@pytest.mark.parametrize(
    ("right", "kind", "severity"),
    [
        ("WRITE", "group", Severity.ERROR),
        ("READ", "group", None),
        ("READ", "transaction", Severity.ERROR),
        ("WRITE", "transaction", None),
    ],
)
def test_a_group_is_named_for_a_consumer_and_an_id_for_a_producer(
    right: str, kind: Literal["group", "transaction"], severity: Severity | None
) -> None:
    """One that has the right it needs may lack the other one."""
    seen = TopicSeen("audit", partitions=3, rights=(right, "DESCRIBE"))
    evidence = replace(HEALTHY, topics=(seen,), coordinators=(Coordinator(kind, "app", BROKERS[0]),))
    (finding,) = diagnose(evidence).findings
    assert (finding.code, finding.severity) == ("BN509", severity or Severity.INFO)


def test_each_missing_right_has_its_line() -> None:
    (finding,) = diagnose(replace(HEALTHY, topics=(TopicSeen("audit", "TOPIC_AUTHORIZATION_FAILED"),))).findings
    rights = [line.partition("--operation ")[2] for line in finding.remedy.broker]
    assert rights == ["Read --topic audit", "Write --topic audit"]
    assert finding.remedy.client == ("the broker does not tell this user whether the topic exists: compare its name",)


def test_topics_are_looked_at_only_where_one_is_named() -> None:
    assert {"BN508", "BN509"} <= {each.code for each in diagnose(HEALTHY).skipped}


@pytest.mark.parametrize("behind", [(2,), (4,)], ids=["reached", "not reached"])
def test_a_node_that_answers_is_not_to_be_started(behind: tuple[int, ...]) -> None:
    seen = TopicSeen("audit", partitions=3, in_sync=1, required=2, out_of_sync=behind)
    (finding,) = (each for each in diagnose(replace(HEALTHY, topics=(seen,))).findings if each.code == "BN511")
    (line,) = finding.remedy.broker
    assert line.startswith("node 2 runs, and its replica is behind: look" if behind == (2,) else "start node 4, or")
