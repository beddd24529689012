"""A pipeline of the file with its clusters, folder, steps, references and checkpoint.

This module makes no connection and starts nothing. Checking, running and reconciling all begin with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from brokernat.config import Cluster, Config, Pipeline
from brokernat.config.cluster import Profile
from brokernat.errors import ConfigError, Finding
from brokernat.pipelines.checkpoint.state import Owner, State
from brokernat.pipelines.kafka.admin import TopicFacts, Unseen
from brokernat.pipelines.references.reference import ReferenceTable
from brokernat.pipelines.root_cause import root_cause
from brokernat.pipelines.steps.plan import Plan
from brokernat.pipelines.steps.transform import load_transform

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class Prepared:
    """A pipeline of the file, with its source and sink cluster, the folder of the file and the checkpoint's state."""

    pipeline: Pipeline
    source: Cluster
    sink: Cluster
    folder: Path
    state: State

    @classmethod
    def of(cls, config: Config, name: str) -> Self:
        """The pipeline `name` of a file.

        Raises:
            ConfigError: the file has no such pipeline.
        """
        pipeline = config.pipeline(name)
        source, sink = config.cluster(pipeline.source.cluster), config.cluster(pipeline.sink.cluster)
        return cls(pipeline, source, sink, config.path.parent, State(pipeline.checkpoint))

    def with_clusters(self, reached: Callable[[Cluster], Cluster]) -> Self:
        """The same pipeline with each of its clusters replaced by what `reached` makes of it, called once for each."""
        source = reached(self.source)
        return replace(self, source=source, sink=source if self.sink is self.source else reached(self.sink))

    def with_profiles(self, profiles: Mapping[str, Profile]) -> Self:
        """The same pipeline with the measured profiles, by cluster name."""
        source = replace(self.source, profile=profiles.get(self.source.name, self.source.profile))
        if self.sink is self.source:
            return replace(self, source=source, sink=source)
        return replace(
            self, source=source, sink=replace(self.sink, profile=profiles.get(self.sink.name, self.sink.profile))
        )

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """Source and sink; one entry if they are the same cluster."""
        return (self.source,) if self.source is self.sink else (self.source, self.sink)

    @property
    def topics(self) -> dict[str, tuple[str, ...]]:
        """The topics that are read or written, by cluster name."""
        source, sink = self.pipeline.source, self.pipeline.sink
        found = {source.cluster: source.topics}
        found[sink.cluster] = (*found.get(sink.cluster, ()), sink.topic, sink.dead_letters)
        return found

    def plan(self) -> Plan:
        """The steps. It needs a running Spark session, which parses the schema.

        Raises:
            ConfigError: the schema cannot be read.
            TransformError: the transform cannot be loaded.
        """
        transform = load_transform(self.pipeline.transform, self.folder) if self.pipeline.transform else None
        return Plan(self.pipeline.name, parse_schema(self.pipeline.decode.ddl), self.pipeline.sink, transform)

    def references(self) -> list[ReferenceTable]:
        """One table for each `enrich` entry, in order; the same reference may be joined by several keys."""
        return [
            ReferenceTable(
                join.reference,
                self.pipeline.references[join.reference],
                key=join.key,
                columns=join.columns,
                folder=self.state.reference_folder(f"{join.reference}.{join.key}"),
            )
            for join in self.pipeline.enrich
        ]

    def owner(self, cluster_id: str, topics: Mapping[str, TopicFacts | Unseen]) -> Owner:
        """The owner to note in the checkpoint. `topics` describes the topics of the source, by name."""
        ids = {name: fact.topic_id for name, fact in topics.items() if isinstance(fact, TopicFacts) and fact.topic_id}
        return Owner(self.pipeline.name, cluster_id, self.pipeline.source.topics, ids)


def parse_schema(ddl: str) -> StructType:
    """Parses a Spark DDL string such as `id STRING, amount DOUBLE`.

    Raises:
        ConfigError: Spark cannot parse it, or it names a type and no columns.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType

    try:
        schema = StructType.fromDDL(ddl)
    except PySparkException as error:
        message = f"decode.schema: {root_cause(error)}"
        raise ConfigError(Finding("bad-schema", message, "for example `id STRING, amount DOUBLE`")) from None
    if not isinstance(schema, StructType):
        raise ConfigError(Finding("bad-schema", f"decode.schema: `{ddl}` names one type and no columns"))
    return schema
