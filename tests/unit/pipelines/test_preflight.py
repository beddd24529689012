"""What the findings come to; the rest of the check is asked of real brokers elsewhere."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brokernat.address import Endpoint
from brokernat.clients.spark import Outcome, Proof, ProofRow, Role
from brokernat.clients.spark.options import profile_of
from brokernat.config import Cluster, load
from brokernat.config.fields import Profile
from brokernat.pipelines import preflight
from brokernat.pipelines.check_result import CheckResult, Level, Preflight
from brokernat.pipelines.checkpoint.state import State
from brokernat.pipelines.kafka.admin import TopicFacts
from brokernat.pipelines.kafka.topic_checks import usable
from brokernat.pipelines.preflight import client_settings, not_provable, several_connections, task_slots
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.realtime import PRODUCER_SETTINGS, sink_options


def test_the_smallest_code_of_an_error_counts_and_warnings_do_not() -> None:
    results = (
        CheckResult("a", Level.ERROR, "", code=5),
        CheckResult("b", Level.WARNING, "", code=2),
        CheckResult("c", Level.ERROR, "", code=3),
    )
    assert Preflight(results, {}).exit_code == 3
    assert Preflight(results[1:2], {}).exit_code == 0


def test_brokers_that_may_not_be_asked_are_named_by_cluster_with_the_right_to_grant() -> None:
    hq, local = (Cluster(name, (Endpoint("gw", 9093),), client={"sasl.username": "app"}) for name in ("hq", "local"))
    outcomes = (("hq", 1, Outcome.PROVED), ("hq", 3, Outcome.NOT_PROVABLE), ("hq", 2, Outcome.NOT_PROVABLE))
    rows = [ProofRow(who, "", name, node, "", "", out) for who in ("driver", "0") for name, node, out in outcomes]
    rows.append(ProofRow("driver", "", "local", 1, "", "", Outcome.PROVED))
    (found,) = not_provable(Proof(tuple(rows)), (hq, local))
    assert (found.subject, found.level) == ("proof hq", Level.WARNING)
    assert found.message.startswith("node 2, 3 answered")
    assert "User:app --operation DescribeConfigs --cluster" in (found.hint or "")


@pytest.mark.parametrize(
    ("end", "allowed", "level"),
    [
        ("source", {"READ", "DESCRIBE"}, Level.OK),
        ("source", {"WRITE", "DESCRIBE"}, Level.ERROR),
        ("sink", {"WRITE"}, Level.OK),
        ("sink", {"READ", "DESCRIBE"}, Level.ERROR),
        ("sink", {"ALL"}, Level.OK),
        ("reference", {"WRITE"}, Level.ERROR),
        # A broker that does not tell.
        ("sink", None, Level.OK),
    ],
)
def test_what_reads_needs_another_right_than_what_writes(end: str, allowed: set[str] | None, level: Level) -> None:
    operations = None if allowed is None else frozenset(allowed)
    (found,) = usable(end, Cluster("hq", ()), {"orders": TopicFacts("orders", 3, operations, None)})
    assert found.level is level
    assert (f"no {'WRITE' if end == 'sink' else 'READ'} permission" in found.message) is (level is Level.ERROR)


@pytest.mark.parametrize(("milliseconds", "profile", "records"), [(1.4, "lan", 10_000), (52.0, "wan", 50_000)])
def test_the_round_trip_chooses_the_settings_and_each_is_shown_with_its_reason(
    milliseconds: float, profile: Profile, records: int
) -> None:
    assert profile_of(milliseconds) == profile
    hq = Cluster("hq", (Endpoint("gw", 9093),), client={"max.partition.fetch.bytes": "7"}, profile=profile)
    first, *settings = client_settings(hq, Role.SOURCE, milliseconds, {})
    assert (first.subject, first.level) == ("client hq (source)", Level.OK)
    assert first.message == f"profile {profile}: a request takes {milliseconds:.0f} ms"
    shown = dict(result.message.split(": ", 1) for result in settings)
    assert shown[f"max.poll.records={records}"].startswith("Spark requests the beginning and the end")
    assert shown["max.partition.fetch.bytes=7"] == "from `client`"
    assert shown["fetch.max.wait.ms=50"].endswith("a batch that reads to the end of a partition waits half a second")
    assert all(shown.values())


@pytest.mark.parametrize(
    ("profile", "mode", "min_partitions", "shown"),
    [
        ("wan", "micro-batch", None, True),
        ("wan", "micro-batch", 8, False),
        ("wan", "realtime", None, False),
        ("lan", "micro-batch", None, False),
    ],
)
def test_several_connections_are_named_where_they_help(
    profile: Profile, mode: str, min_partitions: int | None, shown: bool
) -> None:
    hq = Cluster("hq", (Endpoint("gw", 9093),), profile=profile)
    pipeline = SimpleNamespace(mode=mode, source=SimpleNamespace(min_partitions=min_partitions))
    found = list(several_connections(hq, cast("Any", pipeline), 50.0))
    assert ["about 2.0 MB/s" in result.message for result in found] == [True] * shown


def test_realtime_shows_how_long_its_producer_waits_and_the_cluster_may_say_otherwise() -> None:
    for client, expected in (({}, "linger.ms=5: `mode: realtime`"), ({"linger.ms": "3"}, "linger.ms=3: from `client`")):
        cluster = Cluster("local", (Endpoint("gw", 9093),), client=client)
        shown = [result.message for result in client_settings(cluster, Role.SINK, 1, PRODUCER_SETTINGS)]
        assert any(message.startswith(expected) for message in shown)
        assert sink_options(cluster)["kafka.linger.ms"] == expected[len("linger.ms=")]


def test_measured_profiles_reach_both_ends_of_a_pipeline() -> None:
    hq, local = (Cluster(name, (Endpoint("gw", 9093),)) for name in ("hq", "local"))
    prepared = Prepared(cast("Any", None), hq, local, Path(), State("")).with_profiles({"hq": "wan", "local": "lan"})
    assert (prepared.source.profile, prepared.sink.profile) == ("wan", "lan")
    same = Prepared(cast("Any", None), hq, hq, Path(), State("")).with_profiles({"hq": "wan"})
    assert same.clusters == (same.source,)
    assert same.source.profile == "wan"


def test_the_cluster_of_a_reference_is_one_of_the_pipeline_s(tmp_path: Path) -> None:
    file = tmp_path / "brokernat.yaml"
    topic = "{cluster: %s, topic: %s, decode: {format: json, schema: name STRING}}"
    file.write_text(f"""
