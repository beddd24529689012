"""A broker behind a path that does harm: it cuts, resets, delays, swallows, or says what it should not.

What the broker would say is that of the simulated brokers; what comes of it on the way is told by one `Path`.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.simulated_brokers import Simulated

from brokernat.address import Endpoint
from brokernat.doctor.credentials import ClientSide
from brokernat.doctor.evidence import EndpointProbe
from brokernat.doctor.probes.walk import Prober

API_VERSIONS, METADATA = 18, 3
NODES = (1, 2, 3)
TIMEOUT = 60


@dataclass
class Path:
    """What becomes of connections. `resets` are their numbers, from 1, that are reset at the first request.

    `closes_at` is the key of a request at which each connection ends.
    `answers` bends what the broker says to a request of that key; None is silence from there on.
    """

    closes: bool = False
    closes_at: int | None = None
    resets: frozenset[int] = frozenset()
    cut_after: int | None = None
    largest_request: int | None = None
    largest_answer: int | None = None
    at_once: int | None = None
    greets: bytes = b""
    answers: Mapping[int, Callable[[bytes], bytes | None]] = field(default_factory=dict)


@dataclass
class Met:
    """What the server saw: connections, how many of them at once, and the versions of each request."""

    connections: int = 0
    most_at_once: int = 0
    versions: dict[int, set[int]] = field(default_factory=dict)


def probed_through(
    path: Path, patience: float = 20.0, cluster: Mapping[str, Any] | None = None
) -> tuple[EndpointProbe, Met]:
    """A probe of node 1 through such a path, and what came of it at the other end."""
    return asyncio.run(_run(path, patience, cluster or {}))


async def _run(path: Path, patience: float, options: Mapping[str, Any]) -> tuple[EndpointProbe, Met]:
    met, open_now, talks = Met(), 0, set[asyncio.Task[None] | None]()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open_now
        talks.add(asyncio.current_task())
        met.connections, open_now = met.connections + 1, open_now + 1
        met.most_at_once = max(met.most_at_once, open_now)
        number, crowded = met.connections, path.at_once is not None and open_now > path.at_once
        try:
            if not crowded:
                writer.write(path.greets)
                await _converse(reader, writer, path, number, simulated, met)
        except (asyncio.IncompleteReadError, ConnectionError, struct.error):
            pass
        finally:
            open_now -= 1
            writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        here = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
        simulated = Simulated(dict.fromkeys(NODES, here), **options)
        deadline = asyncio.get_running_loop().time() + TIMEOUT
        probe = await Prober(ClientSide(), patience, deadline, asyncio.Semaphore(1)).probe(here, expected=1)
        await asyncio.gather(*filter(None, talks), return_exceptions=True)
    return probe, met


async def _converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: Path, number: int, cluster: Simulated, met: Met
) -> None:
    sent = 0
    while True:
        (length,) = struct.unpack(">i", await reader.readexactly(4))
        if length > 1 << 20:
            # A hello of TLS or a line of HTTP, as brokers find too.
            return
        request = await reader.readexactly(length)
        if path.closes or number in path.resets:
            if number in path.resets:
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                writer.transport.abort()
            return
        api, version = struct.unpack_from(">hh", request)
        met.versions.setdefault(api, set()).add(version)
        right, bend = cluster.answer(1, request), path.answers.get(api)
        if api == path.closes_at or (right is None and bend is None):
            return
        said = bend(right) if bend is not None and right is not None else right
        swallowed = path.largest_request is not None and length > path.largest_request
        if said is None or swallowed or (path.largest_answer is not None and len(said) > path.largest_answer):
            await reader.read()
            return
        if path.cut_after is not None and sent + len(said) > path.cut_after:
            writer.write(said[: path.cut_after - sent])
            await writer.drain()
            return
        sent += len(said)
        writer.write(said)
        await writer.drain()
