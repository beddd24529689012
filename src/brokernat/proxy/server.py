"""The proxy of one cluster in one process: connections, limits, map changes and shutdown.

A connection is accepted on the port of a node or of the bootstrap server. Its broker is dialled at once, without a task
if nothing has to be awaited; then the relay owns both sockets. The port of a node is bound before the response that
contains it is sent, so every advertised port is open.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from brokernat.address import AddressMap, Endpoint
from brokernat.address.endpoint import is_wildcard
from brokernat.config import Cluster
from brokernat.errors import ConfigError, Finding, UnmappedEndpointError
from brokernat.proxy import polling
from brokernat.proxy.brokers import BOOTSTRAP, Brokers
from brokernat.proxy.handover import Connection, Handover, connections
from brokernat.proxy.metrics import Counters
from brokernat.proxy.nodes import Nodes, nodes_file
from brokernat.proxy.ports import Ports
from brokernat.proxy.relay import BUFFER, Relay
from brokernat.proxy.upstream import UnreachableError, close, prepare, tls_handshake, upstream_of, wrap_tls
from brokernat.text import counted
from brokernat.wire import DownstreamProtocolError, OutdatedAnswerError, Session, UpstreamProtocolError
from brokernat.wire.protocols import protocol_of_client

_log = logging.getLogger("brokernat.proxy")

_SWEEP_INTERVAL: Final = 1.0
_DIAL_GRACE: Final = 1.0
"""Seconds to wait at the end for connections whose broker is being dialled."""
_REPEAT_AFTER: Final = 30.0
"""Seconds before the same warning is logged again."""

_cached_endpoint: Final = lru_cache(maxsize=4096)(Endpoint)
"""Cached: every Metadata response has the same endpoints, and parsing one takes as long as the rest of a response."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Times are in seconds. `per_address` applies to each worker; None for no limit."""

    connections: int = 4000
    per_address: int | None = None
    frame: int = 100 << 20
    handshake: float = 10.0
    idle: float = 660.0
    drain: float = 10.0


@dataclass(frozen=True, slots=True)
class Settings:
    """How clients see the proxy.

    `listen` is the endpoint of the bootstrap server; node `first_node` has the next port. `advertise` is the host that
    clients receive; default: the host of `listen`, or for a wildcard the address that the client has dialled.
    `certificate` is a PEM file with the chain, and one with its key. With `login` the proxy logs in for its clients.
    `remember` stores the nodes in a file for the next start.
    """

    listen: Endpoint = field(default_factory=lambda: Endpoint("127.0.0.1", 19092))
    first_node: int = 0
    advertise: str | None = None
    certificate: tuple[Path, Path] | None = None
    login: bool = False
    limits: Limits = Limits()
    remember: bool = True


