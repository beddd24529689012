"""Resolves names and connects to addresses, and classifies the failures.

Each name lookup runs in its own daemon thread: the C library cannot be interrupted, and a thread of asyncio's pool
would delay the end of the program until the resolver returns. All addresses of a name are tried, because each client
run may use another one.

A rejecting firewall and a port without a listener give a program the same error. Linux keeps the ICMP message
(IP_RECVERR) with its type and sender, which distinguishes them.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
import struct
import sys
import threading
from collections.abc import AsyncIterator, Callable, Container
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Literal, TypeVar

from brokernat.doctor.evidence import Attempt, NameLookup
from brokernat.doctor.host_kinds import canonical
from brokernat.doctor.probes.channel import CountingReader

Streams = tuple[CountingReader, asyncio.StreamWriter]
Result = TypeVar("Result")
Outcome = Literal["connected", "refused", "timeout", "unreachable"]

HOSTS = Path("/etc/hosts")
TRIES = 3
_PAUSE = 0.1
_AGAIN = 3
"""Number of lookups: a name server may rotate its answers, and clients resolve a name for each connection."""
_JOINED = 1.25
"""A little longer than Linux waits before it sends the first packet again, in seconds."""
# ECONNRESET: a peer or a firewall resets the connection at once.
_OUTCOMES: dict[int, Outcome] = {
    errno.ECONNREFUSED: "refused",
    errno.ECONNRESET: "refused",
    errno.ETIMEDOUT: "timeout",
}
_UNKNOWN = {getattr(socket, name) for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY") if hasattr(socket, name)}
# Python has no names for these of Linux.
_IP_RECVERR, _IPV6_RECVERR, _BY_ICMP, _BY_ICMP6 = 11, 25, 2, 3
_ICMP = {
    (_BY_ICMP, 3, 0): "net-unreachable",
    (_BY_ICMP, 3, 1): "host-unreachable",
    (_BY_ICMP, 3, 3): "port-unreachable",
    (_BY_ICMP, 3, 9): "net-prohibited",
    (_BY_ICMP, 3, 10): "host-prohibited",
    (_BY_ICMP, 3, 13): "admin-prohibited",
    (_BY_ICMP6, 1, 0): "net-unreachable",
    (_BY_ICMP6, 1, 1): "admin-prohibited",
    (_BY_ICMP6, 1, 3): "host-unreachable",
    (_BY_ICMP6, 1, 4): "port-unreachable",
    (_BY_ICMP6, 1, 5): "admin-prohibited",
    (_BY_ICMP6, 1, 6): "net-unreachable",
}
_NO_ROUTE = ("net-unreachable", "host-unreachable")


async def resolve(host: str, port: int, patience: float, *, canonical: bool = False) -> NameLookup:
    """The addresses of a host, or why there are none; with their canonical names if requested."""
    with suppress(ValueError):
        # An address needs no lookup, and thousands of threads would cost more than the connections.
        address = str(ip_address(host))
        return NameLookup("ok", (address,), canonical=await _canonical((address,), patience) if canonical else ())
    until = asyncio.get_running_loop().time() + patience
    try:
        addresses = await _addresses(host, port, until)
    except TimeoutError:
        return NameLookup("no-answer", detail=f"no answer from the name server within {patience:.0f} s")
    except UnicodeError:
        return NameLookup("not-a-name", detail="not a host name")
    except OSError as error:
        outcome: Literal["unknown", "no-answer"] = "unknown" if error.errno in _UNKNOWN else "no-answer"
        return NameLookup(outcome, detail=error.strerror or type(error).__name__)
    line = deciding_line(host, addresses)
    with suppress(OSError):
        for _ in range(_AGAIN if line is None else 0):
            addresses = tuple(dict.fromkeys((*addresses, *await _addresses(host, port, until))))
    names = await _canonical(addresses, patience) if canonical else ()
    return NameLookup("ok", addresses, "", line, names, _is_own_name(host))


def _is_own_name(host: str) -> bool:
    """Whether this is the host name of this machine, with or without a domain."""
    return _without_domain(host) == _without_domain(socket.gethostname())


def _without_domain(host: str) -> str:
    return host.partition(".")[0].lower()


async def _addresses(host: str, port: int, until: float) -> tuple[str, ...]:
    """The addresses of one lookup, until this time of the loop's clock; raises OSError and UnicodeError."""
    patience = until - asyncio.get_running_loop().time()
    found = await _in_a_thread(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), patience)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


