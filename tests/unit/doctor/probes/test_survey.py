"""What is asked once for a cluster.

What is wrong with partitions and coordinators counts when it is still so after a pause. Nodes are asked whether they
coordinate by requests that create nothing; a yes makes the other question safe.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest
from kio.schema.describe_groups.v1.response import DescribedGroup, DescribeGroupsResponse
from kio.schema.end_txn.v1.request import EndTxnRequest
from kio.schema.end_txn.v1.response import EndTxnResponse
from kio.schema.errors import ErrorCode
from kio.schema.find_coordinator.v1.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v1.response import FindCoordinatorResponse
from kio.schema.heartbeat.v1.response import HeartbeatResponse
from kio.schema.list_groups.v0.response import ListedGroup, ListGroupsResponse
from kio.schema.types import BrokerId, GroupId
from kio.static.primitive import i32, i32Timedelta
from tests.unit.doctor.probes.scripted import NONE, Scripted, metadata

from brokernat.address import Endpoint
from brokernat.doctor.evidence import Advertised, Coordinator, EndpointProbe, Leaderless
from brokernat.doctor.probes import survey as module
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.survey import Survey, survey, told_by_nodes
from brokernat.doctor.probes.walk import Prober

NOW = i32Timedelta.parse(timedelta())
LEADER_AWAY, LISTENER_AWAY = ErrorCode(5), ErrorCode(72)
HERE = EndpointProbe("127.0.0.1:9092", "127.0.0.1")
GROUP = Coordinator("group", "app")
WELL = ("orders", 0, 1, NONE, (1, 2))
OFFSETS = ("__consumer_offsets", 0, 1, NONE, (1,))


class _Prober:
    """Each endpoint has a channel of its own."""

    def __init__(self, scripts: dict[str, Scripted | None]) -> None:
        self.parallel = asyncio.Semaphore(8)
        self.deadline = asyncio.get_running_loop().time() + 60
        self._scripts = scripts

    @asynccontextmanager
    async def turn(self, endpoint: Endpoint, node_id: int | None) -> AsyncIterator[None]:
        yield

    @asynccontextmanager
    async def channel(self, probe: EndpointProbe) -> AsyncIterator[tuple[Channel | None, None]]:
        script = self._scripts[probe.endpoint]
        yield None if script is None else script.channel, None


def surveyed(script: Scripted | None, *wanted: Coordinator) -> Survey:
    async def run() -> Survey:
        return await survey(cast("Prober", _Prober({HERE.endpoint: script})), HERE, wanted)

    return asyncio.run(run())


def coordinates(node: int, error: int = 0) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(
        throttle_time=NOW,
        error_code=ErrorCode(error),
        error_message=None,
        node_id=BrokerId(node),
        host="b1",
        port=i32(9092),
    )


def beaten(error: int) -> HeartbeatResponse:
    """How a broker answers a member that no group has."""
    return HeartbeatResponse(throttle_time=NOW, error_code=ErrorCode(error))


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0)


def test_the_nodes_that_hold_partitions() -> None:
    script = Scripted(metadata(WELL, ("tags", 0, 3, NONE, (3,))))
    assert surveyed(script) == Survey((1, 2, 3), in_sync=(1, 3))
    assert len(script.asked) == 1


def test_a_leader_that_comes_back_is_no_news() -> None:
    away = metadata(WELL, ("tags", 0, -1, LEADER_AWAY, (3,)), ("tags", 1, -1, LISTENER_AWAY, (2,)))
    again = metadata(WELL, ("tags", 0, 3, NONE, (3,)), ("tags", 1, -1, LISTENER_AWAY, (2, 4)))
    expected = (Leaderless("LISTENER_NOT_FOUND", 1, "tags-1", (2, 4)),)
    assert surveyed(Scripted(away, again)).leaderless == expected


def test_the_last_replica_of_a_partition_without_a_leader_is_no_proof_that_its_broker_runs() -> None:
    """It stays in the list of in-sync replicas; without the listener only, its broker runs."""
    away = metadata(WELL, ("tags", 0, -1, LEADER_AWAY, (3,)), ("tags", 1, -1, LISTENER_AWAY, (2,)))
    found = surveyed(Scripted(away, away))
    assert (found.replicas, found.in_sync) == ((1, 2, 3), (1, 2))


def test_partitions_are_counted_by_error() -> None:
    away = metadata(*((f"t{n}", 0, -1, LEADER_AWAY, (n,)) for n in (3, 1, 2)))
    assert surveyed(Scripted(away, away)).leaderless == (Leaderless("LEADER_NOT_AVAILABLE", 3, "t1-0", (1, 2, 3)),)


def test_partitions_of_topics_that_were_not_asked_for_are_counted_apart() -> None:
    places = {("mine", 0): ("LEADER_NOT_AVAILABLE", (3,)), ("other", 1): ("LEADER_NOT_AVAILABLE", (2,))}
    assert module._summed(places, ["mine"]) == (
        Leaderless("LEADER_NOT_AVAILABLE", 1, "mine-0", (3,)),
        Leaderless("LEADER_NOT_AVAILABLE", 1, "other-1", (2,), wanted=False),
    )


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ((coordinates(1), beaten(25)), Coordinator("group", "app", Advertised(1, "b1", 9092))),
        ((coordinates(-1, 15), coordinates(2), beaten(16)), Coordinator("group", "app", Advertised(2, "b1", 9092))),
        ((coordinates(1), beaten(30)), Coordinator("group", "app", Advertised(1, "b1", 9092), forbidden=True)),
        ((coordinates(1), ChannelError("closed")), Coordinator("group", "app", Advertised(1, "b1", 9092))),
        ((coordinates(-1, 15), coordinates(-1, 15)), Coordinator("group", "app", error="COORDINATOR_NOT_AVAILABLE")),
        ((coordinates(-1, 30),), Coordinator("group", "app", error="GROUP_AUTHORIZATION_FAILED")),
    ],
    ids=["at-once", "later", "may-not-join", "unknown-whether-it-may-join", "never", "forbidden"],
)
def test_a_coordinator(answers: tuple[object, ...], expected: Coordinator) -> None:
    script = Scripted(metadata(OFFSETS), *answers)
    assert surveyed(script, GROUP).coordinators == [expected]
    assert not script.answers


def test_a_coordinator_whose_topic_is_missing_is_not_asked_for() -> None:
    script = Scripted(metadata(WELL))
    found = surveyed(script, GROUP, Coordinator("transaction", "app"))
    assert {(each.kind, each.error) for each in found.coordinators} == {
        ("group", "not-asked"),
        ("transaction", "not-asked"),
    }
    assert len(script.asked) == 1


def test_what_was_seen_before_the_connection_ended_is_kept_and_the_rest_is_said_to_be_open() -> None:
    first, second = Coordinator("group", "first"), Coordinator("group", "second")
    told, open_ = replace(first, broker=Advertised(1, "b1", 9092)), replace(second, error="not-answered")
    script = Scripted(metadata(OFFSETS), coordinates(1), beaten(25), ChannelError("closed"))
    assert surveyed(script, first, second) == Survey((1,), (1,), coordinators=[told, open_])
    assert surveyed(None, second) == Survey(coordinators=[open_])


LOADING, NOT_COORDINATOR = ErrorCode(14), ErrorCode(16)
FORBIDDEN = ErrorCode(30)
NOT_COORDINATOR_OF_ID, NO_SUCH_PRODUCER, FORBIDDEN_ID, NO_SUCH_ID = 16, 49, 53, 105
UNASKED = Coordinator("group", "app", error="not-asked")
ID = Coordinator("transaction", "app", error="not-asked")
FOUND = Advertised(2, "b2", 9092)


def asked(wanted: Coordinator, *scripts: Scripted | None, knows_transactions: bool = True) -> Coordinator:
    places = {f"10.0.0.{n}:9092": script for n, script in enumerate(scripts, 1)}
    for script in filter(None, scripts):
        script.offered = None if knows_transactions else {}
    probes = [EndpointProbe(end, end.partition(":")[0]) for end in places]

    async def run() -> tuple[Coordinator, ...]:
        return await told_by_nodes(cast("Prober", _Prober(places)), probes, (wanted,))

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


def coordinates_two() -> FindCoordinatorResponse:
    return FindCoordinatorResponse(
        throttle_time=NOW, error_code=NONE, error_message=None, node_id=BrokerId(2), host="b2", port=i32(9092)
    )


@pytest.mark.parametrize("error", [NONE, LOADING])
def test_the_node_that_coordinates_shows_that_asking_is_safe(error: ErrorCode) -> None:
    other = Scripted(described(NOT_COORDINATOR), listed())
    assert asked(UNASKED, other, Scripted(described(error), coordinates_two(), beaten(25))) == Coordinator(
        "group", "app", FOUND
    )


def test_so_does_any_group_that_a_node_lists() -> None:
    assert (
        asked(UNASKED, Scripted(described(NOT_COORDINATOR), listed("mine"), coordinates_two(), beaten(25))).broker
        == FOUND
    )


def test_where_nobody_says_yes_nobody_is_asked_further() -> None:
    script = Scripted(described(NOT_COORDINATOR), listed())
    assert asked(UNASKED, script, None, Scripted(ChannelError("closed"))) == UNASKED
    assert not any(isinstance(request, FindCoordinatorRequest) for request in script.asked)


@pytest.mark.parametrize(
    ("wanted", "answer", "error"),
    [
        (UNASKED, described(FORBIDDEN), "GROUP_AUTHORIZATION_FAILED"),
        (ID, transaction(FORBIDDEN_ID), "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
    ],
)
def test_a_missing_right_is_named(wanted: Coordinator, answer: object, error: str) -> None:
    assert asked(wanted, Scripted(answer)).error == error


@pytest.mark.parametrize(("end", "forbidden"), [(NO_SUCH_PRODUCER, False), (FORBIDDEN_ID, True)])
@pytest.mark.parametrize("error", [0, NO_SUCH_ID])
def test_the_coordinator_of_a_transactional_id(error: int, end: int, forbidden: bool) -> None:
    ended = EndTxnResponse(throttle_time=NOW, error_code=ErrorCode(end))
    script = Scripted(transaction(error), coordinates_two(), ended)
    told = asked(ID, Scripted(transaction(NOT_COORDINATOR_OF_ID)), script)
    assert told == Coordinator("transaction", "app", FOUND, forbidden=forbidden)
    assert isinstance(script.asked[-1], EndTxnRequest)
    # A producer that no coordinator has given out, so nothing ends.
    assert (script.asked[-1].producer_id, script.asked[-1].producer_epoch) == (-1, -1)


@pytest.mark.parametrize("answer", [b"", transaction(0)[:7], transaction(9999)])
def test_an_answer_that_is_none(answer: bytes) -> None:
    assert asked(ID, Scripted(answer)) == ID


def test_brokers_that_do_not_know_the_request_are_not_asked() -> None:
    script = Scripted()
    assert asked(ID, script, knows_transactions=False) == ID
    assert script.asked == []
