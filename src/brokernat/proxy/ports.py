"""The listening sockets of a process (one port for the bootstrap servers, and one for each node), and which worker gets
the next clients of a port.

Left alone, the kernel spreads them by a hash of the addresses (SO_REUSEPORT). Clients that come one after the other
then wake two processes on two cores by turns, and often find no connection to a broker that is kept for them. So one
worker at a time has the turn of a port and gets every client of it, and passes the turn on as soon as it has more
connections than another worker. Clients that stay are spread more evenly than by a hash; clients that come and go meet
a worker that is awake (docs/reference/performance.md).

The turn is a filter of one instruction for all sockets of a port, the index of the socket that is chosen
(`SO_ATTACH_REUSEPORT_CBPF`, Linux 4.5). A worker does not know which index is its own: it passes the turn to the next
index, and again if it gets another client. Where the kernel has no such filter, or for an index that no worker has, it
spreads clients by the hash.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import socket
import struct
import time
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final

from brokernat.address import Endpoint, not_bound
from brokernat.proxy import polling
from brokernat.proxy.brokers import BOOTSTRAP
from brokernat.proxy.metrics import Counters
from brokernat.proxy.nodes import node_port

_SO_ATTACH_REUSEPORT_CBPF: Final = 51
"""asm-generic/socket.h; the module `socket` does not have it."""
_RETURN_CONSTANT: Final = 0x06
"""BPF_RET | BPF_K, linux/bpf_common.h."""
_NO_INDEX: Final = 0xFFFFFFFF
_PORTS: Final = 256
"""The number of turns that are counted. More nodes share them; then a turn may move one client later."""
_SILENT: Final = 3.0
"""Seconds without a sign of life after which a worker is taken for hanging."""


class Turns:
    """The turns of all ports. Created before the workers are forked, and used in each with its own listeners."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._indexes = mmap.mmap(-1, _PORTS)
        self._signs_of_life = memoryview(mmap.mmap(-1, 8 * counters.workers)).cast("d")
        self._signs_of_life[:] = array("d", [time.monotonic()] * counters.workers)
        self._one_hangs = False
        self._accepted: dict[int, socket.socket] = {}
        """By node: the listeners that have accepted clients since this worker last compared its connections."""
        self._one_came = False

    def join(self, node_id: int, listener: socket.socket) -> None:
        """Add a listener to its port; call it after `listen`."""
        _choose(listener, self._indexes[node_id % _PORTS])

    def accepted(self, node_id: int, listener: socket.socket) -> None:
        """A listener of this worker has accepted a client."""
        if self._counters.workers == 1:
            return
        if not self._accepted:
            polling.running().when_idle(self._compare)
        self._accepted[node_id] = listener
        self._one_came = True

    def _compare(self) -> None:
        # Later than `accepted`, because connections that have ended may still be counted then.
        more = self._counters.own("connections") - self._counters.least("connections")
        if more == 1 and self._one_came:
            # The newest client may be one that goes soon.
            self._one_came = False
            polling.running().when_idle(self._compare)
            return
        if more > 0:
            for node_id, listener in self._accepted.items():
                self.pass_on(node_id, listener)
        self._accepted.clear()

    def pass_on(self, node_id: int, listener: socket.socket) -> None:
        """Give the turn to the next worker."""
        index = (self._indexes[node_id % _PORTS] + 1) % self._counters.workers
        self._indexes[node_id % _PORTS] = index
        _choose(listener, index)

    def watch(self, now: float, listeners: Mapping[int, socket.socket]) -> None:
        """Call it once a second: while a worker hangs, nobody has the turn. `now` is the system's monotonic time."""
        self._signs_of_life[self._counters.worker] = now
        one_hung, self._one_hangs = self._one_hangs, now - min(self._signs_of_life) > _SILENT
        if self._one_hangs:
            for listener in listeners.values():
                _choose(listener, _NO_INDEX)
        elif one_hung:
            for node_id, listener in listeners.items():
                self.join(node_id, listener)


def _choose(listener: socket.socket, index: int) -> None:
    """Let the kernel choose the socket with this index for the next clients of the port."""
    program = ctypes.create_string_buffer(struct.pack("=HBBI", _RETURN_CONSTANT, 0, 0, index))
    # Not on every system, or the listener has been closed: the kernel spreads by the hash.
    with suppress(OSError):
        listener.setsockopt(
            socket.SOL_SOCKET, _SO_ATTACH_REUSEPORT_CBPF, struct.pack("@HP", 1, ctypes.addressof(program))
        )


