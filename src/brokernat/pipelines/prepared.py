"""A pipeline of the file with its clusters, folder, steps, references and checkpoint.

This module makes no connection and starts nothing. `check`, `run`, `reconcile` and `replay` all use it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from brokernat.clients.spark import decode as json
from brokernat.config import Cluster, Config, Pipeline
from brokernat.config.fields import Profile
from brokernat.config.model import Decode, Encode, Enrich
from brokernat.config.record_schema import RecordSchema, read_schema_file, schema_of_text
from brokernat.errors import ConfigError, Finding
from brokernat.pipelines.checkpoint.state import Owner, State
from brokernat.pipelines.kafka.admin import TopicFacts, Unseen
from brokernat.pipelines.references import ReferenceTable
from brokernat.pipelines.references.database import DatabaseSource, driver_jars
from brokernat.pipelines.references.files import CatalogSource, FileSource
from brokernat.pipelines.references.source import ReferenceSource
from brokernat.pipelines.references.topic import TopicSource
from brokernat.pipelines.root_cause import root_cause
from brokernat.pipelines.steps.formats import Csv, Registry, SchemaTags, SchemaValues, decode, raw
from brokernat.pipelines.steps.plan import Plan
from brokernat.pipelines.steps.transform import load_transform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from brokernat.pipelines.steps.formats import TagFormat, ValueFormat


@dataclass(frozen=True, slots=True)
class Prepared:
    """A pipeline of the file, with its clusters, the folder of the file and the checkpoint's state."""

    pipeline: Pipeline
    source: Cluster
    sink: Cluster
    folder: Path
    state: State
    others: Mapping[str, Cluster] = field(default_factory=dict)
    """The clusters of references that are neither source nor sink, by name."""

    @classmethod
    def of(cls, config: Config, name: str) -> Self:
        """The pipeline `name` of a file.

        Raises:
            ConfigError: the file has no such pipeline.
        """
        pipeline = config.pipeline(name)
        source, sink = config.cluster(pipeline.source.cluster), config.cluster(pipeline.sink.cluster)
        topics = (pipeline.references[join.reference].kafka for join in pipeline.enrich)
        names = dict.fromkeys(topic.cluster for topic in topics if topic)
        others = {name: config.cluster(name) for name in names if name not in (source.name, sink.name)}
        return cls(pipeline, source, sink, config.path.parent, State(pipeline.checkpoint), others)

    def with_clusters(self, reached: Callable[[Cluster], Cluster]) -> Self:
        """The same pipeline with each cluster replaced by `reached(cluster)`, called once for each."""
        source = reached(self.source)
        sink = source if self.sink is self.source else reached(self.sink)
        others = {name: reached(cluster) for name, cluster in self.others.items()}
        return replace(self, source=source, sink=sink, others=others)

    def with_profiles(self, profiles: Mapping[str, Profile]) -> Self:
        """The same pipeline with the measured profiles, by cluster name."""
        return self.with_clusters(lambda cluster: replace(cluster, profile=profiles.get(cluster.name, cluster.profile)))

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters of source, sink and references, each once."""
        both = (self.source,) if self.source is self.sink else (self.source, self.sink)
        return (*both, *self.others.values())

    @property
    def paths(self) -> dict[str, str]:
        """The paths that are read and written, by their key below the pipeline in the file."""
        pipeline = self.pipeline
        named = {f"references.{name}.path": section.path for name, section in pipeline.references.items()}
        return {"checkpoint": pipeline.checkpoint} | {place: path for place, path in named.items() if path}

    @property
    def topics(self) -> dict[str, tuple[str, ...]]:
        """The topics that are read or written, by cluster name."""
        source, sink = self.pipeline.source, self.pipeline.sink
        found = {source.cluster: source.topics}
        found[sink.cluster] = (*found.get(sink.cluster, ()), sink.topic, sink.dead_letters)
        for cluster, topics in self.reference_topics.items():
            found[cluster] = (*found.get(cluster, ()), *topics)
        return found

    @property
    def reference_topics(self) -> dict[str, tuple[str, ...]]:
        """The topics that are references, by cluster name."""
        found: dict[str, tuple[str, ...]] = {}
        for name in dict.fromkeys(join.reference for join in self.pipeline.enrich):
            if kafka := self.pipeline.references[name].kafka:
                found[kafka.cluster] = tuple(dict.fromkeys((*found.get(kafka.cluster, ()), kafka.topic)))
        return found

    def plan(self, *, registers: bool = False) -> Plan:
        """The steps. It needs a running Spark session, which parses the schema.

        Args:
            registers: whether the schema of tags may be registered, if the file has `register: true`.

        Raises:
            ConfigError: a schema or its file cannot be read, or the sink's registry does not have it.
            TransformError: the transform cannot be loaded.
        """
        pipeline = self.pipeline
        transform = load_transform(pipeline.transform, self.folder) if pipeline.transform else None
        schema, value_format = read_format(pipeline.decode, self.source)
        tag_format = self._tag_format(registers=registers)
        return Plan(pipeline.name, schema, pipeline.sink, transform, value_format, tag_format)

    @property
    def _own_subject(self) -> str:
        """The default subject of tags."""
        return f"{self.pipeline.sink.topic}-value"

    def _tag_format(self, *, registers: bool) -> TagFormat | None:
        from pyspark.sql import SparkSession

        section, schema_id = self.pipeline.sink.encode, None
        if section is None:
            return None
        subject = section.subject or self._own_subject
        if section.takes_subject:
            schema, schema_id = newest_schema(section, self.sink, subject)
        else:
            schema = read_schema_file(section)
            if section.registry is not None and (registers or not section.register_schema):
                registry = Registry.of(section.registry, self.sink)
                spark = SparkSession.active()
                schema_id = registry.id_of(schema.text, subject, spark, register=section.register_schema)
        return SchemaTags(section.format, schema.text, parse_schema(schema.columns), schema_id)

    def newest_schemas(self) -> dict[str, RecordSchema]:
        """The newest schemas of registry subjects, by the names of their sections.

        Raises:
            ConfigError: a registry does not answer, or has no such subject.
        """
        decode, encode, found = self.pipeline.decode, self.pipeline.sink.encode, {}
        if decode.subject is not None:
            found["decode"], _ = newest_schema(decode, self.source, decode.subject)
        if encode is not None and encode.takes_subject:
            found["encode"], _ = newest_schema(encode, self.sink, encode.subject or self._own_subject)
        return found

    def references(self) -> list[ReferenceTable]:
        """One table for each `enrich` entry, in order; the same reference may be joined by several keys."""
        return [
            ReferenceTable(
                join.reference,
                self.pipeline.references[join.reference],
                key=join.key,
                columns=join.columns,
                folder=self.state.reference_folder(f"{join.reference}.{join.key}"),
                source=self._source_of(join),
            )
            for join in self.pipeline.enrich
        ]

    def driver_jars(self) -> tuple[Path, ...]:
        """The jars of the JDBC drivers that references need.

        Raises:
            MissingToolError: a jar cannot be downloaded.
            AlteredFileError: the SHA-256 of a jar is not the expected one.
        """
        sections = (self.pipeline.references[join.reference].jdbc for join in self.pipeline.enrich)
        return tuple(dict.fromkeys(jar for section in sections if section for jar in driver_jars(section)))

    def _source_of(self, join: Enrich) -> ReferenceSource:
        section = self.pipeline.references[join.reference]
        if section.jdbc:
            return DatabaseSource(section.jdbc)
        if section.catalog:
            return CatalogSource(section.catalog)
        if not section.kafka:
            return FileSource(section)
        values, place = section.kafka.decode, f"references.{join.reference}.kafka.decode"
        cluster = next(cluster for cluster in self.clusters if cluster.name == section.kafka.cluster)

        @functools.cache
        def columns() -> tuple[StructType, ValueFormat]:
            return read_format(values, cluster, place)

        def decoded(records: DataFrame) -> DataFrame:
            return decode(records, *columns())

        return TopicSource(section.kafka, cluster, join.key, decoded)

    def owner(self, cluster_id: str, topics: Mapping[str, TopicFacts | Unseen]) -> Owner:
        """The owner to store in the checkpoint. `topics` describes the topics of the source, by name."""
        ids = {name: fact.topic_id for name, fact in topics.items() if isinstance(fact, TopicFacts) and fact.topic_id}
        return Owner(self.pipeline.name, cluster_id, self.pipeline.source.topics, ids)


def read_format(section: Decode, cluster: Cluster, place: str = "decode") -> tuple[StructType, ValueFormat]:
    """The columns of a `decode` section, and the decoder for values of this cluster's topics.

    Args:
        place: the key of the section below the pipeline.

    Raises:
        ConfigError: the schema or its file cannot be read.
    """
    if section.format in ("avro", "protobuf"):
        if section.subject is not None:
            schema, _ = newest_schema(section, cluster, section.subject)
        else:
            schema = read_schema_file(section)
        stops = section.on_unknown_schema == "stop"
        registry = Registry.of(section.registry, cluster, stops_on_unknown=stops) if section.registry else None
        values = SchemaValues(section.format, schema.text, registry)
        return parse_schema(schema.columns, f"{place}.schema_file"), values
    of_ddl: dict[str, ValueFormat] = {"json": json, "csv": Csv(section.delimiter), "raw": raw}
    return parse_schema(section.ddl or "", f"{place}.schema"), of_ddl[section.format]


def newest_schema(section: Decode | Encode, cluster: Cluster, subject: str) -> tuple[RecordSchema, int]:
    """The newest schema of a subject of a section's registry, and its id. It needs a running Spark session.

    Raises:
        ConfigError: the registry does not answer or has no such subject, or the schema has no columns.
    """
    from pyspark.sql import SparkSession

    assert section.registry is not None  # noqa: S101 - the model rejects a subject without a registry
    text, schema_id = Registry.of(section.registry, cluster).newest(subject, section, SparkSession.active())
    return schema_of_text(section, text), schema_id


def parse_schema(ddl: str, place: str = "decode.schema") -> StructType:
    """Parses a Spark DDL string such as `id STRING, amount DOUBLE`; `place` is its key below the pipeline.

    Raises:
        ConfigError: Spark cannot parse it, or it is a type without columns.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType, _parse_datatype_string

    try:
        # `StructType.fromDDL` of Spark 4 calls this function.
        schema = _parse_datatype_string(ddl)
    except PySparkException as error:
        message = f"{place} `{ddl}`: {root_cause(error)}"
        raise ConfigError(Finding("bad-schema", message, "for example `id STRING, amount DOUBLE`")) from None
    if not isinstance(schema, StructType):
        raise ConfigError(Finding("bad-schema", f"{place}: `{ddl}` is a type, not a list of columns"))
    return schema
