"""Tags and dead letters as Kafka records, and the write of a batch.

Tags and dead letters are written to one cluster in one write, with the topic in each row. The producer waits for all
in-sync replicas. Duplicates come only from a batch that runs again after a crash or a retried task, and have the same
`brokernat-src`.

A record that is too large for the sink stops the run, and the error names it. It does not become a dead letter, because
it may be too large for that topic as well.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark.functions import FAULT, call, time_zone
from brokernat.clients.spark.session import ClassicSession
from brokernat.config.model import Sink
from brokernat.config.record_schema import quoted
from brokernat.errors import ConfigError, Finding, IncompleteError
from brokernat.pipelines.root_cause import root_cause
from brokernat.pipelines.steps.envelope import (
    COORDINATES,
    FAULT_TYPE,
    KEPT,
    SOURCE_HEADER,
    TIMESTAMP_HEADER,
    VALUE,
    header,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from brokernat.pipelines.steps.formats import TagFormat

# Nulls are written, so that a consumer sees that the field exists. Six digits, because to_json writes milliseconds.
_JSON = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]XXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]",
}
_SCALARS = {"boolean", "byte", "short", "integer", "long", "float", "double", "date", "timestamp", "timestamp_ntz"}
_INTERNAL_COLUMNS = {COORDINATES, FAULT, VALUE, KEPT}

# The cluster's properties override these, but not `acks`, because at-least-once delivery depends on it.
PRODUCER_DEFAULTS: Mapping[str, str] = {
    "kafka.enable.idempotence": "true",
    "kafka.max.in.flight.requests.per.connection": "5",
    "kafka.delivery.timeout.ms": "120000",
}
REQUIRED: Mapping[str, str] = {"kafka.acks": "all"}
SINK = "io.brokernat.spark.KafkaSink"
"""brokernat's sink. It uses the options and producers of Spark's sink, but counts rows, and its plan has no password
(`KafkaSink.java`)."""
_RECORD = "brokernat_record"
_TOO_LARGE = "RecordTooLargeException"


def tag(rows: DataFrame, *, key: str | None, tag_format: TagFormat | None = None) -> tuple[Column, Column]:
    """The key (BINARY) and the content of a tag: a struct of all columns but `brokernat_src`, or its value (BINARY).

    Args:
        rows: the DataFrame of the tags.
        key: the column whose text is the key; None keeps the key of the source record, byte for byte.
        tag_format: the encoder of the struct; default: JSON.

    Raises:
        ConfigError: there is no such column.
    """
    from pyspark.sql import functions as F  # noqa: N812

    fields = [field for field in rows.schema if field.name not in _INTERNAL_COLUMNS]
    names = [field.name for field in fields]
    if key is not None and key not in names:
        raise ConfigError(
            Finding("no-such-column", f"sink.key: tags have no column `{key}`", f"they have: {', '.join(names)}")
        )
    content = F.struct(*(F.col(quoted(name)) for name in names))
    if tag_format is not None:
        content = tag_format(content, fields, rows.sparkSession)
    elif not all(_is_encoded(field.dataType) for field in fields):
        content = F.to_json(content, _JSON).cast("binary")
    text = F.col(f"{COORDINATES}.key") if key is None else F.col(quoted(key)).cast("string")
    return text.cast("binary"), content


def kafka_records(
    rows: DataFrame,
    sink: Sink,
    *,
    pipeline: str,
    key: Column | None = None,
    tag: Column | None = None,
    faults: bool = True,
) -> DataFrame:
    """Rows for the Kafka sink: topic, key, value, headers, source, source_timestamp, cause; see `RecordFunction.java`.

    The sink writes `source` (the coordinates) and `source_timestamp` (milliseconds since 1970) as headers. It counts by
    `cause`, the kind of a dead letter's fault, and does not write it.

    Args:
        rows: with `brokernat_src`.
        pipeline: the name of the pipeline, for the header in which Connect writes the name of a connector.
        key: the key of tags, see `tag`.
        tag: the content of tags; null in other rows.
        faults: whether rows have `brokernat_fault` and `brokernat_value`. A row that is not a tag becomes a dead
            letter, or a row of nulls if it has no fault.
    """
    from pyspark.sql import functions as F  # noqa: N812

    null = F.lit(None).cast("binary")
    fault = F.col(FAULT) if faults else F.lit(None).cast(FAULT_TYPE)
    value = F.col(VALUE) if faults else null
    arguments = (F.col(COORDINATES), null if key is None else key, null if tag is None else tag, fault, value)
    settings = (pipeline, sink.topic, sink.dead_letters, time_zone(rows.sparkSession))
    # A separate step, because Spark would compute an expression again for each column that uses it.
    records = rows.select(call(rows.sparkSession, "record", settings, *arguments).alias(_RECORD))
    return records.select(f"{_RECORD}.*")


def with_source_headers(rows: DataFrame) -> DataFrame:
    """The rows of `kafka_records` with all their headers in `headers`: Spark's own sink does not add ours."""
    from pyspark.sql import functions as F  # noqa: N812

    timestamp = F.col("source_timestamp").cast("string")
    ours = F.array(header(SOURCE_HEADER, F.col("source")), header(TIMESTAMP_HEADER, timestamp))
    return rows.withColumn("headers", F.concat("headers", ours))


