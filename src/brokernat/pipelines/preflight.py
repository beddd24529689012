"""Everything that can be known before the first record: all findings at once, none by the query's death at night.

Each check yields findings and goes on; what it could not see it says. The proof (`clients.spark.prove`) stands between
the two halves: it asks about the topics that the first has found, and the second waits for executors that it has met.
Sink topics are not created: who may create them, with how many partitions and replicas, is the owner's business; the
command is given.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark import Outcome, client_properties
from brokernat.errors import BrokernatError, ConfigError, NothingReachableError
from brokernat.pipelines.batch import current_joins
from brokernat.pipelines.envelope import envelop
from brokernat.pipelines.files import Files
from brokernat.pipelines.kafka_admin import TopicFacts, open_admin
from brokernat.pipelines.kafka_commands import create_topic, grant, raise_message_size
from brokernat.pipelines.root_cause import root_cause
from brokernat.pipelines.state import foreign

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyspark.sql import SparkSession

    from brokernat.clients.spark import Proof
    from brokernat.config import Cluster
    from brokernat.pipelines.kafka_admin import Unseen
    from brokernat.pipelines.pipeline import Prepared
    from brokernat.pipelines.state import Owner

    _Facts = Mapping[str, TopicFacts | Unseen]

SOURCE, SINK = "source", "sink"

_ENVELOPE_BYTES = 2_048
"""What coordinates and causes add to a record at most, as far as we write them ourselves."""

_COMPACTED = (
    "take a topic with cleanup.policy=delete; else make sure that no key is null, and know that Kafka removes a record "
    "once a newer one has its key, which `reconcile` cannot tell from a loss"
)

_RECORDS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "headers array<struct<key:string,value:binary>>"
)


class Level(enum.StrEnum):
    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found. `code` is the exit code that an error of this kind asks for."""

    subject: str
    level: Level
    message: str
    hint: str | None = None
    code: int = 5


@dataclass(frozen=True, slots=True)
class Preflight:
    """All results, and the topics that are there, by cluster name: those that a proof can ask about."""

    results: tuple[CheckResult, ...]
    topics: dict[str, tuple[str, ...]]

    @property
    def exit_code(self) -> int:
        """The smallest code that an error asks for: what comes first has to be put right first."""
        return min((result.code for result in self.results if result.level is Level.ERROR), default=0)

    def and_then(self, results: Iterable[CheckResult]) -> Preflight:
        """These results and further ones."""
        return replace(self, results=(*self.results, *results))


def look_at_clusters(spark: SparkSession, prepared: Prepared) -> Preflight:
    """Clusters, topics, rights, sizes, checkpoint: asked on the driver alone, so that no busy executor can delay it."""
    results: list[CheckResult] = []
    seen: dict[str, _Facts] = {}
    for end, cluster, names in _ends(prepared):
        try:
            with open_admin(spark, client_properties(cluster), cluster.name) as admin:
                cluster_id = admin.cluster_id()
                seen[end] = admin.topics(names)
        except (ConfigError, NothingReachableError) as error:
            results.append(_from_error(f"cluster {cluster.name}", error))
            continue
        results.append(CheckResult(f"cluster {cluster.name}", Level.OK, f"cluster id {cluster_id}"))
        results += _topics(end, cluster, seen[end])
        if end == SOURCE:
            results += _checkpoint(Files(spark), prepared, prepared.owner(cluster_id, seen[end]))
    if SOURCE in seen and SINK in seen:
        results += _sizes(prepared, seen[SOURCE], seen[SINK])
    present: dict[str, tuple[str, ...]] = {}
    for end, cluster, _ in _ends(prepared):
        there = (name for name, fact in seen.get(end, {}).items() if isinstance(fact, TopicFacts))
        present[cluster.name] = (*present.get(cluster.name, ()), *there)
    return Preflight(tuple(results), present)


def _ends(prepared: Prepared) -> tuple[tuple[str, Cluster, tuple[str, ...]], ...]:
    sink = prepared.pipeline.sink
    return (
        (SOURCE, prepared.source, prepared.pipeline.source.topics),
        (SINK, prepared.sink, (sink.topic, sink.dead_letters)),
    )


def _topics(end: str, cluster: Cluster, facts: _Facts) -> Iterator[CheckResult]:
    right = "READ" if end == SOURCE else "WRITE"
    for name, fact in facts.items():
        subject = f"{end} topic {name}"
        if not isinstance(fact, TopicFacts):
            yield _unseen(subject, end, cluster, fact, right)
        elif fact.operations is not None and not fact.operations & {right, "ALL"}:
            message = f"no {right} right on `{name}` in `{cluster.name}`"
            yield CheckResult(subject, Level.ERROR, message, grant(cluster, right, topic=name))
        else:
            known = "" if fact.operations is not None else f"; the broker does not say whether {right} is allowed"
            yield CheckResult(subject, Level.OK, f"{fact.partitions} partitions{known}")
        if end == SINK and isinstance(fact, TopicFacts) and fact.compacted:
            message = f"`{name}` is compacted: it refuses a record without a key, which would stop the run"
            yield CheckResult(subject, Level.WARNING, message, _COMPACTED)


