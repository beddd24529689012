"""A compacted topic as a reference: the newest value of each key, without keys whose newest record is a tombstone.

Spark's batch source reads it from the beginning to its end offsets at the time of `version`; later records belong to
the next version. Only committed records are read: the end is the last stable offset, because a `read_committed`
consumer would wait for an open transaction after it. The topic's id is a part of the version, because a recreated topic
may have the same end offsets.

The newest record of a key is the last of its partition. A key is in two partitions if partitions were added or
producers use different partitioners; then the record with the later timestamp is used.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from brokernat.clients.spark import Role, client_properties
from brokernat.clients.spark.functions import FAULT
from brokernat.config import Cluster
from brokernat.config.client_properties import secrets_of
from brokernat.config.model import KafkaReference
from brokernat.config.record_schema import quoted
from brokernat.config.secrets import masked
from brokernat.pipelines.kafka.admin import open_admin
from brokernat.pipelines.references.source import ORDER, ReferenceSource, SourceVersion
from brokernat.pipelines.root_cause import root_cause
from brokernat.pipelines.steps.envelope import COORDINATES, VALUE
from brokernat.pipelines.steps.source import source_options

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_ISOLATION = "isolation.level"
_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (.*?)(?: SQLSTATE: \w+)?$")
"""The text that Spark's `raise_error` adds around its message."""


class TopicSource(ReferenceSource):
    """A topic of a cluster in the configuration file."""

    def __init__(
        self, section: KafkaReference, cluster: Cluster, key: str, decode: Callable[[DataFrame], DataFrame]
    ) -> None:
        """Reads nothing.

        Args:
            section: the section of the configuration file.
            cluster: the cluster of the topic.
            key: the column that records are joined by; the record's key if values have no such column.
            decode: adds `brokernat_fault` and the columns of the values, as `steps.decode` does.
        """
        self.place = f"the topic {section.topic} of cluster {cluster.name}"
        self._section = section
        self._cluster = cluster
        self._key = key
        self._decode = decode

    def version(self, spark: SparkSession) -> SourceVersion:
        """The topic's id and the end of each partition."""
        topic, requested_at = self._section.topic, time.time()
        committed = self._options()[f"kafka.{_ISOLATION}"] == "read_committed"
        with open_admin(spark, client_properties(self._cluster, role=Role.SOURCE), self._cluster.name) as admin:
            ends = admin.end_offsets(topic, committed=committed)
            version = {"id": admin.topic_id(topic), "ends": {str(number): ends[number] for number in sorted(ends)}}
        return SourceVersion(json.dumps(version), requested_at)

    def load(self, spark: SparkSession, version: SourceVersion) -> DataFrame:
        """The newest value of each key as columns."""
        assert version.text  # noqa: S101 - `version` always sets it
        topic = self._section.topic
        bounds = {
            "subscribe": topic,
            "startingOffsets": "earliest",
            "endingOffsets": json.dumps({topic: json.loads(version.text)["ends"]}),
        }
        return self.rows(spark.read.format("kafka").options(**self._options(), **bounds).load())

    def rows(self, records: DataFrame) -> DataFrame:
        """The reference rows of all records of the topic.

        Computing them fails at a record without a key, and at a newest value that does not match the schema.
        """
        from pyspark.sql import functions as F  # noqa: N812

        without_key = F.lit("it has no key, so the row that it replaces is unknown")
        decoded = self._decode(_newest(_failing_at(records, F.col("key").isNull(), without_key)))
        order = F.struct(*(f"{COORDINATES}.{name}" for name in ("timestamp", "partition", "offset")))
        decoded = decoded.withColumn(ORDER, order)
        fault = F.concat_ws(": ", f"{FAULT}.kind", f"{FAULT}.message")
        rows = _failing_at(decoded, F.col(FAULT).isNotNull(), fault, f"{COORDINATES}.")
        if self._key not in rows.columns:
            rows = rows.withColumn(self._key, F.col(f"{COORDINATES}.key").cast("string"))
        return rows.select(*(quoted(name) for name in rows.columns if name not in (COORDINATES, VALUE, FAULT)))

    def recipe(self) -> object:
        """Cluster, topic and the format of values; not the registry, whose section has a login."""
        values = self._section.decode.model_dump(mode="json", exclude={"registry"})
        return [self._cluster.name, self._section.topic, values]

    def cause(self, error: BaseException) -> str:
        """The cause of an error, or the fault of a record, without the secrets of the cluster's properties."""
        text = masked(root_cause(error), *secrets_of(client_properties(self._cluster, role=Role.SOURCE)))
        found = _RAISED.search(text)
        return found[1] if found else text

    def _options(self) -> dict[str, str]:
        return source_options(self._cluster)


def _newest(records: DataFrame) -> DataFrame:
    """`brokernat_src` and `brokernat_value` of the newest record of each key, without tombstones."""
    from pyspark.sql import functions as F  # noqa: N812

    row = F.struct("key", "value", "partition", "offset", "timestamp").alias("row")
    latest = records.select(row).groupBy("row.key", "row.partition").agg(F.max_by("row", "row.offset").alias("row"))
    latest = latest.groupBy("row.key").agg(F.max_by("row", F.struct("row.timestamp", "row.offset")).alias("row"))
    return latest.where("row.value IS NOT NULL").select(
        F.col("row").dropFields("value").alias(COORDINATES), F.col("row.value").alias(VALUE)
    )


def _failing_at(rows: DataFrame, bad: Column, why: Column, place: str = "") -> DataFrame:
    """The same rows; computing them fails at the first bad row, and the error has its partition and offset."""
    from pyspark.sql import functions as F  # noqa: N812

    named = F.format_string("partition %d, offset %d: %s", F.col(f"{place}partition"), F.col(f"{place}offset"), why)
    # A filter and not a column: Spark removes a column that nothing reads, and the error with it.
    return rows.where(F.assert_true(~bad, named).isNull())
