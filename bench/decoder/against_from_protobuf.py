"""Protobuf by our decoder and by Spark's `from_protobuf`: `python -m bench.decoder.against_from_protobuf`.

As `against_from_avro`, with orders of the schema in `tests/vectors/protobuf`.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any, ClassVar

from bench.decoder.against_from_avro import PIECE, Schemas, race
from tests.integration.steps import plain_protobuf

from brokernat.config.protobuf_schema import read_protobuf_schema
from brokernat.pipelines.steps.formats import Protobuf, Registry

VECTORS = Path(__file__).parents[2] / "tests" / "vectors" / "protobuf"
MESSAGE = "acme.shop.Order"
HEADER = b"\0\0\0\0\1\2\2"
"""The schema id 1 and the second message of its file."""


class Texts(Schemas):
    """A registry with a schema in two files."""

    answers: ClassVar[dict[str, object]] = {
        "/schemas/ids/1": {
            "schemaType": "PROTOBUF",
            "schema": (VECTORS / "order.proto").read_text(),
            "references": [{"name": "parts.proto", "subject": "parts", "version": 1}],
        },
        "/subjects/parts/versions/1": {"schemaType": "PROTOBUF", "schema": (VECTORS / "parts.proto").read_text()},
    }


def orders(text: str) -> list[bytes]:
    """A piece of records."""
    dice, schema = random.Random(1), json.loads(text)

    def order(number: int) -> dict[str, Any]:
        return {
            "id": f"order-{number}",
            "maybe": dice.randrange(1000) if dice.random() < 0.9 else None,
            "d": dice.random() * 1000,
            "l": 1_767_600_000_000_000 + dice.randrange(10**12),
            "state": dice.choice(["NEW", "PAID", "BACK"]),
            "lines": [{"article": f"a{dice.randrange(500)}", "count": 1} for _ in range(dice.randrange(4))],
        }

    return [HEADER + plain_protobuf.encode(schema, order(number)) for number in range(PIECE)]


def main() -> int:
    """0 where ours is as fast."""
    from pyspark.sql.protobuf.functions import from_protobuf

    descriptors = VECTORS / "order.desc"
    schema = read_protobuf_schema(str(descriptors), MESSAGE)
    return race(
        "spark-protobuf",
        Texts,
        orders(schema.text),
        len(HEADER),
        lambda url: (Protobuf(schema.text, Registry(url)), schema.columns),
        lambda: from_protobuf(
            "value", MESSAGE, options={"mode": "FAILFAST"}, binaryDescriptorSet=descriptors.read_bytes()
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
