"""The bytes of one connection, from the client's socket to the broker's and back: the hot path.

Sockets are used directly and not through asyncio's transports. So one buffer serves all connections of a process, an
idle connection keeps none, and bytes that cannot be sent at once are copied once and stop the reading of their source:
a direction never holds more than one buffer, or the one response that is being rewritten. The
session decides what passes and how it is rewritten.

A client that has ended its half is passed on as the end of our half, because the broker may still be reading what an
`acks=0` producer has sent. A drained client is told the end in the same way, and what it still sends is dropped until
it closes: closing a socket that holds unread bytes resets the connection, and a reset destroys responses that the
client has not read yet. TLS has no half that ends: a client that ends its half has closed, and a drained one is told
by `close_notify` before the end of TCP; what it still sends is then dropped as it comes, without being decrypted.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final

from brokernat.proxy import polling
from brokernat.proxy.metrics import Counters
from brokernat.wire import Session, WireError
from brokernat.wire.session import Chunk

BUFFER: Final = 256 << 10
"""With 64 KiB a GiB costs a third more CPU (docs/reference/performance.md)."""

_MOST_IN_FLIGHT: Final = 1000
_NOT_NOW: Final = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_MOST_PIECES: Final = 16
"""That one call sends without joining them; the kernel takes 1024 (IOV_MAX)."""
_LINGER: Final = 1.0
"""For a drained client to close, in seconds."""
_READS_IN_A_ROW: Final = 16
"""Of one TLS connection, whose records are of 16 KiB, before others have their turn."""


class Clock:
    """The loop's time to the second, so that connections need not read a clock for each byte."""

    now = 0.0


class Relay:
    """Owns both sockets, which do not block. `ended` is called once, with why it ended, or None for an ordinary end.

    `active` is the time of the last byte.
    """

    def __init__(
        self,
        client: socket.socket,
        broker: socket.socket,
        session: Session,
        buffer: memoryview,
        counters: Counters,
        clock: Clock,
        ended: Callable[[Relay, Exception | None], None],
    ) -> None:
        self.session = session
        self.client, self.broker = client, broker
        self.active = clock.now
        self._clock = clock
        self._ended = ended
        self._counters = counters
        self._draining = False
        self._pass_on: Callable[[Relay], bool] | None = None
        self._ending = False
        self._closed = False
        self._requests = _Flow(self, client, broker, session.requests, buffer, "received")
        self._responses = _Flow(self, broker, client, session.responses, buffer, "sent")

    def start(self) -> None:
        self._requests.resume()
        self._responses.resume()
        # A client sends its first request at once.
        self._requests.look()

    def drain(self, pass_on: Callable[[Relay], bool] | None = None) -> None:
        """Accept no further request, and end when every request has its response.

        Args:
            pass_on: sends the sockets to another process, if possible; they are closed here in any case.
        """
        self._draining = True
        self._pass_on = pass_on
        self.update()

    @property
    def movable(self) -> bool:
        """Whether the connection is idle and has no state other than its sockets."""
        return self.session.fresh and not any(isinstance(each, ssl.SSLSocket) for each in (self.client, self.broker))

    def update(self) -> None:
        """Pause, resume or end the connection, by what has passed."""
        session = self.session
        if self._draining and session.between_requests:
            self._requests.pause()
            if session.idle and not self._requests.waiting and not self._responses.waiting:
                self._end()
        elif self._requests.crowded and session.in_flight < _MOST_IN_FLIGHT // 2:
            self._requests.crowded = False
            self._requests.resume()
        elif session.in_flight > _MOST_IN_FLIGHT:
            self._requests.crowded = True
            self._requests.pause()

    def _end(self) -> None:
        """Move the connection, or close it when the client has closed."""
        if self._pass_on and self.movable and self._pass_on(self):
            self.close()
            return
        try:
            ended = self._responses.end()
        except ssl.SSLWantWriteError:
            self._responses.await_room(self._end)
            return
        if not ended or not self._requests.drop():
            self.close()
            return
        self._draining, self._ending = False, True
        self._responses.stop()
        asyncio.get_running_loop().call_later(_LINGER, self.close)

    def passed(self, direction: str, size: int) -> None:
        self.active = self._clock.now
        self._counters.add(direction, size)
        if self._draining or self._requests.crowded or self.session.in_flight > _MOST_IN_FLIGHT:
            self.update()

    def end_of(self, flow: _Flow) -> None:
        """A side has ended and all its bytes are sent."""
        nothing_more = self.session.idle and not self._responses.waiting
        if flow is self._requests and not self._ending and not nothing_more and flow.end_half():
            return
        self.close()

    def close(self, fault: Exception | None = None) -> None:
        if self._closed:
            return
        self._closed = True
        self._requests.stop()
        self._responses.stop()
        # Who sees the end of the connection can read in the log why.
        self._ended(self, fault)
        self.client.close()
        self.broker.close()


