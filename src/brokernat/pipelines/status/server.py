"""The status page, metrics and health of a run over HTTP, from the driver's process.

It answers only GET and changes nothing. It listens before Spark starts, so a port in use is an error at once. On a
loopback address it answers only requests whose `Host` is this machine, against DNS rebinding by a page in a browser.
"""

from __future__ import annotations

import json
import logging
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from ipaddress import ip_address
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from urllib.parse import urlsplit

from brokernat.address import Endpoint, not_bound
from brokernat.pipelines.status.board import StatusBoard
from brokernat.pipelines.status.json_v1 import status_v1
from brokernat.pipelines.status.prometheus import CONTENT_TYPE, metrics_text

log = logging.getLogger(__name__)

_REQUEST_SECONDS = 10
_PAGE = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response."""

    code: HTTPStatus
    content_type: str
    body: bytes


def answer(path: str, board: StatusBoard, now: float) -> Answer:
    """The response for a path; `now` in seconds since 1970."""
    match path:
        case "/metrics":
            return Answer(HTTPStatus.OK, CONTENT_TYPE, metrics_text(board.status, now).encode())
        case "/health":
            trouble = board.status.trouble(now)
            code = HTTPStatus.OK if trouble is None else HTTPStatus.SERVICE_UNAVAILABLE
            return _text(code, trouble or "ok")
        case "/status.json":
            return _json(status_v1(board.status, now))
        case "/dead-letters.json":
            return _json({"version": 1, **asdict(board.dead_letters())})
        case _ if path in _PAGE:
            name, content_type = _PAGE[path]
            return Answer(HTTPStatus.OK, content_type, (files(__package__) / "page" / name).read_bytes())
        case _:
            return _text(HTTPStatus.NOT_FOUND, "paths: /, /metrics, /health, /status.json, /dead-letters.json")


@contextmanager
def serving(endpoint: Endpoint, board: StatusBoard) -> Iterator[None]:
    """Answers requests while the block runs.

    Raises:
        ConfigError: the port is in use, or the address is not this machine's.
    """
    try:
        server = _Server(endpoint, board)
    except OSError as error:
        raise not_bound("the status page", endpoint, "--status", error) from None
    thread = threading.Thread(target=server.serve_forever, name="brokernat-status", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingMixIn, TCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, endpoint: Endpoint, board: StatusBoard) -> None:
        self.board = board
        found = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
        self.address_family, address = found[0][0], str(found[0][4][0])
        self._only_local = ip_address(address).is_loopback
        super().__init__((address, endpoint.port), _Handler)

    def is_allowed(self, host: str) -> bool:
        """Whether a request's `Host` is this machine, or the server does not listen on loopback."""
        name = urlsplit(f"//{host}").hostname or ""
        return not self._only_local or name == "localhost" or _is_address(name)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        # A client that has closed its connection is not an error.
        level = logging.DEBUG if isinstance(sys.exception(), OSError) else logging.ERROR
        log.log(level, "status: a request failed", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _REQUEST_SECONDS

    def do_GET(self) -> None:
        if self.server.is_allowed(self.headers.get("Host", "")):
            response = answer(urlsplit(self.path).path, self.server.board, time.time())
        else:
            response = _text(HTTPStatus.FORBIDDEN, "use this machine's address or localhost as the host")
        self.send_response(response.code)
        for name, value in {**_HEADERS, "Content-Type": response.content_type}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    do_HEAD = do_GET  # noqa: N815

    def version_string(self) -> str:
        return "brokernat"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the names are http.server's
        log.debug(format, *args)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _text(code: HTTPStatus, text: str) -> Answer:
    return Answer(code, "text/plain; charset=utf-8", f"{text}\n".encode())


def _json(value: dict[str, Any]) -> Answer:
    return Answer(HTTPStatus.OK, "application/json", json.dumps(value).encode())
