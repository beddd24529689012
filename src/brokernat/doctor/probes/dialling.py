"""A name to addresses, an address to a connection, and the ways in which that fails.

A look-up runs in a daemon thread of its own: the C library cannot be interrupted, and a thread of asyncio's pool would
hold up the end of the program for as long as the resolver takes. All addresses of a name are tried, because clients
take one of them and the next run another.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
from typing import TYPE_CHECKING, Literal

from brokernat.doctor.evidence import Attempt

if TYPE_CHECKING:
    import ssl

    Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


Outcome = Literal["refused", "timeout", "unreachable"]
_OUTCOMES: dict[int, Outcome] = {errno.ECONNREFUSED: "refused", errno.ETIMEDOUT: "timeout"}


async def resolve(host: str, port: int, patience: float) -> tuple[tuple[str, ...], str | None]:
    """The addresses of a host, or why there are none."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[tuple[tuple[str, ...], str | None]] = loop.create_future()

    def deliver(result: tuple[tuple[str, ...], str | None]) -> None:
        if not answer.done():
            answer.set_result(result)

    def look_up() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            result: tuple[tuple[str, ...], str | None] = tuple(dict.fromkeys(str(entry[4][0]) for entry in found)), None
        except OSError as error:
            result = (), error.strerror or type(error).__name__
        except UnicodeError:
            result = (), "not a host name"
        if not loop.is_closed():
            loop.call_soon_threadsafe(deliver, result)

    threading.Thread(target=look_up, daemon=True).start()
    try:
        return await asyncio.wait_for(answer, patience)
    except TimeoutError:
        return (), f"no answer from the name server within {patience:.0f} s"


async def connect(address: str, port: int, patience: float) -> tuple[Attempt, Streams | None]:
    """One TCP connection, to be closed by the caller."""
    try:
        streams = await asyncio.wait_for(asyncio.open_connection(address, port), patience)
    except TimeoutError:
        return Attempt(address, "timeout", f"no answer within {patience:g} s"), None
    except OSError as error:
        outcome = _OUTCOMES.get(error.errno or 0, "unreachable")
        return Attempt(address, outcome, error.strerror or type(error).__name__), None
    return Attempt(address, "connected"), streams


async def start_tls(streams: Streams, context: ssl.SSLContext, name: str, patience: float) -> None:
    """Turn a connection into a TLS one; TLS is told `name`.

    Raises:
        OSError: also ssl.SSLError and TimeoutError, as the handshake ended.
    """
    async with asyncio.timeout(patience):
        await streams[1].start_tls(context, server_hostname=name)
