"""What stands between a client and brokers and does harm: forwards with a fault, servers that are no Kafka, a name
server. All of it is one thread that has entered the network namespace of the brokers.
"""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
import struct
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import count
from typing import Any

from brokernat.address import Endpoint
from brokernat.testbed.namespaces import Namespace

SSH = b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"
HTTP = (
    b"HTTP/1.1 400 Bad Request\r\nServer: nginx/1.22.1\r\nContent-Type: text/html\r\nContent-Length: 16\r\n"
    b"Connection: close\r\n\r\n400 Bad Request\n"
)
_CHUNK = 64 * 1024
_TIMEOUT = 30
MYSQL = b"J\0\0\0\x0a8.0.36\0\x0b\0\0\0abcdefgh\0\xff\xff\xff\2\0\xff\xdf\x15" + b"\0" * 30
SMTP = b"220 mail.site.example ESMTP Postfix\r\n"
ZOOKEEPER = b"Zookeeper version: 3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC\n"
REDIS = b"-ERR unknown command, with args beginning with: \r\n"
_A_RECORD, _AAAA_RECORD = 1, 28

Answers = Callable[[str, int], tuple[str, ...]]
"""A name and the type of record -> addresses; none is NXDOMAIN, and an empty one that there is no such record."""


@dataclass(frozen=True, slots=True)
class Forward:
    """A forward and its fault. Without a target it is a server of its own."""

    to: tuple[Endpoint, ...] = ()
    """Where it leads; several are a balancer."""
    pick: str = "turns"
    """Of a balancer: `turns`, `random`, `source` (the client's address decides) or `least` (connections)."""
    cut_after: int | None = None
    """Bytes of answers, then both sides are closed."""
    close_at_request: bool = False
    reset_share: float = 0.0
    """Of connections, reset at their first request."""
    preface: bytes = b""
    """Sent to the target before the client's bytes."""
    garbles: bool = False
    """The bytes of answers are others, their lengths are right."""
    delay: float = 0.0
    """Seconds before each piece of an answer."""
    silent: bool = False
    """Reads and answers nothing."""
    largest_request: int | None = None
    """Bytes; a larger one and what follows it are swallowed."""
    largest_answer: int | None = None
    greets: bytes = b""
    """Said at once."""
    answers: bytes = b""
    """Said to any request, then closed."""
    word: bytes = b""
    """What is answered, with `answers`; anything else is closed."""
    tls: bool = False
    """Ends TLS here; what is behind gets the plain bytes."""
    once: bool = False
    """One connection is taken, and nothing listens any more."""