def _unseen(subject: str, end: str, cluster: Cluster, fact: Unseen, right: str) -> CheckResult:
    if fact.exists is False:
        hint = create_topic(cluster, fact.name) if end == SINK else "is the name right, and may this user DESCRIBE it?"
        return CheckResult(subject, Level.ERROR, f"there is no topic `{fact.name}` in `{cluster.name}`", hint)
    if fact.exists is None:
        message = f"no right on `{fact.name}` in `{cluster.name}`, not even to see whether it is there"
        return CheckResult(subject, Level.ERROR, message, grant(cluster, right, topic=fact.name))
    return CheckResult(subject, Level.ERROR, f"`{fact.name}` cannot be looked at: {fact.cause}")


def not_provable(proof: Proof, clusters: Iterable[Cluster]) -> Iterator[CheckResult]:
    """A warning for each cluster with brokers that were reached and may not be asked who they are."""
    for cluster in clusters:
        nodes = {
            row.node_id for row in proof.rows if row.cluster == cluster.name and row.outcome is Outcome.NOT_PROVABLE
        }
        if nodes:
            yield CheckResult(
                f"proof {cluster.name}",
                Level.WARNING,
                f"node {', '.join(map(str, sorted(filter(None, nodes))))} answered and may not be asked who it is: "
                "two swapped rules would not be found",
                grant(cluster, "DESCRIBE_CONFIGS"),
            )


def _sizes(prepared: Prepared, source: _Facts, sink: _Facts) -> Iterator[CheckResult]:
    for cluster, facts in ((prepared.source, source), (prepared.sink, sink)):
        for name in (f.name for f in facts.values() if isinstance(f, TopicFacts) and f.max_message_bytes is None):
            message = f"max.message.bytes of `{name}` cannot be read"
            hint = grant(cluster, "DESCRIBE_CONFIGS", topic=name)
            yield CheckResult(f"message size {name}", Level.WARNING, message, hint)
    largest = max((_limit(fact) or 0 for fact in source.values()), default=0)
    for name, limit in ((name, _limit(fact)) for name, fact in sink.items()):
        if not limit or not largest:
            continue
        subject = f"message size {name}"
        if limit < largest:
            message = f"`{name}` takes {limit} bytes, the source up to {largest}, and headers add to that"
            hint = raise_message_size(prepared.sink, name, largest + _ENVELOPE_BYTES)
            yield CheckResult(subject, Level.WARNING, message, hint)
        else:
            # Kafka's default on both sides is no reason to warn at each start: who sends records of a megabyte knows.
            near = "; headers may not fit to its largest records" if limit < largest + _ENVELOPE_BYTES else ""
            yield CheckResult(subject, Level.OK, f"{limit} bytes, source {largest}{near}")


def _limit(fact: TopicFacts | Unseen) -> int | None:
    return fact.max_message_bytes if isinstance(fact, TopicFacts) else None


def _checkpoint(files: Files, prepared: Prepared, owner: Owner) -> Iterator[CheckResult]:
    subject, state = "checkpoint", prepared.state
    try:
        problems = foreign(state.owner(files), owner)
    except ConfigError as error:
        problems = error.problems
    for problem in problems:
        yield CheckResult(subject, Level.ERROR, problem.message, problem.hint, code=2)
    trial = f"{state.owner_file}.trial"
    try:
        files.write_text(trial, "")
        files.remove(trial)
    except Exception as error:  # noqa: BLE001 - each file system has its own classes
        yield CheckResult(subject, Level.ERROR, f"{state.checkpoint} cannot be written: {root_cause(error)}", code=2)
    else:
        if not problems:
            yield CheckResult(subject, Level.OK, state.checkpoint)


def try_steps(spark: SparkSession, prepared: Prepared) -> Iterator[CheckResult]:
    """References, schema, columns and transform, put together over no records; reads the references on executors."""
    envelope = envelop(spark.createDataFrame([], _RECORDS), "check")
    try:
        plan = prepared.plan()
        joins, versions = current_joins(plan, prepared.references(), spark, envelope)
        records = plan.sort(envelope, joins)
        plan.rows(records, plan.transformed(records))
    except BrokernatError as error:
        yield _from_error("steps", error)
        return
    except Exception as error:  # noqa: BLE001 - Spark refuses a plan by many classes
        yield CheckResult("steps", Level.ERROR, root_cause(error), code=2)
        return
    for name, version in versions.items():
        yield CheckResult(f"reference {name}", Level.OK, f"version {version}")
    yield CheckResult("steps", Level.OK, "decode, enrich, transform and sink fit together")


def _from_error(subject: str, error: BrokernatError) -> CheckResult:
    if isinstance(error, ConfigError):
        hints = "; ".join(problem.hint for problem in error.problems if problem.hint)
        return CheckResult(subject, Level.ERROR, str(error), hints or None, code=error.exit_code)
    return CheckResult(subject, Level.ERROR, str(error), error.hint, code=error.exit_code)


def as_rows(results: Iterable[CheckResult]) -> list[dict[str, Any]]:
    """For JSON."""
    return [{"subject": r.subject, "level": r.level.value, "message": r.message, "hint": r.hint} for r in results]
