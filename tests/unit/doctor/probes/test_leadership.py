"""The node that leads exactly one of the partitions asked for."""

import asyncio
from typing import Any

import pytest
from tests.unit.doctor.probes.scripted import NONE, NOT_LEADER, Scripted, metadata, offsets

from brokernat.doctor.probes.channel import ChannelError
from brokernat.doctor.probes.leadership import Leadership

TWO = metadata(("a", 0, 1, NONE, (1, 2)), ("b", 0, 2, NONE, (2,)))
SWAPPED = metadata(("a", 0, 2, NONE, (1, 2)), ("b", 0, 1, NONE, (2,)))
HERE_IS_A, HERE_IS_B = offsets(a=NONE, b=NOT_LEADER), offsets(a=NOT_LEADER, b=NONE)
BOTH, NEITHER = offsets(a=NONE, b=NONE), offsets(a=NOT_LEADER, b=NOT_LEADER)


@pytest.mark.parametrize(
    ("answers", "node_id", "questions"),
    [
        ((TWO, HERE_IS_A), 1, 2),
        ((TWO, HERE_IS_B), 2, 2),
        ((TWO, NEITHER, SWAPPED, HERE_IS_A), 2, 4),
        ((TWO, BOTH, TWO, HERE_IS_A), 1, 4),
        ((TWO, BOTH, TWO, BOTH), None, 4),
        ((TWO, NEITHER, TWO, NEITHER), None, 4),
        ((metadata(), metadata()), None, 2),
    ],
    ids=["first", "second", "moved", "moving", "two-lead", "leads-nothing", "sees-nothing"],
)
def test_who_leads(answers: tuple[object, ...], node_id: int | None, questions: int) -> None:
    script = Scripted(*answers)
    assert asyncio.run(Leadership().leader_here(script.channel, "c")) == node_id
    assert len(script.asked) == questions


def test_the_leaders_of_a_cluster_are_read_once() -> None:
    leadership = Leadership()
    first, second, other = Scripted(TWO, HERE_IS_A), Scripted(HERE_IS_B), Scripted(TWO, HERE_IS_A)

    async def ask() -> list[int | None]:
        return [
            await leadership.leader_here(first.channel, "c"),
            await leadership.leader_here(second.channel, "c"),
            await leadership.leader_here(other.channel, "another"),
        ]

    assert asyncio.run(ask()) == [1, 2, 1]


def test_looks_side_by_side_read_them_once_too() -> None:
    class Slow(Scripted):
        async def ask(self, request: object, answer: object) -> Any:
            await asyncio.sleep(0)
            return await super().ask(request, answer)

    leadership = Leadership()
    first, second = Slow(TWO, HERE_IS_A), Slow(HERE_IS_B)

    async def ask() -> list[int | None]:
        return await asyncio.gather(*(leadership.leader_here(each.channel, "c") for each in (first, second)))

    assert asyncio.run(ask()) == [1, 2]


def test_who_could_not_read_them_leaves_it_to_the_next() -> None:
    leadership = Leadership()
    first, second = Scripted(ChannelError("gone")), Scripted(TWO, HERE_IS_B)

    async def ask() -> list[int | BaseException | None]:
        looks = (leadership.leader_here(each.channel, "c") for each in (first, second))
        return await asyncio.gather(*looks, return_exceptions=True)

    failed, found = asyncio.run(ask())
    assert isinstance(failed, ChannelError)
    assert found == 2
