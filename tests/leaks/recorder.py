"""A relay between clients and the proxy that keeps every byte of both directions.

The proxy tells clients the recorder's host (`--advertise`) and its own port numbers, so the recorder listens on the
same numbers and every connection of a client passes it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from tests.leaks.scan import Stream

from brokernat.address import Endpoint

_CHUNK = 1 << 16
_START_TIMEOUT = 30


@dataclass
class Recorder:
    """What passed; `take` empties it."""

    upstream: str
    _streams: list[Stream] = field(default_factory=list)
    _relays: set[asyncio.Task[None] | None] = field(default_factory=set)

    def take(self) -> list[Stream]:
        """The streams so far. Only for a moment at which no client is connected."""
        taken, self._streams = self._streams, []
        return taken

    async def relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until one of its sides ends it."""
        port = writer.get_extra_info("sockname")[1]
        stream = Stream(port)
        self._streams.append(stream)
        self._relays.add(asyncio.current_task())
        try:
            far_reader, far_writer = await asyncio.open_connection(self.upstream, port)
            try:
                await _either(_pump(reader, far_writer, stream.sent), _pump(far_reader, writer, stream.received))
            finally:
                await _closed(far_writer)
        except OSError:
            pass
        except asyncio.CancelledError:
            # By `end`. Python 3.11 logs a cancelled task of a server as a fault.
            pass
        finally:
            await _closed(writer)
            self._relays.discard(asyncio.current_task())

    async def end(self) -> None:
        """Close what is open."""
        for relay in self._relays:
            if relay:
                relay.cancel()
        await asyncio.gather(*filter(None, self._relays), return_exceptions=True)


@contextmanager
def recording(host: str, upstream: str, ports: Iterable[int]) -> Iterator[Recorder]:
    """Relay `host:port` to `upstream:port` for each of the ports, in a thread, until the block ends."""
    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    recorder = Recorder(upstream)
    endpoints = [Endpoint(host, port) for port in ports]
    thread = threading.Thread(target=lambda: asyncio.run(_serve(recorder, endpoints, ready)))
    thread.start()
    with ExitStack() as stack:
        stack.callback(thread.join)
        loop, over = ready.result(_START_TIMEOUT)
        stack.callback(loop.call_soon_threadsafe, over.set)
        yield recorder


async def _serve(
    recorder: Recorder,
    endpoints: Iterable[Endpoint],
    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]],
) -> None:
    try:
        servers = [await asyncio.start_server(recorder.relay, end.host, end.port, backlog=512) for end in endpoints]
    except OSError as problem:
        ready.set_exception(problem)
        return
    over = asyncio.Event()
    ready.set_result((asyncio.get_running_loop(), over))
    await over.wait()
    for server in servers:
        server.close()
    await recorder.end()


async def _either(*ways: Coroutine[None, None, None]) -> None:
    """Run both until one of them ends."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray) -> None:
    while data := await reader.read(_CHUNK):
        kept += data
        writer.write(data)
        await writer.drain()


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