class Proxy:
    """The proxy; used within one event loop.

    Raises:
        ConfigError: the certificate, or the TLS or login properties of the cluster, cannot be used.
    """

    def __init__(self, cluster: Cluster, settings: Settings, counters: Counters | None = None) -> None:
        self._settings = settings
        self._limits = settings.limits
        self._counters = counters or Counters()
        self._downstream_tls = None if settings.certificate is None else server_context(*settings.certificate)
        self._nodes = Nodes(cluster.address_map, nodes_file(cluster, settings.listen) if settings.remember else None)
        upstream = upstream_of(cluster, login=settings.login)
        self._brokers = Brokers(cluster.bootstrap_servers, self._nodes, upstream, self._limits.handshake)
        self._ports = Ports(settings.listen, settings.first_node, self._counters, self._came, self._no_descriptor)
        self._relays: dict[Relay, int] = {}
        self._peers: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._buffer = memoryview(bytearray(BUFFER))
        self._now = 0.0
        """The loop's time, updated once a second."""
        self._warned_at: dict[str, float] = {}
        self._drained = asyncio.Event()
        self._draining = False
        self._handed_over = 0

    def start(self) -> None:
        """Listen.

        Raises:
            ConfigError: the port cannot be bound.
        """
        loop = asyncio.get_running_loop()
        self._now = loop.time()
        self._ports.open(BOOTSTRAP)
        self._bind_known_nodes()
        loop.call_later(_SWEEP_INTERVAL, self._sweep)

    async def check(self) -> None:
        """Dial a bootstrap server: that none can be reached is in the log before the first client connects."""
        try:
            async with asyncio.timeout(self._limits.handshake):
                close(await self._brokers.connect(BOOTSTRAP))
        except (UnreachableError, TimeoutError) as error:
            reason = str(error) or f"no connection within {self._limits.handshake:.0f} s"
            self._warn(f"no bootstrap server can be reached now: {reason}", "`brokernat doctor` finds the cause")

    def use(self, address_map: AddressMap | None) -> None:
        """Use another map. Connections to nodes with another target are closed; the others stay."""

        def exchange() -> None:
            self._nodes.address_map = address_map

        _log.info("a new map is in use")
        self._brokers.forget_offers()
        self._change(exchange, self._nodes.advertised)

    def reserved(self, *, from_previous_program: bool) -> AbstractContextManager[None]:
        """See `Ports.reserved`."""
        return self._ports.reserved(from_previous_program=from_previous_program)

    def end(self) -> None:
        """Close every connection at once."""
        self._brokers.close_spares()
        for relay in list(self._relays):
            relay.close()

    def stop_listening(self) -> None:
        """Accept the waiting connections, then stop listening."""
        self._draining = True
        self._brokers.close_spares()
        self._ports.close()

    async def drain(self, handover: Handover | None = None) -> None:
        """Answer requests in flight, then close or hand over connections. Call `stop_listening` before."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_DIAL_GRACE)
        for task in self._tasks:
            task.cancel()
        self._drained.clear()
        open_before = len(self._relays)
        for relay in list(self._relays):
            relay.drain(None if handover is None else partial(self._send_connection, handover))
        if self._relays:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._drained.wait(), self._limits.drain)
        self.end()
        if handover is not None and (closed := open_before - self._handed_over):
            _log.info(
                "the restart closed %s that cannot be handed over (TLS, or a login or request in progress); the "
                "clients connect again",
                counted(closed, "connection"),
            )

    # Connections from another process.

    def take_over(self, receiver: socket.socket) -> None:
        """Continue the connections that arrive at this socket."""
        asyncio.get_running_loop().add_reader(receiver, self._receive_connections, receiver)

    def _receive_connections(self, receiver: socket.socket) -> None:
        try:
            for connection in connections(receiver):
                self._continue_connection(connection)
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(receiver)
            receiver.close()

    def _continue_connection(self, connection: Connection) -> None:
        client, node_id = connection.client, connection.node_id
        try:
            prepare(client)
            prepare(connection.broker)
            address = client.getpeername()[0]
            host_for_client = self._host_for_client(client)
        except OSError:
            # The client has closed meanwhile.
            client.close()
            connection.broker.close()
            return
        self._count_connection(address)
        relay = self._start_relay(client, connection.broker, node_id, address, host_for_client, had_request=True)
        if connection.dialled != self._dialled(node_id):
            relay.drain()

    def _send_connection(self, handover: Handover, relay: Relay) -> bool:
        node_id = self._relays[relay]
        sent = handover.send(Connection(node_id, self._dialled(node_id), relay.client, relay.broker))
        self._handed_over += sent
        return sent

    def _dialled(self, node_id: int) -> str:
        """The endpoint that is dialled for a node now; empty for the bootstrap server."""
        return "" if node_id == BOOTSTRAP else str(self._nodes.dial_target(node_id))

    # Nodes.

    def _bind_known_nodes(self) -> None:
        for node_id in self._nodes.advertised:
            self._ensure_port(node_id)

    def _ensure_port(self, node_id: int) -> bool:
        try:
            if not self._ports.open(node_id):
                return True
        except ConfigError as error:
            self._warn(f"node {node_id} is not advertised to clients: {error.message}", error.hint)
            return False
        self._counters.add("nodes")
        endpoint = self._nodes.advertised[node_id]
        try:
            reachable = self._nodes.reachable(node_id)
        except (UnmappedEndpointError, ConfigError) as error:
            self._warn(f"node {node_id} is refused: {error.message}", error.hint)
        else:
            _log.info(
                "node %d on port %d: %s, dialled at %s", node_id, self._ports.number(node_id), endpoint, reachable
            )
        return True

    def _translate(self, host_for_client: str, node_id: int, host: str, port: int) -> Endpoint | None:
        """The endpoint of a node for a client; a `wire.Translate` after the first argument is bound."""
        try:
            endpoint, port = _cached_endpoint(host, port), self._ports.number(node_id)
            if self._nodes.advertised.get(node_id) != endpoint:
                self._change(partial(self._nodes.learn, node_id, endpoint), [node_id])
                # Once for all nodes of the response, after it is forwarded.
                asyncio.get_running_loop().call_soon(self._share_nodes)
        except ConfigError as error:
            self._warn(f"node {node_id} is not advertised to clients: {error.message}", error.hint)
            return None
        # A draining process opens no ports; the next process has the same ones.
        return _cached_endpoint(host_for_client, port) if self._draining or self._ensure_port(node_id) else None

    def _share_nodes(self) -> None:
        """Read the nodes that other workers have saved, and save those that they do not know."""
        if self._nodes.outdated:
            self._change(self._nodes.read, self._nodes.advertised)
            if not self._draining:
                self._bind_known_nodes()
        self._nodes.save()

    def _change(self, change: Callable[[], object], changed: Iterable[int]) -> None:
        """Change nodes, and close connections to their former targets.

        Args:
            change: changes them.
            changed: the ids of nodes whose target may change.
        """
        target = self._nodes.dial_target
        before = {node_id: target(node_id) for node_id in changed if node_id in self._nodes.advertised}
        change()
        moved = {node_id for node_id, endpoint in before.items() if target(node_id) != endpoint}
        for node_id in sorted(moved):
            _log.info(
                "node %d has a new address: it is dialled at %s", node_id, target(node_id) or "no endpoint, refused"
            )
        loop = asyncio.get_running_loop()
        for relay in [each for each, node_id in self._relays.items() if node_id in moved]:
            # Later, because the change may come from a response that this relay is forwarding.
            loop.call_soon(relay.drain)

    # Connections.

    def _came(self, client: socket.socket, address: tuple[str, int], node_id: int) -> bool:
        """Serve a client on the port of a node; returns False if a limit does not allow it."""
        self._counters.add("accepted")
        if self._over_limit(address[0]):
            self._counters.add("limited")
            client.close()
            return False
        self._count_connection(address[0])
        broker = self._brokers.ready(node_id) if self._downstream_tls is None else None
        if broker is not None:
            prepare(client)
            self._start_relay(client, broker, node_id, address[0], self._host_for_client(client))
        else:
            task = asyncio.get_running_loop().create_task(self._open_connection(client, address, node_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return True

    def _no_descriptor(self, reason: str) -> None:
        self._brokers.close_spares()
        self._warn(f"no connections are accepted for one second: {reason}", "allow more files: `ulimit -n`")

    def _over_limit(self, address: str) -> bool:
        fault = self._limit_reached(address)
        if fault is not None:
            # Some of those that are counted may have ended.
            polling.running().catch_up()
            fault = self._limit_reached(address)
        if fault is not None:
            self._warn(f"closed a connection of {address}: {fault[0]}", f"see `{fault[1]}`")
        return fault is not None

    def _limit_reached(self, address: str) -> tuple[str, str] | None:
        """Which limit a further connection of this address would exceed, and the option for it."""
        limits = self._limits
        if self._counters.total("connections") >= limits.connections:
            return f"{limits.connections} are open", "--max-connections"
        if limits.per_address is not None and self._peers[address] >= limits.per_address:
            return f"it has {limits.per_address}", "--max-per-address"
        return None

    async def _open_connection(self, client: socket.socket, address: tuple[str, int], node_id: int) -> None:
        broker: socket.socket | None = None
        client_on_port = _client_on_port(address[0], node_id)
        try:
            async with asyncio.timeout(self._limits.handshake):
                host_for_client = self._host_for_client(client)
                prepare(client)
                if self._downstream_tls is not None:
                    client = wrap_tls(client, self._downstream_tls, name=None)
                    await tls_handshake(client)
                broker = self._brokers.ready(node_id) or await self._brokers.connect(node_id)
        except (UnmappedEndpointError, ConfigError) as error:
            self._fail("unmapped", f"{client_on_port}: node {node_id} is refused: {error.message}", error.hint)
        except UnreachableError as error:
            without_map = node_id != BOOTSTRAP and self._nodes.address_map is None
            hint = "there is no address map, so advertised endpoints are dialled: give `--map`" if without_map else None
            self._fail("unreachable", f"{client_on_port}: the broker cannot be reached: {error}", hint)
        except TimeoutError:
            self._fail("expired", f"{client_on_port}: no connection within {self._limits.handshake:.0f} s")
        except ssl.SSLError as error:
            self._fail("refused", f"{client_on_port}: no TLS: {error.reason or type(error).__name__}")
        except OSError as error:
            self._fail("refused", f"{client_on_port}: {error.strerror or type(error).__name__}")
        else:
            self._start_relay(client, broker, node_id, address[0], host_for_client)
        finally:
            if broker is None:
                close(client)
                self._uncount_connection(address[0])

    def _start_relay(
        self,
        client: socket.socket,
        broker: socket.socket,
        node_id: int,
        address: str,
        host_for_client: str,
        *,
        had_request: bool = False,
    ) -> Relay:
        translate = partial(self._translate, host_for_client)
        session = Session(translate, self._limits.frame, self._brokers.offers(node_id, broker), had_request=had_request)
        served, ended = partial(self._served, node_id), partial(self._ended, address, node_id)
        keep = partial(self._brokers.keep, node_id)
        relay = Relay(client, broker, session, self._buffer, self._now, served, keep, ended)
        self._relays[relay] = node_id
        relay.start()
        return relay

    def _host_for_client(self, client: socket.socket) -> str:
        host = self._settings.advertise or self._settings.listen.host
        local: str = client.getsockname()[0] if is_wildcard(host) else host
        return local

    def _served(self, node_id: int) -> None:
        if not self._draining:
            self._brokers.prepare_spare(node_id)

    def _ended(self, address: str, node_id: int, relay: Relay, fault: Exception | None) -> None:
        del self._relays[relay]
        self._count_bytes(relay)
        self._uncount_connection(address)
        client_on_port = _client_on_port(address, node_id)
        if isinstance(fault, DownstreamProtocolError):
            self._fail("refused", f"{client_on_port} sent {fault}")
        elif isinstance(fault, UpstreamProtocolError):
            self._fail("broken", f"{client_on_port}: the broker sent {fault}")
        elif isinstance(fault, OutdatedAnswerError):
            _log.info("%s has to connect again: %s", client_on_port, fault)
        if self._draining and not self._relays:
            self._drained.set()

    def _count_connection(self, address: str) -> None:
        self._counters.add("connections")
        self._peers[address] += 1

    def _uncount_connection(self, address: str) -> None:
        self._counters.add("connections", -1)
        self._peers[address] -= 1
        if not self._peers[address]:
            del self._peers[address]

    def _count_bytes(self, relay: Relay) -> bool:
        """Count the bytes that have passed since the last call; returns whether there were any."""
        received, sent = relay.take_counts()
        if received or sent:
            self._counters.add("received", received)
            self._counters.add("sent", sent)
        return bool(received or sent)

    # Timeouts.

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        self._now = loop.time()
        if self._draining:
            return
        self._share_nodes()
        self._ports.watch(self._now)
        self._brokers.close_old_spares()
        limits = self._limits
        for relay in list(self._relays):
            if self._count_bytes(relay):
                relay.active = self._now
            quiet = self._now - relay.active
            if quiet > limits.idle:
                self._counters.add("expired")
                relay.close()
            elif quiet > limits.handshake and not relay.session.had_request:
                protocol = protocol_of_client(relay.session.first_bytes)
                sent = f"{protocol} instead of Kafka" if protocol else f"no request within {limits.handshake:.0f} s"
                self._counters.add("expired")
                relay.close(DownstreamProtocolError(sent))
        loop.call_later(_SWEEP_INTERVAL, self._sweep)

    # The log.

    def _fail(self, series: str, text: str, hint: str | None = None) -> None:
        self._counters.add(series)
        self._warn(text, hint)

    def _warn(self, text: str, hint: str | None = None) -> None:
        """Log a warning; the same one at most every `_REPEAT_AFTER` seconds, because clients retry."""
        if self._now - self._warned_at.get(text, -_REPEAT_AFTER) < _REPEAT_AFTER:
            return
        if len(self._warned_at) >= 1000:
            self._warned_at.clear()
        self._warned_at[text] = self._now
        _log.warning("%s%s", text, f" (hint: {hint})" if hint else "")


def _client_on_port(address: str, node_id: int) -> str:
    return f"client {address} on {'the bootstrap port' if node_id == BOOTSTRAP else f'port of node {node_id}'}"


def server_context(chain: Path, key: Path) -> ssl.SSLContext:
    """The TLS context for connections of clients.

    Raises:
        ConfigError: the files cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(chain, key)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
        message = f"the certificate `{chain}` with the key `{key}` cannot be used: {reason}"
        raise ConfigError(Finding("certificate-unusable", message, "both are PEM; the key has no password")) from None
    return context
