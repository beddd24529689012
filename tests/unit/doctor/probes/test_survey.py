"""What is wrong with partitions and coordinators counts when it is still so after a pause."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.find_coordinator.v1.response import FindCoordinatorResponse
from kio.schema.types import BrokerId
from kio.static.primitive import i32, i32Timedelta
from tests.unit.doctor.probes.scripted import NONE, Scripted, metadata

from brokernat.doctor.evidence import Advertised, Coordinator, Leaderless, Look
from brokernat.doctor.probes import coordinators
from brokernat.doctor.probes import survey as module
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.look import Looker
from brokernat.doctor.probes.survey import Survey, survey

LEADER_AWAY, LISTENER_AWAY = ErrorCode(5), ErrorCode(72)
LOOK = Look("127.0.0.1:9092", "127.0.0.1", knows=(("Metadata", 12),))
GROUP = Coordinator("group", "app")
WELL = ("orders", 0, 1, NONE, (1, 2))
OFFSETS = ("__consumer_offsets", 0, 1, NONE, (1,))


class _Looker:
    def __init__(self, channel: Channel | None) -> None:
        self.parallel = asyncio.Semaphore(1)
        self.deadline = asyncio.get_running_loop().time() + 60
        self._channel = channel

    @asynccontextmanager
    async def channel(self, look: Look, endpoint: object) -> AsyncIterator[tuple[Channel | None, Look]]:
        yield self._channel, look


def surveyed(script: Scripted | None, *wanted: Coordinator) -> Survey:
    async def run() -> Survey:
        looker = _Looker(None if script is None else script.channel)
        return await survey(cast("Looker", looker), LOOK, wanted)

    return asyncio.run(run())


def coordinates(node: int, error: int = 0) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(
        throttle_time=i32Timedelta.parse(timedelta()),
        error_code=ErrorCode(error),
        error_message=None,
        node_id=BrokerId(node),
        host="b1",
        port=i32(9092),
    )


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0)
    monkeypatch.setattr(coordinators, "PAUSE", 0)


def test_the_nodes_that_hold_partitions() -> None:
    script = Scripted(metadata(WELL, ("tags", 0, 3, NONE, (3,))))
    assert surveyed(script) == Survey((1, 2, 3))
    assert len(script.asked) == 1


def test_a_leader_that_comes_back_is_no_news() -> None:
    away = metadata(WELL, ("tags", 0, -1, LEADER_AWAY, (3,)), ("tags", 1, -1, LISTENER_AWAY, (2,)))
    again = metadata(WELL, ("tags", 0, 3, NONE, (3,)), ("tags", 1, -1, LISTENER_AWAY, (2, 4)))
    expected = (Leaderless("LISTENER_NOT_FOUND", 1, "tags-1", (2, 4)),)
    assert surveyed(Scripted(away, again)).leaderless == expected


def test_partitions_are_counted_by_error() -> None:
    away = metadata(*((f"t{n}", 0, -1, LEADER_AWAY, (n,)) for n in (3, 1, 2)))
    assert surveyed(Scripted(away, away)).leaderless == (Leaderless("LEADER_NOT_AVAILABLE", 3, "t1-0", (1, 2, 3)),)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ((coordinates(1),), Coordinator("group", "app", Advertised(1, "b1", 9092))),
        ((coordinates(-1, 15), coordinates(2)), Coordinator("group", "app", Advertised(2, "b1", 9092))),
        ((coordinates(-1, 15), coordinates(-1, 15)), Coordinator("group", "app", error="COORDINATOR_NOT_AVAILABLE")),
        ((coordinates(-1, 30),), Coordinator("group", "app", error="GROUP_AUTHORIZATION_FAILED")),
    ],
    ids=["at-once", "later", "never", "forbidden"],
)
def test_a_coordinator(answers: tuple[object, ...], expected: Coordinator) -> None:
    script = Scripted(metadata(OFFSETS), *answers)
    assert surveyed(script, GROUP).coordinators == (expected,)
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
    script = Scripted(metadata(OFFSETS), coordinates(1), ChannelError("closed"))
    assert surveyed(script, first, second) == Survey((1,), coordinators=(told, open_))
    assert surveyed(None, second) == Survey(coordinators=(open_,))
