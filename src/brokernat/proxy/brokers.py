"""Connections to the brokers by node id: one for a client now, and a spare one for the next client.

Clients come in groups: a client dials the bootstrap server, then nodes, then a coordinator, and it is seldom alone. So
one connection to each endpoint waits a second or two for the next client, which then waits for no handshake:

- the connection of a client that has ended, if it has only asked what the proxy reads (Metadata and the like): such
  requests leave nothing at a broker, and a login is the proxy's own;
- a new one, opened when a client has its first responses, if that takes time: the endpoint is not on this machine, or
  it needs TLS or a login. Envoy calls this preconnecting.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from time import monotonic
from typing import Final
from weakref import WeakKeyDictionary

from brokernat.address import Endpoint
from brokernat.proxy.nodes import Nodes
from brokernat.proxy.upstream import WOULD_BLOCK, UnreachableError, Upstream, close, dial_loopback, is_loopback
from brokernat.wire import Offers

BOOTSTRAP: Final = -1
"""Stands for the node id of the bootstrap server's port."""
_SPARE_FOR: Final = 1.0
"""Seconds that a spare connection is kept; far less than a NAT or a broker keeps an idle one."""
_SHARED_FOR: Final = 60.0
"""Seconds after which a connection is given to no further client: a login may expire (KIP-368)."""

_Target = tuple[Endpoint, str]
"""The endpoint to dial, and the host name for which the certificate is verified."""


class Brokers:
    """Connects to the brokers of one cluster.

    Args:
        servers: the bootstrap servers.
        limit: seconds for a connection with TLS and login.
    """

    def __init__(self, servers: Sequence[Endpoint], nodes: Nodes, upstream: Upstream, limit: float) -> None:
        self._servers = list(servers)
        self._nodes = nodes
        self._upstream = upstream
        self._limit = limit
        self._spares: dict[_Target, tuple[socket.socket, float]] = {}
        """Spare connections, and when each was kept or opened."""
        self._dialled: WeakKeyDictionary[socket.socket, tuple[_Target, float]] = WeakKeyDictionary()
        """Where each connection leads, and since when."""
        self._opening: dict[_Target, asyncio.Task[None]] = {}
        self._offers = lru_cache(maxsize=1024)(lambda _node_id, _address: Offers())

    def ready(self, node_id: int) -> socket.socket | None:
        """A connection without waiting: the spare one, or a plain one to a broker on this machine.

        None otherwise, and after errors, which `connect` meets again and reports.
        """
        target = self._target(node_id)
        if target is None:
            return None
        spare, _ = self._spares.pop(target, (None, 0.0))
        if spare is not None:
            if _is_open(spare):
                return spare
            close(spare)
        if not self._connects_at_once(target):
            return None
        connection = dial_loopback(target[0])
        return None if connection is None else self._noted(connection, target)

    async def connect(self, node_id: int) -> socket.socket:
        """A connection after TLS and login.

        Raises:
            UnmappedEndpointError: the advertised endpoint of the node has no rule.
            ConfigError: its rule gives it no valid port.
            UnreachableError: the broker cannot be reached, or TLS or the login fails.
        """
        if node_id != BOOTSTRAP:
            endpoint = self._nodes.reachable(node_id)
            assert endpoint is not None, "only known nodes have a port"  # noqa: S101
            return await self._dial((endpoint, self._nodes.advertised[node_id].host))
        reasons: list[str] = []
        for server in tuple(self._servers):
            try:
                # A server that drops packets must not use up the time for the others.
                async with asyncio.timeout(self._limit / (len(self._servers) + 1)):
                    return await self._dial(self._of_server(server))
            except UnreachableError as error:
                reasons.append(str(error))
            except TimeoutError:
                reasons.append(f"{server}: no answer")
            # From now on the other servers are tried first.
            self._servers.remove(server)
            self._servers.append(server)
        raise UnreachableError("; ".join(reasons))

    def prepare_spare(self, node_id: int) -> None:
        """Open a spare connection for the next client of the node, if that takes time and there is none.

        An error is the next client's: it meets the same one.
        """
        target = self._target(node_id)
        if target is None or target in self._spares or target in self._opening or self._connects_at_once(target):
            return
        task = asyncio.get_running_loop().create_task(self._open_spare(target))
        self._opening[target] = task
        task.add_done_callback(lambda _: self._opening.pop(target))

    def keep(self, node_id: int, connection: socket.socket) -> bool:
        """Keep the connection of a client that has ended as the spare one, if there is none.

        Args:
            connection: one of `ready` or `connect`; no response is missing, and no request has left a state.

        Returns:
            Whether it is kept; otherwise the caller closes it.
        """
        target, dialled = self._dialled.get(connection, (None, 0.0))
        now = monotonic()
        if target is None or target in self._spares or target != self._target(node_id) or now - dialled > _SHARED_FOR:
            return False
        self._spares[target] = connection, now
        return True

    def close_spares(self, kept_before: float | None = None) -> None:
        """Close the spare connections that were kept before this time of `time.monotonic`; all of them without it."""
        if kept_before is None:
            for task in self._opening.values():
                task.cancel()
        for target, (spare, since) in list(self._spares.items()):
            if kept_before is None or since < kept_before:
                del self._spares[target]
                close(spare)

    def close_old_spares(self) -> None:
        self.close_spares(monotonic() - _SPARE_FOR)

    def offers(self, node_id: int, connection: socket.socket) -> Offers | None:
        """What the broker behind this connection has answered to ApiVersions."""
        with suppress(OSError):
            return self._offers(node_id, connection.getpeername())
        return None

    def forget_offers(self) -> None:
        self._offers.cache_clear()

    def _target(self, node_id: int) -> _Target | None:
        """What a new client is connected with; None for a node that is refused."""
        if node_id == BOOTSTRAP:
            return self._of_server(self._servers[0])
        endpoint = self._nodes.dial_target(node_id)
        return None if endpoint is None else (endpoint, self._nodes.advertised[node_id].host)

    def _of_server(self, server: Endpoint) -> _Target:
        return self._nodes.bootstrap(server), server.host

    def _connects_at_once(self, target: _Target) -> bool:
        return self._upstream.plain and is_loopback(target[0])

    async def _dial(self, target: _Target) -> socket.socket:
        return self._noted(await self._upstream.connect(*target), target)

    def _noted(self, connection: socket.socket, target: _Target) -> socket.socket:
        self._dialled[connection] = target, monotonic()
        return connection

    async def _open_spare(self, target: _Target) -> None:
        with suppress(UnreachableError, TimeoutError):
            async with asyncio.timeout(self._limit):
                self._spares[target] = await self._dial(target), monotonic()


def _is_open(connection: socket.socket) -> bool:
    """Whether the broker has not closed the connection; it sends nothing before a request."""
    try:
        connection.recv(1)
    except WOULD_BLOCK:
        return True
    except OSError:
        pass
    return False
