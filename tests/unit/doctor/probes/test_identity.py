"""A node's own word, in the words of every age of Kafka and of Redpanda."""

import asyncio
from datetime import timedelta

import pytest
from kio.schema.describe_configs.v1.response import DescribeConfigsResponse, DescribeConfigsResult
from kio.schema.errors import ErrorCode
from kio.static.primitive import i8, i32Timedelta
from tests.unit.doctor.probes.scripted import Scripted

from brokernat.doctor.evidence import Identity
from brokernat.doctor.probes.channel import ChannelError
from brokernat.doctor.probes.identity import is_node, who_answers, who_answers_again

INVALID_REQUEST, FORBIDDEN = 42, 31


def described(message: str | None, error: int = INVALID_REQUEST) -> DescribeConfigsResponse:
    result = DescribeConfigsResult(
        error_code=ErrorCode(error), error_message=message, resource_type=i8(4), resource_name="-1", configs=()
    )
    return DescribeConfigsResponse(throttle_time=i32Timedelta.parse(timedelta()), results=(result,))


@pytest.mark.parametrize(
    ("message", "node_id"),
    [
        ("Unexpected broker id, expected 1, but received -1", 1),
        ("Unexpected broker id, expected 1 or empty string, but received ConfigResource(name='-1').name", 1),
        ("Unexpected broker id, expected 1001 or empty string, but received -1", 1001),
        ("Unexpected broker id -1 expected 7", 7),
        ("Broker id must be an integer, but it is: x", None),
        (f"expected {'9' * 5000}", None),
        (None, None),
    ],
)
def test_what_a_refusal_tells(message: str | None, node_id: int | None) -> None:
    found = asyncio.run(who_answers(Scripted(described(message)).channel, 4, "c", [1, 2]))
    assert found.node_id == node_id
    assert found.method == ("none" if node_id is None else "describeconfigs")


def test_without_the_right_there_is_the_reason() -> None:
    found = asyncio.run(who_answers(Scripted(described(None, FORBIDDEN)).channel, 4, "c", [1]))
    assert found == Identity(None, "none", "cluster_authorization_failed")


@pytest.mark.parametrize(
    ("answer", "node_id"),
    [(described(None, 0), 1), (described("Unexpected broker id, expected 2, but received 1"), 2)],
)
def test_later_connections_are_asked_for_the_first_ones_node(answer: DescribeConfigsResponse, node_id: int) -> None:
    first = Identity(1, "describeconfigs")
    assert asyncio.run(who_answers_again(Scripted(answer).channel, first, "c", [1, 2])) == node_id


def test_a_cluster_id_that_is_none_is_not_sent() -> None:
    with pytest.raises(ChannelError, match="cluster id"):
        asyncio.run(is_node(Scripted().channel, "x" * 500, 1))
