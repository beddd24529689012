"""`GET /metrics` for Prometheus, and nothing else of HTTP.

The socket is made before the workers are, and all of them accept from it: each reports the sum of all.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from typing import Final

from brokernat.address import Endpoint
from brokernat.errors import ConfigError, Finding
from brokernat.proxy.counters import Counters

_LONGEST: Final = 8 << 10
_PATIENCE: Final = 5.0
_KEPT: Final = "BROKERNAT_PROXY_METRICS"
"""The descriptor of a socket that this program had before it was replaced by itself."""


def metrics_socket(endpoint: Endpoint) -> socket.socket:
    """A listening socket.

    Raises:
        ConfigError: it cannot be bound.
    """
    if kept := os.environ.pop(_KEPT, ""):
        listener = socket.socket(fileno=int(kept))
        listener.set_inheritable(False)
        return listener
    try:
        family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
        return socket.create_server((endpoint.host, endpoint.port), family=family)
    except OSError as error:
        message = f"metrics cannot be served at {endpoint}: {os.strerror(error.errno or 0)}"
        raise ConfigError(Finding("not-bound", message, "see `--metrics`")) from None


def keep_metrics(listener: socket.socket) -> None:
    """Leave the socket to the program that takes this one's place: old workers may still serve it, and its port is not
    free."""
    listener.set_inheritable(True)
    os.environ[_KEPT] = str(listener.fileno())


async def serve_metrics(listener: socket.socket, counters: Counters) -> asyncio.Server:
    """Answer until the server that is returned is closed."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(_answer(head, counters))
                await writer.drain()
        writer.close()

    return await asyncio.start_server(answer, sock=listener, limit=_LONGEST)


def _answer(head: bytes, counters: Counters) -> bytes:
    found = head.split(b" ")[:2] == [b"GET", b"/metrics"]
    status = "200 OK" if found else "404 Not Found"
    body = (counters.text() if found else "try /metrics\n").encode()
    kind = "text/plain; version=0.0.4; charset=utf-8"
    lines = (f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close", "", "")
    return "\r\n".join(lines).encode() + body
