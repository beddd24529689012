"""All checks before a run, with all findings at once.

Each check yields findings and continues; it also reports what it could not read. The proof (`clients.spark.prove`) runs
between the two halves: it needs the topics that the first half has found, and the second half needs its executors.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from brokernat.clients.spark import Outcome, Proof, Role, client_properties
from brokernat.clients.spark.options import SETTINGS, profile_of
from brokernat.clients.spark.session import ClassicSession
from brokernat.config import Cluster, Pipeline
from brokernat.config.fields import Profile
from brokernat.errors import BrokernatError, ConfigError, NothingReachableError
from brokernat.pipelines.batch import current_joins
from brokernat.pipelines.check_result import CheckResult, Level, Preflight, from_error
from brokernat.pipelines.checkpoint.definition import Change, Meaning, changes, definition
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.checkpoint.state import Owner, foreign
from brokernat.pipelines.kafka.admin import TopicFacts, open_admin
from brokernat.pipelines.kafka.topic_checks import REFERENCE, SINK, SOURCE, Facts, grant, sizes, usable
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.realtime import PRODUCER_SETTINGS, lack_of_slots, outgoing, slots
from brokernat.pipelines.references import ReferenceTable
from brokernat.pipelines.references.copies import ReferenceVersion
from brokernat.pipelines.root_cause import root_cause
from brokernat.pipelines.steps.envelope import envelop
from brokernat.pipelines.steps.sink import REQUIRED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RECORDS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "headers array<struct<key:string,value:binary>>"
)

_SAME_AS = {"all": "-1"}
"""Kafka's other spelling of a value."""
_POLL_SECONDS = 0.2

SEND_BUFFER = 102_400
"""Kafka's default of a broker's `socket.send.buffer.bytes`, which a connection sends in one round trip."""


def check_clusters(spark: SparkSession, prepared: Prepared) -> Preflight:
    """Checks clusters, topics, permissions, sizes and checkpoint, on the driver only, without executors."""
    results: list[CheckResult] = []
    seen: dict[tuple[str, str], Facts] = {}
    profiles: dict[str, Profile] = {}
    for end, cluster, names in _ends(prepared):
        try:
            with open_admin(spark, client_properties(cluster), cluster.name) as admin:
                cluster_id = admin.cluster_id()
                found = seen[end, cluster.name] = admin.topics(names)
                round_trip = admin.round_trip_ms()
        except (ConfigError, NothingReachableError) as error:
            results.append(from_error(f"cluster {cluster.name}", error))
            continue
        if end != REFERENCE or cluster.name in prepared.others:
            results.append(CheckResult(f"cluster {cluster.name}", Level.OK, f"cluster id {cluster_id}"))
            profiles[cluster.name] = profile_of(round_trip) if cluster.profile == "auto" else cluster.profile
        if end != REFERENCE:
            of_mode = PRODUCER_SETTINGS if prepared.pipeline.mode == "realtime" and end == SINK else {}
            chosen = replace(cluster, profile=profiles[cluster.name])
            results += client_settings(chosen, Role(end), round_trip, of_mode)
            if end == SOURCE:
                results += several_connections(chosen, prepared.pipeline, round_trip)
        results += usable(end, cluster, found)
        if end == SOURCE:
            results += _checkpoint(Files(spark), prepared, prepared.owner(cluster_id, found))
    results += overruled(prepared.sink)
    source, sink = seen.get((SOURCE, prepared.source.name)), seen.get((SINK, prepared.sink.name))
    if source is not None and sink is not None:
        results += sizes(prepared, source, sink)
    partitions = sum(fact.partitions for fact in (source or {}).values() if isinstance(fact, TopicFacts))
    present: dict[str, tuple[str, ...]] = {}
    for end, cluster, _ in _ends(prepared):
        there = (name for name, fact in seen.get((end, cluster.name), {}).items() if isinstance(fact, TopicFacts))
        present[cluster.name] = (*present.get(cluster.name, ()), *there)
    return Preflight(tuple(results), present, partitions, profiles)


def _ends(prepared: Prepared) -> tuple[tuple[str, Cluster, tuple[str, ...]], ...]:
    sink, joined = prepared.pipeline.sink, prepared.reference_topics
    return (
        (SOURCE, prepared.source, prepared.pipeline.source.topics),
        (SINK, prepared.sink, (sink.topic, sink.dead_letters)),
        *((REFERENCE, cluster, joined[cluster.name]) for cluster in prepared.clusters if cluster.name in joined),
    )


def not_provable(proof: Proof, clusters: Iterable[Cluster]) -> Iterator[CheckResult]:
    """A warning for each cluster with brokers whose node id this user may not read."""
    for cluster in clusters:
        nodes = {
            row.node_id for row in proof.rows if row.cluster == cluster.name and row.outcome is Outcome.NOT_PROVABLE
        }
        if nodes:
            yield CheckResult(
                f"proof {cluster.name}",
                Level.WARNING,
                f"node {', '.join(map(str, sorted(filter(None, nodes))))} answered, but this user may not read its "
                "node id: swapped rules would not be found",
                grant(cluster, "DESCRIBE_CONFIGS"),
            )


def overruled(sink: Cluster) -> Iterator[CheckResult]:
    """A warning for each property of the sink's cluster that a pipeline sets itself, to another value."""
    given = sink.kafka_properties()
    for name, value in ((option.removeprefix("kafka."), value) for option, value in REQUIRED.items()):
        if given.get(name, value) not in (value, _SAME_AS.get(value)):
            message = f"{name}={given[name]} of cluster {sink.name} is not used: a pipeline writes with {name}={value}"
            yield CheckResult("sink", Level.WARNING, message, f"remove `{name}` from `client:` of this cluster")