async def _canonical(addresses: tuple[str, ...], patience: float) -> tuple[str, ...]:
    return tuple(await asyncio.gather(*(canonical_name(each, patience) for each in addresses)))


async def canonical_name(address: str, patience: float) -> str:
    """Java's canonical name of an address (`InetAddress.getCanonicalHostName`): its name in reverse DNS.

    It is the address itself if there is no name, or if the name does not resolve back to the address.
    """
    try:
        name = await _in_a_thread(lambda: socket.getnameinfo((address, 0), 0)[0], patience)
    except (OSError, UnicodeError):
        return address
    return name if address in (await resolve(name, 0, patience)).addresses else address


def deciding_line(host: str, addresses: Container[str]) -> str | None:
    """The line of this machine's hosts file with the name and one of its resolved addresses."""
    try:
        return line_for(HOSTS.read_text("utf-8", "replace"), host, addresses)
    except OSError:
        return None


def line_for(text: str, host: str, addresses: Container[str]) -> str | None:
    """The same for the text of a hosts file; `localhost` does not count."""
    name = host.lower().rstrip(".")
    for line in text.splitlines() if name != "localhost" else ():
        address, *names = line.partition("#")[0].split() or [""]
        if name in map(str.lower, names) and canonical(address) in addresses:
            return " ".join((address, *names))
    return None


async def connect(
    address: str,
    port: int,
    patience: float,
    *,
    tries: int = 1,
    source: str | None = None,
    faults: list[Outcome] | None = None,
) -> tuple[Attempt, Streams | None]:
    """A TCP connection, to be closed by the caller.

    If a try gets no answer, the next one starts beside it from another local port, so all tries take no longer than
    one. This distinguishes a lost packet, or a balancer with a dead target, from a firewall that drops all packets. Of
    the tries without an answer only those before the one that worked have failed. `source` is the local address. The
    outcome of each failed try is appended to `faults`.
    """
    clock = asyncio.get_running_loop()
    end, waiting = clock.time() + patience, dict[asyncio.Task[tuple[Attempt, Streams | None]], int]()
    made, failed = 0, [] if faults is None else faults
    last = Attempt(address, "timeout", f"no answer within {patience:g} s")
    try:
        while True:
            if made < tries and clock.time() < end:
                made += 1
                waiting[asyncio.create_task(_connect(address, port, end - clock.time(), source))] = made
            if not waiting:
                break
            until = end - clock.time() + 1 if made == tries else min(_JOINED, patience / (tries + 1))
            done, _ = await asyncio.wait(waiting, timeout=until, return_when=asyncio.FIRST_COMPLETED)
            for each in sorted(done, key=waiting.__getitem__):
                number = waiting.pop(each)
                attempt, streams = each.result()
                if streams is not None:
                    failed += ["timeout"] * sum(other < number for other in waiting.values())
                    return replace(attempt, made=len(failed) + 1, failed=len(failed)), streams
                last = attempt
                failed.append(attempt.outcome)
            if done and made < tries:
                await asyncio.sleep(min(_PAUSE * len(failed), max(0.0, end - clock.time())))
    finally:
        for each in waiting:
            each.cancel()
            each.add_done_callback(_drop)
    return replace(last, made=made, failed=made), None


def _drop(task: asyncio.Task[tuple[Attempt, Streams | None]]) -> None:
    """Close a connection that came too late."""
    if not task.cancelled():
        close(task.result()[1])


