"""The envelope: the columns between the steps, with the origin of each row.

Every row carries one column, `brokernat_src`, from the source to the sink. It holds the coordinates of the Kafka record
(cluster id, topic, partition, offset: independent of restarts, addresses and names in the file) and the parts that are
written unchanged: key, headers, timestamp. It is one column, because a user's transform must keep it. A record of
another pipeline already has a header `brokernat-src`; the new one replaces it.

    source      brokernat_src, brokernat_value
    decoded     + brokernat_fault, and one column per field of the schema
    enriched    + one column per column of each reference

A fault is the reason why a record becomes a dead letter: a kind for programs and a sentence for people. It is null for
a valid record. A record keeps its first fault; later steps do not process it.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


COORDINATES = "brokernat_src"
VALUE = "brokernat_value"
KEPT = "brokernat_kept"

SOURCE_HEADER = "brokernat-src"
TIMESTAMP_HEADER = "brokernat-src-timestamp"
REPLAY_HEADER = "brokernat-src-replayed"
"""The header of a replayed tag: the start time of the replay."""
FAULT_TYPE = "struct<kind: string, message: string>"
CONNECT_PREFIX = "__connect.errors."
"""The prefix of the header names of a dead letter, see `RecordFunction.java`."""


def envelop(records: DataFrame, cluster_id: str) -> DataFrame:
    """The columns of Spark's Kafka source as an envelope and a value.

    Args:
        records: key, value, topic, partition, offset, timestamp, headers of Spark's source with `includeHeaders`.
        cluster_id: Kafka's id of the source cluster; the cluster's name in the file may be changed.

    Returns:
        `brokernat_src`, a struct of cluster, topic, partition, offset, timestamp, key, headers; `brokernat_value`.
    """
    from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

    # Spark returns null for a record without headers, and concat() with a null returns null.
    headers = F.coalesce(F.col("headers"), F.array().cast("array<struct<key:string,value:binary>>"))
    envelope = F.struct(
        F.lit(cluster_id).alias("cluster"), "topic", "partition", "offset", "timestamp", "key", headers.alias("headers")
    )
    return records.select(envelope.alias(COORDINATES), F.col("value").alias(VALUE))


def coordinates_text() -> Column:
    """The coordinates of a row as in its header: cluster/topic/partition/offset."""
    from pyspark.sql import functions as F  # noqa: N812

    parts = (F.col(f"{COORDINATES}.{name}").cast("string") for name in ("cluster", "topic", "partition", "offset"))
    return F.concat_ws("/", *parts)


def header(name: str, value: Column) -> Column:
    """A header of a Kafka record; the value is written as BINARY."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))


class FaultKind(enum.StrEnum):
    TOMBSTONE = "Tombstone"
    MALFORMED = "MalformedValue"
    WRONG_TYPE = "WrongType"
    UNKNOWN_SCHEMA = "UnknownSchema"
    INCOMPATIBLE_SCHEMA = "IncompatibleSchema"
    NULL_KEY = "NullKey"
    MISSING_REFERENCE = "MissingReference"


def fault(kind: FaultKind, *parts: str | Column) -> Column:
    """A fault whose message joins the parts: text, or the value of a column."""
    from pyspark.sql import functions as F  # noqa: N812

    message = F.concat(*(F.lit(part) if isinstance(part, str) else part for part in parts))
    return F.struct(F.lit(str(kind)).alias("kind"), message.alias("message"))