def client_settings(
    cluster: Cluster, role: Role, round_trip_ms: float, of_mode: Mapping[str, str]
) -> Iterator[CheckResult]:
    """The settings of the clients that read or write a cluster, each with its reason.

    Args:
        of_mode: settings of the pipeline's mode, in addition to the profile.
    """
    subject = f"client {cluster.name} ({role})"
    yield CheckResult(subject, Level.OK, f"profile {cluster.profile}: a request takes {round_trip_ms:.0f} ms")
    for setting in SETTINGS[role]:
        value, reason = setting.value(cluster.profile), setting.reason
        if setting.name in cluster.client:
            value, reason = str(cluster.client[setting.name]), "from `client`"
        elif setting.name in of_mode:
            value, reason = of_mode[setting.name], "`mode: realtime`: the time that a record waits for others"
        yield CheckResult(subject, Level.OK, f"{setting.name}={value}: {reason}")


def several_connections(cluster: Cluster, pipeline: Pipeline, round_trip_ms: float) -> Iterator[CheckResult]:
    """The limit of one connection with a long round trip, and the setting that reads a partition over several."""
    if cluster.profile == "wan" and pipeline.mode != "realtime" and not pipeline.source.min_partitions:
        rate = SEND_BUFFER / round_trip_ms / 1000
        yield CheckResult(
            f"client {cluster.name} ({SOURCE})",
            Level.OK,
            f"min_partitions is not set: a broker with the default socket.send.buffer.bytes sends about {rate:.1f} "
            "MB/s to a partition's one connection; with it several connections read a partition, without its order",
        )


def _checkpoint(files: Files, prepared: Prepared, owner: Owner) -> Iterator[CheckResult]:
    subject, state, stored = "checkpoint", prepared.state, None
    try:
        problems = foreign(state.owner(files), owner)
        stored = None if state.has_begun(files) else state.starting_offsets(files)
    except ConfigError as error:
        problems = error.problems
    for problem in problems:
        yield CheckResult(subject, Level.ERROR, problem.message, problem.hint, code=2)
    for change in changes(state.definition(files), definition(prepared)) if state.has_begun(files) else ():
        yield _changed(subject, change)
    trial = f"{state.owner_file}.trial"
    try:
        files.write_text(trial, "")
        files.remove(trial)
    except Exception as error:  # noqa: BLE001 - each file system has its own exceptions
        yield CheckResult(subject, Level.ERROR, f"{state.checkpoint} cannot be written: {root_cause(error)}", code=2)
    else:
        if not problems:
            start = "" if stored is None else "; the first batch begins at the offsets of `reconcile --propose-offsets`"
            yield CheckResult(subject, Level.OK, state.checkpoint + start)


def _changed(subject: str, change: Change) -> CheckResult:
    hint = None
    if change.meaning is Meaning.KEPT_WITH_WARNING:
        hint = "if it must apply to all records, set another `checkpoint`"
    message = f"{change.what} has changed since the last start: {change.consequence}"
    return CheckResult(subject, Level.WARNING, message, hint)


def task_slots(spark: SparkSession, prepared: Prepared, partitions: int, timeout: float) -> Iterator[CheckResult]:
    """Checks that the executors have a task slot for each partition, as `mode: realtime` needs.

    It waits up to `timeout` seconds, because executors register one after the other and another application may still
    use their cores.
    """
    if prepared.pipeline.mode != "realtime":
        return
    local = ClassicSession(spark).is_local
    deadline = time.monotonic() + (0 if local else timeout)
    while problem := lack_of_slots(partitions, slots(spark)):
        if time.monotonic() >= deadline:
            yield CheckResult("task slots", Level.ERROR, problem.message, problem.hint, code=2 if local else 5)
            return
        time.sleep(_POLL_SECONDS)


def try_steps(spark: SparkSession, prepared: Prepared, references: Sequence[ReferenceTable]) -> list[CheckResult]:
    """Checks references, schema, columns and transform with a plan over no records; executors read the references."""
    envelope = envelop(spark.createDataFrame([], _RECORDS), "check")
    try:
        plan = prepared.plan()
        joins, versions = current_joins(plan, references, spark)
        if prepared.pipeline.mode == "realtime":
            outgoing(plan, envelope, joins)
        else:
            records = plan.decode_and_enrich(envelope, joins)
            plan.tags(plan.transformed(records)).unionByName(plan.dead_letters(records))
    except BrokernatError as error:
        return [from_error("steps", error)]
    except Exception as error:  # noqa: BLE001 - Spark rejects a plan with many kinds of exceptions
        return [CheckResult("steps", Level.ERROR, root_cause(error), code=2)]
    columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in plan.schema)
    decode = prepared.pipeline.decode
    return [
        *(_reference(name, version) for name, version in versions.items()),
        *([CheckResult("columns", Level.OK, f"subject {decode.subject}: {columns}")] if decode.subject else []),
        CheckResult("steps", Level.OK, "decode, enrich, transform and sink match"),
    ]


def _reference(name: str, version: ReferenceVersion) -> CheckResult:
    if not version.trouble:
        return CheckResult(f"reference {name}", Level.OK, f"version {version.id}")
    message = f"{version.trouble}; the run would use version {version.id} of an earlier run"
    return CheckResult(f"reference {name}", Level.WARNING, message)