_BACKLOG: Final = 512
_PAUSE: Final = 1.0
"""Seconds without accepting clients when the process has no free file descriptor."""
_NO_DESCRIPTOR: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Ports:
    """Created before the workers are forked; each opens the same ports, and the kernel gives a client to one of them.

    Args:
        listen: the endpoint of the bootstrap servers.
        first_node: the node that has the next port.
        came: takes a client with its address, and the node whose port it has dialled; returns False if it has turned
            the client away.
        no_descriptor: is called with the reason when clients cannot be accepted.
    """

    def __init__(
        self,
        listen: Endpoint,
        first_node: int,
        counters: Counters,
        came: Callable[[socket.socket, tuple[str, int], int], bool],
        no_descriptor: Callable[[str], object],
    ) -> None:
        self._listen = listen
        self._first_node = first_node
        self._came, self._no_descriptor = came, no_descriptor
        self._turns = Turns(counters)
        self._shared = False
        self._listeners: dict[int, socket.socket] = {}

    def number(self, node_id: int) -> int:
        """The port of a node.

        Raises:
            ConfigError: it has none.
        """
        return self._listen.port if node_id == BOOTSTRAP else node_port(self._listen.port, self._first_node, node_id)

    @contextmanager
    def reserved(self, *, from_previous_program: bool) -> Iterator[None]:
        """Bind the port that the workers share, without listening: an error must be raised before workers are forked.

        Args:
            from_previous_program: whether workers of the previous program still listen on the port; otherwise it must
                be free.

        Raises:
            ConfigError: it cannot be bound.
        """
        if not from_previous_program:
            self._bind(BOOTSTRAP).close()
        self._shared = True
        with self._bind(BOOTSTRAP):
            yield

    def open(self, node_id: int) -> bool:
        """Listen on the port of a node; returns whether it is new.

        Raises:
            ConfigError: the node has no port, or it cannot be bound.
        """
        if node_id in self._listeners:
            return False
        listener = self._bind(node_id)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        self._turns.join(node_id, listener)
        self._listeners[node_id] = listener
        self._start_accepting(listener, node_id)
        return True

    def close(self) -> None:
        """Accept the waiting clients, then stop listening."""
        for node_id, listener in self._listeners.items():
            for _ in range(_BACKLOG):
                if not self._accept(listener, node_id):
                    break
            polling.running().on_readable(listener.fileno(), None)
            listener.close()

    def watch(self, now: float) -> None:
        """See `Turns.watch`."""
        self._turns.watch(now, self._listeners)

    def _bind(self, node_id: int) -> socket.socket:
        host, port = self._listen.host, self.number(node_id)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            family, _, _, _, address = found[0]
            listener = socket.socket(family, socket.SOCK_STREAM)
            try:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if self._shared:
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                if family == socket.AF_INET6:
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                listener.bind(address)
            except OSError:
                listener.close()
                raise
        except OSError as error:
            raise not_bound("the proxy", Endpoint(host, port), "--listen", error) from None
        return listener

    def _start_accepting(self, listener: socket.socket, node_id: int) -> None:
        polling.running().on_readable(listener.fileno(), partial(self._accept, listener, node_id))

    def _accept(self, listener: socket.socket, node_id: int) -> bool:
        """Accept one client, so that open connections are served before the next one is accepted.

        Returns:
            Whether another client may be waiting.
        """
        try:
            client, address = listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return False
        except OSError as error:
            self._pause(listener, node_id, error)
            return False
        if self._came(client, address, node_id):
            self._turns.accepted(node_id, listener)
        else:
            # Another worker may have room for the next one.
            self._turns.pass_on(node_id, listener)
        return True

    def _pause(self, listener: socket.socket, node_id: int, error: OSError) -> None:
        if error.errno not in _NO_DESCRIPTOR:
            raise error
        self._turns.pass_on(node_id, listener)
        self._no_descriptor(os.strerror(error.errno))
        loop = polling.running()
        loop.on_readable(listener.fileno(), None)

        def resume() -> None:
            if listener.fileno() >= 0:
                self._start_accepting(listener, node_id)

        loop.call_later(_PAUSE, resume)
