"""Forwarders whose connections work for a while: then they end, or nothing comes any more.

What a client says of an endpoint depends on whether it ever worked. Each connection has its own clock, so that it does
not matter when a client starts.
"""

from __future__ import annotations

import select
import socket
import socketserver
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from enum import Enum

from brokernat.address import Endpoint

_WORKS = 3.0


class Fate(Enum):
    """What becomes of a connection after `_WORKS` seconds."""

    ENDS = "ends"
    STICKS = "sticks"


@contextmanager
def fading(pairs: Mapping[Endpoint, Endpoint], fate: Fate) -> Iterator[None]:
    """Forward each (listen, upstream) pair."""
    with ExitStack() as stack:
        for listen, upstream in pairs.items():
            server = stack.enter_context(_Server((listen.host, listen.port), _Forward))
            server.upstream, server.fate = (upstream.host, upstream.port), fate
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
        yield


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    upstream: tuple[str, int]
    fate: Fate


class _Forward(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        with suppress(OSError), socket.create_connection(self.server.upstream, timeout=5) as upstream:
            ways = {self.request: upstream, upstream: self.request}
            end = time.monotonic() + _WORKS
            while (left := end - time.monotonic()) > 0:
                for readable in select.select(list(ways), [], [], left)[0]:
                    data = readable.recv(65536)
                    if not data:
                        return
                    ways[readable].sendall(data)
            if self.server.fate is Fate.STICKS:
                # Until the client has had enough.
                while self.request.recv(65536):
                    pass