class _Flow:
    """One direction: `source` is read into the buffer, `feed` makes chunks of it, `target` gets them."""

    def __init__(
        self,
        relay: Relay,
        source: socket.socket,
        target: socket.socket,
        feed: Callable[[memoryview], list[Chunk]],
        buffer: memoryview,
        direction: str,
    ) -> None:
        self.source = source
        self.waiting: Chunk = b""
        """What the target has not taken yet; the source is not read meanwhile."""
        self.crowded = False
        self._relay = relay
        self._target = target
        self._feed = feed
        self._buffer = buffer
        self._direction = direction
        self._loop = polling.running()
        self._reading = False
        self._awaits_room = False
        self._at_end = False
        self._stopped = False
        self._tls = isinstance(source, ssl.SSLSocket)

    def resume(self) -> None:
        if self._reading or self._stopped or self.waiting or self.crowded or self._at_end:
            return
        self._reading = True
        self._loop.on_readable(self.source.fileno(), self._read_records if self._tls else self._read)
        if self._tls:
            # Decrypted bytes do not make a socket readable.
            self._loop.call_soon(self._read_records)

    def look(self) -> None:
        """Read what has come already."""
        if not self._tls:
            self._read()

    def pause(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.on_readable(self.source.fileno(), None)

    def stop(self) -> None:
        self.pause()
        self._stopped = True
        self._await_no_room()

    def drop(self) -> bool:
        """Discard what is read from now on. Returns whether the source is still open."""
        self._feed = lambda _: []
        self.crowded = False
        self.resume()
        return not self._at_end

    def end_half(self) -> bool:
        """Send the end of the stream to the target; returns whether that worked."""
        return not isinstance(self._target, ssl.SSLSocket) and self._shut_down()

    def end(self) -> bool:
        """As `end_half`, where nothing that the target still sends is wanted: so TLS can be ended, too.

        Raises:
            ssl.SSLWantWriteError: there is no room for the end of TLS: the target has to read first.
        """
        self._await_no_room()
        if isinstance(self._target, ssl.SSLSocket):
            # Its first step sends `close_notify`; the second one would wait for the client's.
            try:
                self._target.unwrap()
            except ssl.SSLWantWriteError:
                raise
            except (OSError, ValueError):
                pass
        return self._shut_down()

    def await_room(self, call: Callable[[], object]) -> None:
        """Call this when the target is writable."""
        self._awaits_room = True
        self._loop.on_writable(self._target.fileno(), call)

    def _await_no_room(self) -> None:
        if self._awaits_room:
            self._awaits_room = False
            self._loop.on_writable(self._target.fileno(), None)

    def _shut_down(self) -> bool:
        try:
            self._target.shutdown(socket.SHUT_WR)
        except OSError:
            return False
        return True

    def _read_records(self) -> None:
        for _ in range(_READS_IN_A_ROW):
            if not self._reading or not self._read():
                return
        self._loop.call_soon(self._read_records)

    def _read(self) -> bool:
        """Once; whether there was anything."""
        try:
            size = self.source.recv_into(self._buffer)
        except _NOT_NOW:
            return False
        except OSError:
            self._relay.close()
            return False
        if not size:
            self._at_end = True
            self.pause()
            if not self.waiting:
                self._relay.end_of(self)
            return False
        try:
            chunks = self._feed(self._buffer[:size])
            if chunks:
                self._send(chunks)
        except WireError as fault:
            self._relay.close(fault)
            return False
        except OSError:
            self._relay.close()
            return False
        self._relay.passed(self._direction, size)
        return True

    def _send(self, chunks: list[Chunk]) -> None:
        """Raises OSError."""
        size = len(chunks[0]) if len(chunks) == 1 else sum(map(len, chunks))
        try:
            if len(chunks) == 1:
                sent = self._target.send(chunks[0])
            elif len(chunks) > _MOST_PIECES or isinstance(self._target, ssl.SSLSocket):
                sent = self._target.send(b"".join(chunks))
            else:
                sent = self._target.sendmsg(chunks)
        except _NOT_NOW:
            sent = 0
        if sent < size:
            self.waiting = memoryview(b"".join(chunks))[sent:]
            self.pause()
            self.await_room(self._write)

    def _write(self) -> None:
        try:
            sent = self._target.send(self.waiting)
        except _NOT_NOW:
            return
        except OSError:
            self._relay.close()
            return
        self.waiting = self.waiting[sent:]
        if self.waiting:
            return
        self._await_no_room()
        if self._at_end:
            self._relay.end_of(self)
        else:
            self.resume()
            self._relay.update()
