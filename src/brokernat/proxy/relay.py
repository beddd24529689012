"""The bytes of one connection, from the client's socket to the broker's and back: the hot path.

Sockets are used directly and not through asyncio's transports. So all connections of a process share one buffer, and an
idle connection holds none. Bytes that the target does not accept at once are copied once, and their source is not read
until they are sent: a direction never holds more than one buffer, or the one response that is being rewritten. The
session decides which bytes pass and which are rewritten.

When a client shuts down its sending side, the relay shuts down its own sending side towards the broker and still
forwards responses, because the broker may still be reading records of an `acks=0` producer. To end a drained
connection, the relay shuts down its sending side towards the client and discards the client's bytes until the client
closes. Closing a socket with unread bytes would reset the connection, and a reset destroys responses that the client
has not read yet.

TLS cannot shut down only one side: a client that does so has closed the connection. A drained client receives
`close_notify` before the end of TCP; its later bytes are discarded without decryption.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final

from brokernat.proxy import polling
from brokernat.proxy.upstream import WOULD_BLOCK
from brokernat.wire import Session, WireError
from brokernat.wire.session import Chunk

BUFFER: Final = 256 << 10
"""With 64 KiB a GiB costs a third more CPU (docs/reference/performance.md)."""

_MOST_IN_FLIGHT: Final = 1000
_MOST_CHUNKS: Final = 16
"""The maximum number of chunks that one `sendmsg` sends without joining them; the kernel allows 1024 (IOV_MAX)."""
_LINGER: Final = 1.0
"""Seconds that a drained client has to close its connection."""
_READS_IN_A_ROW: Final = 16
"""The maximum number of reads from one TLS connection, 16 KiB each, before other connections are served."""


class Relay:
    """Owns both sockets, which are non-blocking.

    `served` is called once, when the client waits for nothing after its first responses; `keep` when the client has
    ended and the broker's connection can serve another one: it returns whether it takes the connection; `ended` once,
    with the error, or None for an ordinary end.

    `active` is when bytes passed last, within a second; the owner sets it by `take_counts`.
    """

    def __init__(
        self,
        client: socket.socket,
        broker: socket.socket,
        session: Session,
        buffer: memoryview,
        now: float,
        served: Callable[[], object],
        keep: Callable[[socket.socket], bool],
        ended: Callable[[Relay, Exception | None], None],
    ) -> None:
        self.session = session
        self.client, self.broker = client, broker
        self.active = now
        self._served, self._keep, self._ended = served, keep, ended
        self._draining = False
        self._hand_over: Callable[[Relay], bool] | None = None
        self._ending = False
        self._closed = False
        self._requests = _Flow(self, client, broker, self._first_request, buffer)
        responses = session.responses if session.had_request else self._first_responses
        self._responses = _Flow(self, broker, client, responses, buffer)

    def start(self) -> None:
        # A client sends its first request immediately, so it has probably arrived.
        self._requests.read_now()
        self._requests.resume()
        self._responses.resume()

    def _first_request(self, data: memoryview) -> list[Chunk]:
        """Feeds the session until the first request is complete, which the session may answer before the broker."""
        session = self.session
        chunks = session.requests(data)
        if session.had_request:
            self._requests.feed = session.requests
        if session.early_response:
            # The broker first: it takes longer.
            self._requests.send(chunks)
            self._responses.send([session.early_response])
            return []
        return chunks

    def _first_responses(self, data: memoryview) -> list[Chunk]:
        """Feeds the session until every request has its response."""
        chunks = self.session.responses(data)
        if not self.session.idle:
            return chunks
        self._responses.feed = self.session.responses
        self._responses.send(chunks)
        self._served()
        return []

    def drain(self, hand_over: Callable[[Relay], bool] | None = None) -> None:
        """Read no further request, and end the connection when every request has its response.

        Args:
            hand_over: sends the sockets to another process and returns whether it did; without it, or if it fails, the
                connection is closed.
        """
        self._draining = True
        self._hand_over = hand_over
        self.update()

    @property
    def movable(self) -> bool:
        """Whether another process can continue the connection: it is idle, and its only state is in the sockets."""
        sockets = (self.client, self.broker)
        return self.session.transferable and not any(isinstance(each, ssl.SSLSocket) for each in sockets)

    def update(self) -> None:
        """Pause, resume or end the connection, depending on the requests in flight."""
        session = self.session
        if self._draining and session.between_requests:
            self._requests.pause()
            if session.idle and not self._requests.unsent and not self._responses.unsent:
                self._end()
        elif self._requests.at_request_limit and session.in_flight < _MOST_IN_FLIGHT // 2:
            self._requests.at_request_limit = False
            self._requests.resume()
        elif session.in_flight > _MOST_IN_FLIGHT:
            self._requests.at_request_limit = True
            self._requests.pause()

    def _end(self) -> None:
        """Hand the connection over; otherwise shut it down and close it when the client has closed."""
        if self._hand_over and self.movable and self._hand_over(self):
            self.close()
            return
        try:
            ended = self._responses.end_sending()
        except ssl.SSLWantWriteError:
            self._responses.wait_for_room(self._end)
            return
        if not ended or not self._requests.discard_input():
            self.close()
            return
        self._draining, self._ending = False, True
        self._responses.stop()
        asyncio.get_running_loop().call_later(_LINGER, self.close)

    def take_counts(self) -> tuple[int, int]:
        """The bytes from the client and from the broker since the last call."""
        counts = self._requests.read_bytes, self._responses.read_bytes
        self._requests.read_bytes = self._responses.read_bytes = 0
        return counts

    def forwarded(self) -> None:
        """Called after each read."""
        if self._draining or self._requests.at_request_limit or self.session.in_flight > _MOST_IN_FLIGHT:
            self.update()

    def source_ended(self, flow: _Flow) -> None:
        """Called when the source of a flow has ended and all its bytes are sent."""
        finished = self.session.idle and not self._responses.unsent
        if flow is self._requests and not self._ending:
            if not finished and flow.shut_down_sending():
                return
            if finished and self.session.only_asked:
                # At once: the next client may already be waiting to be accepted.
                self.close(reusable=True)
                return
        # Nobody waits for the end, but perhaps a client for its connection.
        polling.running().when_idle(self.close)

    def close(self, fault: Exception | None = None, *, reusable: bool = False) -> None:
        """Close both sockets; a `reusable` connection to the broker may be kept."""
        if self._closed:
            return
        self._closed = True
        self._requests.stop()
        self._responses.stop()
        # Called before the sockets are closed: when a peer sees the end, the reason is already in the log.
        self._ended(self, fault)
        self.client.close()
        if not (reusable and self._keep(self.broker)):
            self.broker.close()


class _Flow:
    """One direction: reads `source` into the buffer, and sends the chunks that `feed` returns for it to `target`."""

    def __init__(
        self,
        relay: Relay,
        source: socket.socket,
        target: socket.socket,
        feed: Callable[[memoryview], list[Chunk]],
        buffer: memoryview,
    ) -> None:
        self.source = source
        self.unsent: Chunk = b""
        """Bytes that the target has not accepted yet; the source is not read until they are sent."""
        self.at_request_limit = False
        self.read_bytes = 0
        """Counted here, and collected once a second, because each read is in the hot path."""
        self._relay = relay
        self._target = target
        self.feed = feed
        self._buffer = buffer
        self._loop = polling.running()
        self._reading = False
        self._waits_for_room = False
        self._at_end = False
        self._stopped = False
        self._tls = isinstance(source, ssl.SSLSocket)

    def resume(self) -> None:
        if self._reading or self._stopped or self.unsent or self.at_request_limit or self._at_end:
            return
        self._reading = True
        self._loop.on_readable(self.source.fileno(), self._read_records if self._tls else self._read)
        if self._tls:
            # Bytes that are already decrypted do not make the socket readable.
            self._loop.call_soon(self._read_records)

    def read_now(self) -> None:
        """Read the bytes that have already arrived; TLS is read by `resume`."""
        if not self._tls:
            self._read()

    def pause(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.on_readable(self.source.fileno(), None)

    def stop(self) -> None:
        self.pause()
        self._stopped = True
        self._stop_waiting_for_room()

    def discard_input(self) -> bool:
        """Discard all further bytes of the source. Returns whether the source is still open."""
        self.feed = lambda _: []
        self.at_request_limit = False
        self.resume()
        return not self._at_end

    def shut_down_sending(self) -> bool:
        """Shut down sending to the target; returns whether that is possible."""
        return not isinstance(self._target, ssl.SSLSocket) and self._shut_down()

    def end_sending(self) -> bool:
        """As `shut_down_sending`, for a target whose further bytes are discarded, so that TLS can be ended, too.

        Raises:
            ssl.SSLWantWriteError: `close_notify` does not fit into the send buffer: the target has to read first.
        """
        self._stop_waiting_for_room()
        if isinstance(self._target, ssl.SSLSocket):
            # `unwrap` first sends `close_notify`, then raises SSLWantReadError: it would wait for that of the client.
            try:
                self._target.unwrap()
            except ssl.SSLWantWriteError:
                raise
            except (OSError, ValueError):
                pass
        return self._shut_down()

    def wait_for_room(self, call: Callable[[], object]) -> None:
        """Call `call` when the target is writable."""
        self._waits_for_room = True
        self._loop.on_writable(self._target.fileno(), call)

    def _stop_waiting_for_room(self) -> None:
        if self._waits_for_room:
            self._waits_for_room = False
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
        """Read once and forward; returns False if nothing was read or the connection was closed."""
        try:
            size = self.source.recv_into(self._buffer)
        except WOULD_BLOCK:
            return False
        except OSError:
            self._relay.close()
            return False
        if not size:
            self._at_end = True
            self.pause()
            if not self.unsent:
                self._relay.source_ended(self)
            return False
        try:
            chunks = self.feed(self._buffer[:size])
            if chunks:
                self.send(chunks)
        except WireError as fault:
            self._relay.close(fault)
            return False
        except OSError:
            self._relay.close()
            return False
        self.read_bytes += size
        self._relay.forwarded()
        return True

    def send(self, chunks: list[Chunk]) -> None:
        """Send the chunks, or keep the rest in `unsent`. Raises OSError."""
        size = len(chunks[0]) if len(chunks) == 1 else sum(map(len, chunks))
        try:
            if len(chunks) == 1:
                sent = self._target.send(chunks[0])
            elif len(chunks) > _MOST_CHUNKS or isinstance(self._target, ssl.SSLSocket):
                sent = self._target.send(b"".join(chunks))
            else:
                sent = self._target.sendmsg(chunks)
        except WOULD_BLOCK:
            sent = 0
        if sent < size:
            self.unsent = memoryview(b"".join(chunks))[sent:]
            self.pause()
            self.wait_for_room(self._write)

    def _write(self) -> None:
        try:
            sent = self._target.send(self.unsent)
        except WOULD_BLOCK:
            return
        except OSError:
            self._relay.close()
            return
        self.unsent = self.unsent[sent:]
        if self.unsent:
            return
        self._stop_waiting_for_room()
        if self._at_end:
            self._relay.source_ended(self)
        else:
            self.resume()
            self._relay.update()