async def _connect(address: str, port: int, patience: float, source: str | None) -> tuple[Attempt, Streams | None]:
    loop = asyncio.get_running_loop()
    place = (await loop.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST))[0]
    own = socket.socket(place[0], socket.SOCK_STREAM)
    own.setblocking(False)
    try:
        if sys.platform == "linux":
            level, option = _recverr(own)
            own.setsockopt(level, option, 1)
        if source is not None:
            own.bind((source, 0))
        async with asyncio.timeout(patience):
            await loop.sock_connect(own, place[4])
        reader = CountingReader(loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        transport, _ = await loop.create_connection(lambda: protocol, sock=own)
    except TimeoutError:
        own.close()
        return Attempt(address, "timeout", f"no answer within {patience:.2g} s"), None
    except OSError as error:
        icmp, sender = _icmp_of(own)
        here = own.getsockname()[0]
        if icmp in _NO_ROUTE and sender not in ("", address) and sender == here:
            # Linux sends this ICMP message to itself if the next hop, or the host in its own network, does not answer.
            icmp = ""
        elif here == address:
            sender = here
        own.close()
        outcome = _OUTCOMES.get(error.errno or 0, "unreachable")
        # asyncio replaces `strerror` with its own text.
        words = os.strerror(error.errno) if error.errno else type(error).__name__
        return Attempt(address, outcome, words, icmp, sender, reported_here=bool(icmp) and sender == here), None
    except asyncio.CancelledError:
        own.close()
        raise
    return Attempt(address, "connected"), (reader, asyncio.StreamWriter(transport, protocol, reader, loop))


def _recverr(own: socket.socket) -> tuple[int, int]:
    inet6 = own.family == socket.AF_INET6
    return (socket.IPPROTO_IPV6, _IPV6_RECVERR) if inet6 else (socket.IPPROTO_IP, _IP_RECVERR)


def _icmp_of(own: socket.socket) -> tuple[str, str]:
    """The ICMP message that ended a connection, and its sender; empty if there was none or the system keeps none."""
    if sys.platform != "linux":
        return "", ""
    try:
        _, found, _, _ = own.recvmsg(0, 512, socket.MSG_ERRQUEUE)
    except OSError:
        return "", ""
    for level, option, data in found:
        if (level, option) == _recverr(own):
            # struct sock_extended_err, followed by the address of the sender.
            _, origin, kind, code = struct.unpack_from("=IBBB", data)
            four = origin == _BY_ICMP
            raw = data[20:24] if four else data[24:40]
            sender = socket.inet_ntop(socket.AF_INET if four else socket.AF_INET6, raw) if raw else ""
            return _ICMP.get((origin, kind, code), ""), sender
    return "", ""


@asynccontextmanager
async def connected(address: str, port: int, patience: float) -> AsyncIterator[Streams | None]:
    """A TCP connection for one request, None if it fails."""
    _, streams = await connect(address, port, patience)
    try:
        yield streams
    finally:
        close(streams)


def close(streams: Streams | None) -> None:
    """Ends a connection at once, if there is one."""
    if streams is not None:
        streams[1].transport.abort()


async def start_tls(streams: Streams, context: ssl.SSLContext, name: str, patience: float) -> None:
    """Start TLS on a connection; `name` is the server name.

    Raises:
        OSError: the handshake failed; also ssl.SSLError and TimeoutError.
    """
    async with asyncio.timeout(patience):
        await streams[1].start_tls(context, server_hostname=name)


async def _in_a_thread(function: Callable[[], Result], patience: float) -> Result:
    """Raises TimeoutError, and the errors of the function."""
    answer = Future[Result]()
    # Once it runs, the end of the waiting cannot cancel it, and the thread may still set a result that nobody reads.
    answer.set_running_or_notify_cancel()

    def run() -> None:
        try:
            answer.set_result(function())
        except (OSError, UnicodeError) as error:
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wait_for(asyncio.wrap_future(answer), patience)