def _is_encoded(declared: DataType) -> bool:
    """Whether `JsonEncoder.java` writes such values; Spark's `to_json` writes the others."""
    from pyspark.sql.types import ArrayType, DecimalType, MapType, StringType, StructType

    match declared:
        case StructType():
            return all(_is_encoded(field.dataType) for field in declared)
        case ArrayType():
            return _is_encoded(declared.elementType)
        case MapType():
            return isinstance(declared.keyType, StringType) and _is_encoded(declared.valueType)
        case StringType() | DecimalType():
            return True
    return declared.typeName() in _SCALARS


def producer_options(given: Mapping[str, str]) -> dict[str, str]:
    """The options of the write: the defaults, then the cluster's, then `REQUIRED`; the last value applies."""
    return {**PRODUCER_DEFAULTS, **given, **REQUIRED}


class Listener:
    """Callbacks of the sink; an exception ends the query and leaves the batch uncommitted."""

    def begins(self) -> None:
        """Called before the first write of a batch."""

    def written(self, batch_id: int, rows: Mapping[str, int]) -> None:
        """Called after all records of a batch are acknowledged, before it is committed.

        Args:
            batch_id: its number.
            rows: the number of `tags`, `filtered` and dead letters of each cause, without zeros. Exact, also with
                retried tasks (`CountedWrite.java`).
        """

    class Java:
        """The Java interface, for py4j."""

        implements = ("io.brokernat.spark.BatchListener",)


@contextmanager
def listening(spark: SparkSession, listener: Listener) -> Iterator[dict[str, str]]:
    """Registers the listener for the block; yields the option of `SINK` that selects it."""
    from pyspark.java_gateway import ensure_callback_server_started

    session = ClassicSession(spark)
    ensure_callback_server_started(session.gateway)  # type: ignore[no-untyped-call]
    sink: Any = session.jvm.io.brokernat.spark.KafkaSink
    name = uuid.uuid4().hex
    sink.listen(name, listener)
    try:
        yield {"brokernat.listener": name}
    finally:
        sink.forget(name)


def write(rows: DataFrame, options: Mapping[str, str]) -> dict[str, int]:
    """Sends rows and returns when all are acknowledged; otherwise Spark raises an exception.

    Args:
        rows: the rows of `kafka_records`; a row without a topic is counted and not sent.
        options: the options of the sink cluster, see `producer_options`.

    Returns:
        See `Listener.written`.

    Raises:
        IncompleteError: a record is larger than the producer or the topic accepts; names the largest.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    counts: dict[str, int] = {}

    class Counting(Listener):
        def written(self, batch_id: int, rows: Mapping[str, int]) -> None:  # noqa: ARG002 - Spark passes it
            counts.update(rows)

    try:
        with listening(rows.sparkSession, Counting()) as listened:
            rows.write.format(SINK).mode("append").options(**producer_options(options), **listened).save()
    except (PySparkException, Py4JJavaError) as error:
        if too_large := too_large_for_sink(error, lambda: rows):
            raise too_large from None
        raise
    return counts


def too_large_for_sink(error: Exception, rows: Callable[[], DataFrame | None]) -> IncompleteError | None:
    """The error for a write that failed because one of `rows` is too large; names the largest."""
    cause = root_cause(error)
    if not cause.startswith(_TOO_LARGE):
        return None
    failed_rows = rows()
    named = "" if failed_rows is None else f"; the largest are {', '.join(largest(failed_rows))}"
    return IncompleteError(
        f"a record is too large for the sink: {cause}{named}",
        hint="raise max.request.size of the sink cluster's client and max.message.bytes of the topic, or make "
        "the tag smaller in the transform; no record is lost: the next start runs the batch again",
    )


def largest(rows: DataFrame, count: int = 3) -> list[str]:
    """The largest rows for the sink, as `topic <- coordinates (bytes)`."""
    from pyspark.sql import functions as F  # noqa: N812

    size = F.octet_length("value") + F.coalesce(F.octet_length("key"), F.lit(0))
    sizes = rows.select("topic", "source", F.coalesce(size, F.lit(0)).alias("size"))
    return [
        f"{row['topic']} <- {row['source']} ({row['size']} bytes)"
        for row in sizes.orderBy(F.desc("size")).limit(count).collect()
    ]
