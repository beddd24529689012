"""Connections that go on in another process: both sockets of each, through a socket between the two.

A restart passes every connection on as soon as all its requests have their responses, so clients notice nothing. TLS
has keys in this process, and half a login or half a request has bytes here: such connections are ended instead.
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
    """A client and the broker behind it; `dialled` is what was dialled for the node, empty for a bootstrap server."""

    node_id: int
    dialled: str
    client: socket.socket
    broker: socket.socket


class Handover:
    """One direction, from all workers of one program to all workers of the next: whoever reads first has it."""

    def __init__(self) -> None:
        self._give, self._take = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._give.settimeout(_PATIENCE)

    def give(self, connection: Connection) -> bool:
        """Pass a connection on; close it here afterwards. Returns whether it was taken."""
        told = json.dumps([connection.node_id, connection.dialled]).encode()
        try:
            socket.send_fds(self._give, [told], [connection.client.fileno(), connection.broker.fileno()])
        except OSError:
            return False
        return True

    def keep(self) -> str:
        """Leave the taking end to the program that takes this one's place; returns how `taken` finds it there."""
        self._take.set_inheritable(True)
        return str(self._take.fileno())


def taken(kept: str) -> socket.socket:
    """The taking end that the program before has kept; to be read when it is readable."""
    found = socket.socket(fileno=int(kept))
    found.set_inheritable(False)
    found.setblocking(False)
    return found


def connections(taking: socket.socket) -> Iterator[Connection]:
    """Those that have come. Raises EOFError behind the last one."""
    while True:
        try:
            told, descriptors, _, _ = socket.recv_fds(taking, _LARGEST, 2)
        except BlockingIOError:
            return
        if not told:
            raise EOFError
        client, broker = (socket.socket(fileno=descriptor) for descriptor in descriptors)
        node_id, dialled = json.loads(told)
        yield Connection(node_id, dialled, client, broker)