class Middlebox:
    """Opens and closes forwards and the name server in `place`."""

    def __init__(self, place: Namespace, certificate: tuple[str, str], seed: int = 0) -> None:
        """Nothing listens yet; `certificate` and its key are for forwards that end TLS."""
        self._certificate = certificate
        self._dice = random.Random(seed)
        self._forwards: dict[Endpoint, tuple[Forward, asyncio.Server, set[asyncio.Task[None]]]] = {}
        self._turns = count()
        self._open_to: Counter[Endpoint] = Counter()
        started: Future[asyncio.AbstractEventLoop] = Future()

        def serve() -> None:
            place._enter()
            loop = asyncio.new_event_loop()
            loop.call_soon(started.set_result, loop)
            loop.run_forever()
            loop.close()

        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()
        self._loop = started.result(_TIMEOUT)

    def close(self) -> None:
        """End all."""
        for end in list(self._forwards):
            self.shut(end)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_TIMEOUT)

    def forward(self, end: Endpoint) -> Forward | None:
        """What listens there."""
        return self._forwards[end][0] if end in self._forwards else None

    def open(self, end: Endpoint, forward: Forward) -> None:
        """Listen at `end`, instead of what listens there."""
        self.shut(end)
        self._do(self._open(end, forward))

    def shut(self, end: Endpoint) -> None:
        """Nothing listens at `end` any more, and its connections are reset."""
        if end in self._forwards:
            self._do(self._shut(end))

    def name_server(self, end: Endpoint, answers: Answers) -> Callable[[], None]:
        """Serve names at `end`. The result ends it."""

        async def begin() -> asyncio.DatagramTransport:
            transport, _ = await self._loop.create_datagram_endpoint(
                lambda: _NameServer(answers), local_addr=(end.host, end.port)
            )
            return transport

        transport = self._do(begin())
        return lambda: self._do(_ended(transport))

    def _do(self, what: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(_TIMEOUT)

    async def _open(self, end: Endpoint, forward: Forward) -> None:
        tasks: set[asyncio.Task[None]] = set()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if forward.once:
                server.close()
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            try:
                await self._serve(forward, reader, writer)
            except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                tasks.discard(task)
                writer.transport.abort()

        context = None
        if forward.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self._certificate)
        server = await asyncio.start_server(accept, end.host, end.port, ssl=context, backlog=512)
        self._forwards[end] = (forward, server, tasks)

    async def _shut(self, end: Endpoint) -> None:
        _, server, tasks = self._forwards.pop(end)
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, forward: Forward, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if forward.greets:
            writer.write(forward.greets)
        if forward.silent or forward.greets:
            while await reader.read(_CHUNK):
                pass
            return
        if forward.close_at_request or forward.answers or self._dice.random() < forward.reset_share:
            request = await reader.read(_CHUNK)
            if not forward.close_at_request and not forward.answers:
                _reset_on_close(writer)
                return
            if forward.word in (b"", request):
                writer.write(forward.answers)
            writer.close()
            await writer.wait_closed()
            return
        chosen = self._chosen(forward, writer)
        self._open_to[chosen] += 1
        try:
            await self._lead(forward, chosen, reader, writer)
        finally:
            self._open_to[chosen] -= 1

    async def _lead(
        self, forward: Forward, to: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        far_reader, far_writer = await asyncio.open_connection(to.host, to.port)
        far_writer.write(forward.preface)
        ways = {
            asyncio.ensure_future(_requests(reader, far_writer, forward)),
            asyncio.ensure_future(_answers(far_reader, writer, forward)),
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            far_writer.transport.abort()
            with suppress(OSError):
                writer.close()
                await writer.wait_closed()

    def _chosen(self, forward: Forward, writer: asyncio.StreamWriter) -> Endpoint:
        if forward.pick == "random":
            return self._dice.choice(forward.to)
        if forward.pick == "source":
            host = writer.get_extra_info("peername")[0]
            return forward.to[int(host.rpartition(".")[2]) % len(forward.to)]
        if forward.pick == "least":
            return min(forward.to, key=lambda end: self._open_to[end])
        return forward.to[next(self._turns) % len(forward.to)]


async def _requests(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, forward: Forward) -> None:
    while message := await _piece(reader, forward.largest_request):
        writer.write(message)
        await writer.drain()


async def _answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, forward: Forward) -> None:
    left = forward.cut_after
    while message := await _piece(reader, forward.largest_answer):
        if forward.delay:
            await asyncio.sleep(forward.delay)
        if forward.garbles:
            message = message[:4] + bytes(byte ^ 0x5A for byte in message[4:])
        if left is not None:
            message, left = message[:left], left - len(message)
        writer.write(message)
        await writer.drain()
        if left is not None and left <= 0:
            return


async def _piece(reader: asyncio.StreamReader, largest: int | None) -> bytes:
    """What came; of a path that swallows large messages a whole message, and nothing after a large one."""
    if largest is None:
        return await reader.read(_CHUNK)
    try:
        head = await reader.readexactly(4)
        body = await reader.readexactly(struct.unpack(">i", head)[0])
    except asyncio.IncompleteReadError:
        return b""
    if len(body) + 4 > largest:
        # As when a packet is lost each time that it is sent: the connection stays, and nothing comes any more.
        while await reader.read(_CHUNK):
            pass
        return b""
    return head + body


def _reset_on_close(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _ended(transport: asyncio.DatagramTransport) -> None:
    transport.close()


class _NameServer(asyncio.DatagramProtocol):
    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def datagram_received(self, data: bytes, address: tuple[str | Any, int]) -> None:
        labels, position = [], 12
        while length := data[position]:
            labels.append(data[position + 1 : position + 1 + length].decode())
            position += 1 + length
        question = data[12 : position + 5]
        wanted = struct.unpack_from(">H", data, position + 1)[0]
        name = ".".join(labels).lower()
        known = self._answers(name, wanted)
        records = [
            b"\xc0\x0c" + struct.pack(">HHIH", wanted, 1, 0, len(each)) + each
            for each in (ip_address(each).packed for each in known if each)
        ]
        head = data[:2] + struct.pack(">HHHHH", 0x8180 if known else 0x8183, 1, len(records), 0, 0)
        self._transport.sendto(head + question + b"".join(records), address)


def by_turns(names: Mapping[str, tuple[tuple[str, ...], ...]]) -> Answers:
    """A name server's answers: each name's are given one after the other."""
    turns: Counter[str] = Counter()

    def answer(name: str, record: int) -> tuple[str, ...]:
        if name not in names:
            return ()
        given = names[name][turns[name] % len(names[name])]
        # An answer by turns is one for both kinds of address, which are asked for one after the other.
        turns[name] += record == _A_RECORD
        wanted = tuple(each for each in given if (":" in each) == (record == _AAAA_RECORD))
        return wanted or ("",) * bool(given)

    return answer
