"""Nodes are asked whether they coordinate, by requests that create nothing; a yes makes the other question safe."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import cast

import pytest
from kio.schema.describe_groups.v1.response import DescribedGroup, DescribeGroupsResponse
from kio.schema.errors import ErrorCode
from kio.schema.find_coordinator.v1.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v1.response import FindCoordinatorResponse
from kio.schema.list_groups.v0.response import ListedGroup, ListGroupsResponse
from kio.schema.types import BrokerId, GroupId
from kio.static.primitive import i32, i32Timedelta
from tests.unit.doctor.probes.scripted import NONE, Scripted

from brokernat.doctor.evidence import Advertised, Coordinator, Look
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.coordinating import told_by_nodes
from brokernat.doctor.probes.look import Looker

NOW = i32Timedelta.parse(timedelta())
LOADING, NOT_COORDINATOR = ErrorCode(14), ErrorCode(16)
FORBIDDEN = ErrorCode(30)
NOT_COORDINATOR_OF_ID, FORBIDDEN_ID, NO_SUCH_ID = 16, 53, 105
GROUP = Coordinator("group", "app", error="not-asked")
ID = Coordinator("transaction", "app", error="not-asked")
FOUND = Advertised(2, "b2", 9092)


class _Looker:
    """Each endpoint has a channel of its own."""

    def __init__(self, scripts: dict[str, Scripted | None]) -> None:
        self.parallel = asyncio.Semaphore(8)
        self.deadline = asyncio.get_running_loop().time() + 60
        self._scripts = scripts

    @asynccontextmanager
    async def channel(self, look: Look, endpoint: object) -> AsyncIterator[tuple[Channel | None, Look]]:
        script = self._scripts[look.endpoint]
        yield None if script is None else script.channel, look


def asked(wanted: Coordinator, *scripts: Scripted | None, knows_transactions: bool = True) -> Coordinator:
    places = {f"10.0.0.{n}:9092": script for n, script in enumerate(scripts, 1)}
    knows = (("DescribeTransactions", 0),) if knows_transactions else ()
    looks = [Look(end, end.partition(":")[0], knows=knows) for end in places]

    async def run() -> tuple[Coordinator, ...]:
        return await told_by_nodes(cast("Looker", _Looker(places)), looks, (wanted,))

    (told,) = asyncio.run(run())
    return told


def described(error: ErrorCode) -> DescribeGroupsResponse:
    group = DescribedGroup(
        error_code=error, group_id=GroupId("app"), group_state="", protocol_type="", protocol_data="", members=()
    )
    return DescribeGroupsResponse(throttle_time=NOW, groups=(group,))


def transaction(error: int) -> bytes:
    """Behind tags, throttle time and count; of an id without a transaction, whose start is -1."""
    state = b"\x04app" + b"\x06Empty" + struct.pack(">iqqh", 60_000, -1, 1, 0) + b"\x01\0"
    return b"\0" + struct.pack(">iBh", 0, 2, error) + state + b"\0"


def listed(*groups: str) -> ListGroupsResponse:
    return ListGroupsResponse(
        error_code=NONE, groups=tuple(ListedGroup(group_id=GroupId(each), protocol_type="") for each in groups)
    )


def coordinates() -> FindCoordinatorResponse:
    return FindCoordinatorResponse(
        throttle_time=NOW, error_code=NONE, error_message=None, node_id=BrokerId(2), host="b2", port=i32(9092)
    )


@pytest.mark.parametrize("error", [NONE, LOADING])
def test_the_node_that_coordinates_shows_that_asking_is_safe(error: ErrorCode) -> None:
    other = Scripted(described(NOT_COORDINATOR), listed())
    assert asked(GROUP, other, Scripted(described(error), coordinates())) == Coordinator("group", "app", FOUND)


def test_so_does_any_group_that_a_node_lists() -> None:
    assert asked(GROUP, Scripted(described(NOT_COORDINATOR), listed("mine"), coordinates())).broker == FOUND


def test_where_nobody_says_yes_nobody_is_asked_further() -> None:
    script = Scripted(described(NOT_COORDINATOR), listed())
    assert asked(GROUP, script, None, Scripted(ChannelError("closed"))) == GROUP
    assert not any(isinstance(request, FindCoordinatorRequest) for request in script.asked)


@pytest.mark.parametrize(
    ("wanted", "answer", "error"),
    [
        (GROUP, described(FORBIDDEN), "GROUP_AUTHORIZATION_FAILED"),
        (ID, transaction(FORBIDDEN_ID), "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
    ],
)
def test_a_missing_right_is_named(wanted: Coordinator, answer: object, error: str) -> None:
    assert asked(wanted, Scripted(answer)).error == error


@pytest.mark.parametrize("error", [0, NO_SUCH_ID])
def test_the_coordinator_of_a_transactional_id(error: int) -> None:
    told = asked(ID, Scripted(transaction(NOT_COORDINATOR_OF_ID)), Scripted(transaction(error), coordinates()))
    assert told == Coordinator("transaction", "app", FOUND)


@pytest.mark.parametrize("answer", [b"", transaction(0)[:7], transaction(9999)])
def test_an_answer_that_is_none(answer: bytes) -> None:
    assert asked(ID, Scripted(answer)) == ID


def test_brokers_that_do_not_know_the_request_are_not_asked() -> None:
    script = Scripted()
    assert asked(ID, script, knows_transactions=False) == ID
    assert script.asked == []
