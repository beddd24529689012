"""The listening sockets of a process: one port for the bootstrap servers, and one for each node."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from brokernat.address import Endpoint, not_bound
from brokernat.proxy import polling
from brokernat.proxy.brokers import BOOTSTRAP
from brokernat.proxy.metrics import Counters
from brokernat.proxy.nodes import node_port
from brokernat.proxy.turns import Turns

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
