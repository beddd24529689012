"""Endpoints that accept no more connections while others are open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import pytest

from brokernat.doctor.probes.limits import only_one_at_a_time, refused_together

Answer = TypeVar("Answer")


async def listened_at(
    servers: int, keeps: Callable[[int, int], bool], ask: Callable[[list[tuple[str, int]]], Awaitable[Answer]]
) -> tuple[Answer, list[tuple[str, int]]]:
    """The answer about servers that keep connections as `keeps` decides by the open ones and those so far."""
    writers: list[asyncio.StreamWriter] = []
    opened = 0

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened
        writers.append(writer)
        if keeps(opened, len(writers)):
            opened += 1
            with suppress(ConnectionError):
                await reader.read()
            opened -= 1
        writer.close()

    listening = [await asyncio.start_server(take, "127.0.0.1", 0) for _ in range(servers)]
    places = [("127.0.0.1", each.sockets[0].getsockname()[1]) for each in listening]
    found = await ask(places)
    for each in listening:
        each.close()
    for writer in writers:
        with suppress(ConnectionError):
            await writer.wait_closed()
    return found, places


async def refused_at(servers: int, keeps: Callable[[int, int], bool]) -> list[int]:
    """The servers that refuse connections while others are open."""
    found, places = await listened_at(servers, keeps, lambda places: refused_together(places, 5))
    return [places.index(each) for each in found]


@pytest.mark.parametrize(("limit", "expected"), [(2, [2]), (3, [])])
def test_a_limit_of_connections_shows_while_they_are_open(limit: int, expected: list[int]) -> None:
    assert asyncio.run(refused_at(3, lambda opened, _: opened < limit)) == expected


@pytest.mark.parametrize(
    ("keeps", "expected"),
    [
        (lambda opened, _: opened < 1, True),
        (lambda opened, _: opened < 2, False),
        (lambda _, number: number % 2 == 1, False),
        (lambda _, number: number == 1, False),
    ],
    ids=["one", "two", "every second", "the first alone"],
)
def test_a_limit_of_one_connection_is_told_from_chance(keeps: Callable[[int, int], bool], expected: bool) -> None:
    found, _ = asyncio.run(listened_at(1, keeps, lambda places: only_one_at_a_time(places[0], 5)))
    assert found == expected


def test_connections_that_are_closed_by_chance_are_no_limit() -> None:
    assert asyncio.run(refused_at(4, lambda _, made: made % 3 > 0)) == []
