"""The stream of records from the source cluster.

`failOnDataLoss` stays on: records that the source has removed before they were read are lost, which must be an error.

Kafka's consumers read aborted records by default, so `isolation.level` is `read_committed` unless the cluster's
properties set it. The cost: later records of a partition wait for an open transaction until the brokers abort it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from brokernat.clients.spark import Role, kafka_options
from brokernat.config import Cluster
from brokernat.config.model import Source
from brokernat.pipelines.checkpoint.committed import Range, as_option

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DEFAULTS: Mapping[str, str] = {"kafka.isolation.level": "read_committed"}

BATCH_RECORDS = 500_000
"""The default limit of records in one batch. A batch is held in memory, the rest on disk, and a crash repeats at most
one batch."""


def source_options(cluster: Cluster) -> dict[str, str]:
    """The options to read a pipeline's source; the cluster's properties override the defaults."""
    return {**_DEFAULTS, **kafka_options(cluster, role=Role.SOURCE)}


def read_stream(
    spark: SparkSession,
    source: Source,
    options: Mapping[str, str],
    *,
    starting: str | None = None,
    whole: bool = False,
) -> DataFrame:
    """key, value, topic, partition, offset, timestamp, headers.

    Args:
        options: from `source_options`, with the credentials.
        starting: start offsets of each partition for a query without a checkpoint, instead of the file's.
        whole: read without a limit of records, because Real-Time Mode rejects a limit.
    """
    query_options = {
        "subscribe": ",".join(source.topics),
        "startingOffsets": starting or source.starting_offsets,
        "includeHeaders": "true",
        "failOnDataLoss": "true",
    }
    if source.min_partitions:
        query_options["minPartitions"] = str(source.min_partitions)
    if not whole:
        query_options["maxOffsetsPerTrigger"] = str(source.max_offsets_per_trigger or BATCH_RECORDS)
    return spark.readStream.format("kafka").options(**options, **query_options).load()


def read_between(
    spark: SparkSession, options: Mapping[str, str], offsets: Range, *, fail_on_loss: bool = True
) -> DataFrame:
    """The same columns of the records between two offsets of each partition.

    Args:
        options: with the credentials; for a pipeline's source from `source_options`.
        offsets: the offsets of every topic and partition to read.
        fail_on_loss: whether removed records are an error.
    """
    query_options = {
        "assign": json.dumps({topic: sorted(ends) for topic, ends in offsets.end.items()}),
        "startingOffsets": as_option(offsets.begin),
        "endingOffsets": as_option(offsets.end),
        "includeHeaders": "true",
        "failOnDataLoss": str(fail_on_loss).lower(),
    }
    return spark.read.format("kafka").options(**options, **query_options).load()
