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

_SOCKETS: Final = 2
_LARGEST_HEADER: Final = 1024
_SEND_TIMEOUT: Final = 1.0
"""Seconds to wait until the other process accepts a connection."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The sockets of a client and its broker; `dialled` is the dialled endpoint, empty for a bootstrap server."""

    node_id: int
    dialled: str
    client: socket.socket
    broker: socket.socket


class Handover:
    """A queue of connections from all workers of one program to all workers of the next; any worker may read."""

    def __init__(self) -> None:
        self._sender, self._receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sender.settimeout(_SEND_TIMEOUT)

    def send(self, connection: Connection) -> bool:
        """Send a connection; the caller closes its own copy. Returns whether it was sent."""
        header = json.dumps([connection.node_id, connection.dialled]).encode()
        try:
            socket.send_fds(self._sender, [header], [connection.client.fileno(), connection.broker.fileno()])
        except OSError:
            return False
        return True

    @property
    def receiver(self) -> int:
        """The descriptor of the receiving end, the argument of `inherited_receiver`."""
        return self._receiver.fileno()


def inherited_receiver(descriptor: int) -> socket.socket:
    """The receiving end that the previous program kept open."""
    receiver = socket.socket(fileno=descriptor)
    receiver.setblocking(False)
    return receiver


def connections(receiver: socket.socket) -> Iterator[Connection]:
    """The received connections. Raises EOFError after the last one."""
    while True:
        try:
            header, descriptors, _, _ = socket.recv_fds(receiver, _LARGEST_HEADER, _SOCKETS)
        except BlockingIOError:
            return
        if not header:
            raise EOFError
        sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
        if len(sockets) != _SOCKETS:
            # This process has no file descriptor left for both, so the client has to connect again.
            for each in sockets:
                each.close()
            continue
        client, broker = sockets
        node_id, dialled = json.loads(header)
        yield Connection(node_id, dialled, client, broker)
