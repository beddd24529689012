"""A record that is not well, as it came, with the reason in the headers that Kafka Connect uses.

The names are Connect's (`DeadLetterQueueReporter`, KIP-298): tools that read its dead letters read ours. Key and value
are the record's own bytes, so that it can be sent again once the cause is gone. Headers that an earlier round left are
replaced: the last cause is the one that counts. Connect's stack trace is not written: nothing was thrown.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from brokernat.pipelines.envelope import COORDINATES, FAULT, VALUE, coordinate_headers, header, headers
from brokernat.pipelines.fault import ORIGINS

if TYPE_CHECKING:
    from pyspark.sql import Column

CONNECT_PREFIX = "__connect.errors."


def dead_letter(*, pipeline: str, topic: str) -> dict[str, Column]:
    """The columns of a record with a fault for Spark's Kafka sink: topic, key, value, headers.

    Args:
        pipeline: its name, which stands where Connect names the connector.
        topic: where dead letters go.
    """
    from pyspark.sql import functions as F  # noqa: N812

    source, kind = F.col(COORDINATES), F.col(FAULT)["kind"]
    texts = {
        "topic": source["topic"],
        "partition": source["partition"].cast("string"),
        "offset": source["offset"].cast("string"),
        "connector.name": F.lit(pipeline),
        "task.id": F.lit("0"),
        "stage": _of_kind(kind, {str(k): origin.stage for k, origin in ORIGINS.items()}),
        "class.name": _of_kind(kind, {str(k): origin.module for k, origin in ORIGINS.items()}),
        "exception.class.name": F.concat(F.lit("brokernat."), kind),
        "exception.message": F.col(FAULT)["message"],
    }
    cause = F.array(*(header(CONNECT_PREFIX + name, text) for name, text in texts.items()))
    return {
        "topic": F.lit(topic),
        "key": source["key"],
        "value": F.col(VALUE),
        "headers": headers(coordinate_headers(), cause, without_prefix=CONNECT_PREFIX),
    }


def _of_kind(kind: Column, table: dict[str, str]) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    first, *rest = table.items()
    return reduce(lambda chain, row: chain.when(kind == row[0], row[1]), rest, F.when(kind == first[0], first[1]))
