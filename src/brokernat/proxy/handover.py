"""Moves connections to another process: both sockets of each, through a Unix socket between the processes.

A restart moves every connection when all its requests have their responses, so clients notice nothing. Connections with
TLS, an unfinished login or a partial request have state in this process and are closed instead.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_LARGEST: Final = 1024
_PATIENCE: Final = 1.0
"""For the other process to take one, in seconds."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The sockets of a client and its broker; `dialled` is the endpoint of the node, empty for a bootstrap server."""

    node_id: int
    dialled: str
    client: socket.socket
    broker: socket.socket


class Handover:
    """A queue of connections from all workers of one program to all workers of the next; any worker may read."""

    def __init__(self) -> None:
        self._sending, self._receiving = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sending.settimeout(_PATIENCE)

    def send(self, connection: Connection) -> bool:
        """Send a connection; the caller closes its own copy. Returns whether it was sent."""
        header = json.dumps([connection.node_id, connection.dialled]).encode()
        try:
            socket.send_fds(self._sending, [header], [connection.client.fileno(), connection.broker.fileno()])
        except OSError:
            return False
        return True

    def keep(self) -> str:
        """Keep the receiving end open for the next program; returns the argument for its `kept_end`."""
        self._receiving.set_inheritable(True)
        return str(self._receiving.fileno())


def kept_end(descriptor: str) -> socket.socket:
    """The receiving end that the previous program has kept."""
    found = socket.socket(fileno=int(descriptor))
    found.set_inheritable(False)
    found.setblocking(False)
    return found


def connections(receiving: socket.socket) -> Iterator[Connection]:
    """The received connections. Raises EOFError after the last one."""
    while True:
        try:
            header, descriptors, _, _ = socket.recv_fds(receiving, _LARGEST, 2)
        except BlockingIOError:
            return
        if not header:
            raise EOFError
        client, broker = (socket.socket(fileno=descriptor) for descriptor in descriptors)
        node_id, dialled = json.loads(header)
        yield Connection(node_id, dialled, client, broker)
