"""A name to addresses, an address to a connection, and the ways in which that fails.

A look-up runs in a daemon thread of its own: the C library cannot be interrupted, and a thread of asyncio's pool would
hold up the end of the program for as long as the resolver takes. All addresses of a name are tried, because clients
take one of them and the next run another.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from typing import Literal, TypeVar, cast

from brokernat.doctor.evidence import Attempt

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


Result = TypeVar("Result")
Outcome = Literal["refused", "timeout", "unreachable"]
_OUTCOMES: dict[int, Outcome] = {errno.ECONNREFUSED: "refused", errno.ETIMEDOUT: "timeout"}


async def resolve(host: str, port: int, patience: float) -> tuple[tuple[str, ...], str | None]:
    """The addresses of a host, or why there are none."""
    with suppress(ValueError):
        # An address needs no look-up, and a thread for each of thousands would cost more than the connection.
        return (str(ip_address(host)),), None

    def look_up() -> tuple[tuple[str, ...], str | None]:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            return (), error.strerror or type(error).__name__
        except UnicodeError:
            return (), "not a host name"
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found)), None

    try:
        return await _in_a_thread(look_up, patience)
    except TimeoutError:
        return (), f"no answer from the name server within {patience:.0f} s"


async def canonical_name(address: str, patience: float) -> str:
    """What Java calls an address (`InetAddress.getCanonicalHostName`): the name that the name server has for it.

    It is the address itself where there is none, and where the name does not lead back to the address.
    """
    try:
        name = await _in_a_thread(lambda: socket.getnameinfo((address, 0), 0)[0], patience)
    except (OSError, UnicodeError):
        return address
    leads_to, _ = await resolve(name, 0, patience)
    return name if address in leads_to else address


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


async def _in_a_thread(function: Callable[[], Result], patience: float) -> Result:
    """Raises TimeoutError, and what the function raises."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: Exception | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(cast("Result", result))
        else:
            answer.set_exception(error)

    def run() -> None:
        try:
            outcome: tuple[Result | None, Exception | None] = function(), None
        except (OSError, UnicodeError) as error:
            outcome = None, error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wait_for(answer, patience)