clusters:
  hq: {{bootstrap_servers: "gw:1"}}
  local: {{bootstrap_servers: "gw:2"}}
  crm: {{bootstrap_servers: "gw:3"}}
pipelines:
  tags:
    source: {{cluster: hq, topics: [orders]}}
    decode: {{format: json, schema: id STRING}}
    enrich: [{{reference: one, key: id}}, {{reference: two, key: id}}, {{reference: one, key: name}}]
    references:
      one: {{kafka: {topic % ("crm", "customers")}}}
      two: {{kafka: {topic % ("hq", "regions")}}}
      unused: {{kafka: {topic % ("local", "unused")}}}
    sink: {{cluster: local, topic: tags, dead_letters: dead}}
    checkpoint: state
""")
    prepared = Prepared.of(load(file), "tags")
    assert [each.name for each in prepared.clusters] == ["hq", "local", "crm"]
    assert prepared.topics == {"hq": ("orders", "regions"), "local": ("tags", "dead"), "crm": ("customers",)}
    measured = prepared.with_profiles({"crm": "wan"})
    assert [each.profile for each in measured.clusters] == ["auto", "auto", "wan"]
    assert prepared.driver_jars() == ()


@pytest.mark.parametrize(
    ("local", "seen", "expected"),
    [(False, [0, 1, 3], []), (True, [2], [(2, "Spark runs 2 tasks at once")]), (False, [2], [(5, "--master")])],
    ids=["executors come one by one", "one machine", "a cluster without free cores"],
)
def test_slots_of_a_cluster_are_waited_for(
    monkeypatch: pytest.MonkeyPatch, local: bool, seen: list[int], expected: list[tuple[int, str]]
) -> None:
    given = iter(seen)
    monkeypatch.setattr(preflight, "slots", lambda _: next(given, seen[-1]))
    monkeypatch.setattr(preflight, "ClassicSession", lambda _: SimpleNamespace(is_local=local))
    monkeypatch.setattr(preflight, "_POLL_SECONDS", 0)
    prepared: Any = SimpleNamespace(pipeline=SimpleNamespace(mode="realtime"))
    spark: Any = None

    found = list(task_slots(spark, prepared, 3, timeout=60 if len(seen) > 1 else 0))

    assert [result.code for result in found] == [code for code, _ in expected]
    assert all(text in f"{r.message} {r.hint}" for r, (_, text) in zip(found, expected, strict=True))
