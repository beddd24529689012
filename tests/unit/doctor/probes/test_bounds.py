"""Answers are walked through before kio reads them: whole ones pass; no length reaches beyond the bytes that came."""

from __future__ import annotations

import io
import struct
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v6 import response as plain
from kio.schema.metadata.v9 import response as flexible
from kio.schema.types import BrokerId, TopicName
from kio.serial import entity_writer
from kio.serial.errors import SerialError
from kio.static.primitive import i32, i32Timedelta

from brokernat.doctor.probes.bounds import require_whole

ASKED = {
    "api_versions": ("ApiVersionsResponse", range(1)),
    "describe_configs": ("DescribeConfigsResponse", range(1, 2)),
    "describe_groups": ("DescribeGroupsResponse", range(1, 2)),
    "find_coordinator": ("FindCoordinatorResponse", range(1, 2)),
    "list_groups": ("ListGroupsResponse", range(1)),
    "list_offsets": ("ListOffsetsResponse", range(1, 2)),
    "metadata": ("MetadataResponse", range(14)),
    "sasl_authenticate": ("SaslAuthenticateResponse", range(1, 2)),
    "sasl_handshake": ("SaslHandshakeResponse", range(1, 2)),
}


@pytest.mark.parametrize("name", ASKED)
def test_every_answer_that_is_asked_for_can_be_walked_through(name: str) -> None:
    response, versions = ASKED[name]
    for version in versions:
        schema = import_module(f"kio.schema.{name}.v{version}.response")
        with pytest.raises(SerialError):
            require_whole(getattr(schema, response), b"")


def written(schema: Any) -> bytes:
    """A cluster of two brokers and a topic."""
    brokers = [
        schema.MetadataResponseBroker(node_id=BrokerId(n), host=f"kafka-{n}", port=i32(9092), rack=rack)
        for n, rack in ((1, None), (2, "a"))
    ]
    partition = schema.MetadataResponsePartition(
        error_code=ErrorCode.none,
        partition_index=i32(0),
        leader_id=BrokerId(1),
        replica_nodes=(BrokerId(1), BrokerId(2)),
        isr_nodes=(BrokerId(1),),
    )
    topic = schema.MetadataResponseTopic(error_code=ErrorCode.none, name=TopicName("orders"), partitions=(partition,))
    answer = schema.MetadataResponse(
        throttle_time=i32Timedelta.parse(timedelta()),
        brokers=tuple(brokers),
        cluster_id="c",
        controller_id=BrokerId(1),
        topics=(topic,),
    )
    buffer = io.BytesIO()
    entity_writer(schema.MetadataResponse)(buffer, answer)
    return buffer.getvalue()


@pytest.mark.parametrize("schema", [plain, flexible], ids=["plain", "flexible"])
def test_what_is_whole_passes_and_nothing_else(schema: Any) -> None:
    whole = written(schema)
    require_whole(schema.MetadataResponse, whole)
    require_whole(schema.MetadataResponse, b"\0" + whole, 1)
    for length in range(len(whole)):
        with pytest.raises(SerialError):
            require_whole(schema.MetadataResponse, whole[:length])
    with pytest.raises(SerialError, match="ends after"):
        require_whole(schema.MetadataResponse, whole + b"\0")


@pytest.mark.parametrize("count", [0x7FFFFFFF, 1000, 3])
def test_more_elements_than_fit_are_refused_before_any_is_read(count: int) -> None:
    whole = written(plain)
    with pytest.raises(SerialError):
        require_whole(plain.MetadataResponse, whole[:4] + struct.pack(">i", count) + whole[8:])


def test_a_varint_that_does_not_end() -> None:
    with pytest.raises(SerialError, match="does not end"):
        require_whole(flexible.MetadataResponse, b"\0\0\0\0" + b"\xff" * 20)
