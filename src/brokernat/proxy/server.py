"""The proxy of one cluster in one process: ports, connections, limits, a new map, the end.

A connection is accepted on the port of a node or of the bootstrap server. Its broker is dialled at once, without a task
if nothing has to wait, and then the relay owns it. The port of a node is bound before the response with it is sent, so
every advertised port is open.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.errors import ConfigError, Finding, UnmappedEndpointError
from brokernat.proxy import polling
from brokernat.proxy.handover import Connection, Handover, connections
from brokernat.proxy.metrics import Counters
from brokernat.proxy.nodes import Nodes, node_port, nodes_file
from brokernat.proxy.relay import BUFFER, Clock, Relay
from brokernat.proxy.upstream import (
    UnreachableError,
    close,
    dial_at_once,
    over_tls,
    prepare,
    shake_hands,
    upstream_of,
)
from brokernat.wire import DownstreamProtocolError, Session, UpstreamProtocolError
from brokernat.wire.protocols import protocol_of_client

_log = logging.getLogger("brokernat.proxy")

_BOOTSTRAP: Final = -1
"""Instead of a node id: the bootstrap server's port."""
_BACKLOG: Final = 512
_SWEEP: Final = 1.0
_BEGINNING: Final = 1.0
"""For brokers that are being dialled when the proxy ends, in seconds."""
_QUIET: Final = 30.0
"""A line of the log is repeated after so many seconds at the earliest."""
_WILDCARDS: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - recognised, not bound
_NO_DESCRIPTOR: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

_endpoint: Final = lru_cache(maxsize=4096)(Endpoint)
"""The same few are in every Metadata response, and to read one takes as long as all the rest of it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Times are in seconds. `per_address` is for each worker, None for none."""

    connections: int = 4000
    per_address: int | None = None
    frame: int = 100 << 20
    handshake: float = 10.0
    idle: float = 660.0
    drain: float = 10.0


@dataclass(frozen=True, slots=True)
class Settings:
    """How clients see the proxy.

    `listen` is the bootstrap server's; node `first_node` has the next port. `advertise` is the host for
    clients; default: the listening host if it is a name, else the address that the client has dialled.
    `certificate` is a PEM file with the chain, and one with its key. With `login` the proxy logs in for its clients.
    `remember` keeps the nodes in a file, for the next start.
    """

    listen: Endpoint = field(default_factory=lambda: Endpoint("127.0.0.1", 19092))
    first_node: int = 0
    advertise: str | None = None
    certificate: tuple[Path, Path] | None = None
    login: bool = False
    limits: Limits = Limits()
    remember: bool = True


class Proxy:
    """Use it within one event loop.

    Raises:
        ConfigError: the certificate, or what the cluster says of TLS and the login, cannot be used.
    """

    def __init__(self, cluster: Cluster, settings: Settings, counters: Counters | None = None) -> None:
        self._servers = list(cluster.bootstrap_servers)
        self._settings = settings
        self._limits = settings.limits
        self._counters = counters or Counters()
        self._shared = False
        self._downstream_tls = None if settings.certificate is None else server_context(*settings.certificate)
        self._upstream = upstream_of(cluster, login=settings.login)
        self._nodes = Nodes(cluster.address_map, nodes_file(cluster, settings.listen) if settings.remember else None)
        self._listeners: dict[int, socket.socket] = {}
        self._relays: dict[Relay, int] = {}
        self._peers: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._buffer = memoryview(bytearray(BUFFER))
        self._clock = Clock()
        self._said: dict[str, float] = {}
        self._drained = asyncio.Event()
        self._draining = False

    def start(self) -> None:
        """Listen.

        Raises:
            ConfigError: the port cannot be bound.
        """
        loop = asyncio.get_running_loop()
        self._clock.now = loop.time()
        self._listen(_BOOTSTRAP, self._settings.listen.port)
        self._bind_known()
        loop.call_later(_SWEEP, self._sweep)

    def use(self, address_map: AddressMap | None) -> None:
        """Use another map. Connections to nodes with another target are closed; the others stay."""

        def exchange() -> None:
            self._nodes.address_map = address_map

        _log.info("a new map is in use")
        self._change(exchange)

    @contextmanager
    def reserved(self, *, taken_over: bool) -> Iterator[None]:
        """Hold the port for processes that share it, without listening: a fault shows before any worker is there.

        Args:
            taken_over: from workers that still listen there. Else nobody may.

        Raises:
            ConfigError: it cannot be bound.
        """
        if not taken_over:
            self._bound(self._settings.listen.port).close()
        self._shared = True
        with self._bound(self._settings.listen.port):
            yield

    def end(self) -> None:
        """Close every connection at once."""
        for relay in list(self._relays):
            relay.close()

    def stop_listening(self) -> None:
        """Accept the waiting connections, then stop listening."""
        self._draining = True
        for node_id, listener in self._listeners.items():
            for _ in range(_BACKLOG):
                if not self._accept(listener, node_id):
                    break
            polling.running().on_readable(listener.fileno(), None)
            listener.close()

    async def drain(self, handover: Handover | None = None) -> None:
        """Answer requests in flight, then close or hand over connections. Call `stop_listening` before."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_BEGINNING)
        for task in self._tasks:
            task.cancel()
        self._drained.clear()
        for relay in list(self._relays):
            relay.drain(None if handover is None else partial(self._give, handover))
        if self._relays:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._drained.wait(), self._limits.drain)
        self.end()

    # Connections of another process.

    def take_over(self, taking: socket.socket) -> None:
        """Continue the connections that arrive at this socket."""
        asyncio.get_running_loop().add_reader(taking, self._take, taking)

    def _take(self, taking: socket.socket) -> None:
        try:
            for connection in connections(taking):
                self._go_on(connection)
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(taking)
            taking.close()

    def _go_on(self, connection: Connection) -> None:
        client, node_id = connection.client, connection.node_id
        try:
            prepare(client)
            prepare(connection.broker)
            address = client.getpeername()[0]
            own_host = self._own_host(client)
        except OSError:
            # Its client has gone meanwhile.
            client.close()
            connection.broker.close()
            return
        self._count(address)
        relay = self._relay(client, connection.broker, node_id, address, own_host, begun=True)
        if connection.dialled != self._dialled(node_id):
            relay.drain()

    def _give(self, handover: Handover, relay: Relay) -> bool:
        node_id = self._relays[relay]
        return handover.send(Connection(node_id, self._dialled(node_id), relay.client, relay.broker))

    def _dialled(self, node_id: int) -> str:
        return str(self._nodes.reachable_or_refused().get(node_id, ""))

    # Ports.

    def _listen(self, node_id: int, port: int) -> None:
        listener = self._bound(port)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        self._listeners[node_id] = listener
        polling.running().on_readable(listener.fileno(), partial(self._accept, listener, node_id))

    def _bound(self, port: int) -> socket.socket:
        host = self._settings.listen.host
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
            raise _not_bound(Endpoint(host, port), error) from None
        return listener

    def _bind_known(self) -> None:
        for node_id in self._nodes.advertised:
            self._has_port(node_id)

    def _has_port(self, node_id: int) -> bool:
        if node_id in self._listeners:
            return True
        try:
            self._listen(node_id, self._port(node_id))
        except ConfigError as error:
            self._warn(f"node {node_id} is not advertised to clients: {error.message}", error.hint)
            return False
        self._counters.add("nodes")
        endpoint = self._nodes.advertised[node_id]
        try:
            reachable = self._nodes.reachable(node_id)
        except UnmappedEndpointError as refused:
            self._warn(f"node {node_id} is refused: {refused.message}", refused.hint)
        else:
            _log.info("node %d on port %d: %s, dialled at %s", node_id, self._port(node_id), endpoint, reachable)
        return True

    def _port(self, node_id: int) -> int:
        return node_port(self._settings.listen.port, self._settings.first_node, node_id)

    def _translate(self, own_host: str, node_id: int, host: str, port: int) -> Endpoint | None:
        """The endpoint of a node for a client; `wire.Translate` with the client's host as first argument."""
        try:
            endpoint, port = _endpoint(host, port), self._port(node_id)
            if self._nodes.advertised.get(node_id) != endpoint:
                self._change(partial(self._nodes.learn, node_id, endpoint))
        except ConfigError as error:
            self._warn(f"node {node_id} is not advertised to clients: {error.message}", error.hint)
            return None
        # A process that ends opens no port any more; whoever comes next has the same ones.
        return _endpoint(own_host, port) if self._draining or self._has_port(node_id) else None

    def _change(self, change: Callable[[], object]) -> None:
        """Change the nodes, and close connections to the former target of a node."""
        before = self._nodes.reachable_or_refused()
        change()
        after = self._nodes.reachable_or_refused()
        moved = {node_id for node_id, endpoint in before.items() if after[node_id] != endpoint}
        for node_id in sorted(moved):
            _log.info(
                "node %d has a new address: it is dialled at %s", node_id, after[node_id] or "no endpoint, refused"
            )
        loop = asyncio.get_running_loop()
        for relay in [each for each, node_id in self._relays.items() if node_id in moved]:
            # Later, because it may be this relay that has brought the news.
            loop.call_soon(relay.drain)

    # Connections.

    def _accept(self, listener: socket.socket, node_id: int) -> bool:
        """One client, and not all that wait: the connections that are there have their turn between two. Returns
        whether one may have waited."""
        try:
            client, address = listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return False
        except OSError as error:
            self._pause_accepting(listener, node_id, error)
            return False
        self._counters.add("accepted")
        if self._over_limit(address[0]):
            self._counters.add("limited")
            client.close()
            return True
        self._count(address[0])
        broker = self._connect_at_once(node_id)
        if broker is not None:
            prepare(client)
            self._relay(client, broker, node_id, address[0], self._own_host(client))
        else:
            task = asyncio.get_running_loop().create_task(self._begin(client, address, node_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return True

    def _pause_accepting(self, listener: socket.socket, node_id: int, error: OSError) -> None:
        if error.errno not in _NO_DESCRIPTOR:
            raise error
        self._warn(f"no connections are accepted for one second: {error.strerror}", "allow more files: `ulimit -n`")
        loop = polling.running()
        loop.on_readable(listener.fileno(), None)

        def go_on() -> None:
            if not self._draining:
                loop.on_readable(listener.fileno(), partial(self._accept, listener, node_id))

        loop.call_later(_SWEEP, go_on)

    def _over_limit(self, address: str) -> bool:
        limits = self._limits
        if self._counters.total("connections") >= limits.connections:
            self._warn(f"closed a connection of {address}: {limits.connections} are open", "see `--max-connections`")
            return True
        if limits.per_address is not None and self._peers[address] >= limits.per_address:
            self._warn(f"closed a connection of {address}: it has {limits.per_address}", "see `--max-per-address`")
            return True
        return False

    async def _begin(self, client: socket.socket, address: tuple[str, int], node_id: int) -> None:
        broker: socket.socket | None = None
        whose = _whose(address[0], node_id)
        try:
            async with asyncio.timeout(self._limits.handshake):
                own_host = self._own_host(client)
                prepare(client)
                if self._downstream_tls is not None:
                    client = over_tls(client, self._downstream_tls, name=None)
                    await shake_hands(client)
                broker = await self._connect(node_id)
        except UnmappedEndpointError as error:
            self._fail("unmapped", f"{whose}: node {node_id} is refused: {error.message}", error.hint)
        except UnreachableError as error:
            self._fail("unreachable", f"{whose}: the broker cannot be reached: {error}")
        except TimeoutError:
            self._fail("expired", f"{whose}: no connection within {self._limits.handshake:.0f} s")
        except ssl.SSLError as error:
            self._fail("refused", f"{whose}: no TLS: {error.reason or type(error).__name__}")
        except OSError as error:
            self._fail("refused", f"{whose}: {error.strerror or type(error).__name__}")
        else:
            self._relay(client, broker, node_id, address[0], own_host)
        finally:
            if broker is None:
                close(client)
                self._forget(address[0])

    def _relay(
        self,
        client: socket.socket,
        broker: socket.socket,
        node_id: int,
        address: str,
        own_host: str,
        *,
        begun: bool = False,
    ) -> Relay:
        session = Session(partial(self._translate, own_host), self._limits.frame, begun=begun)
        ended = partial(self._ended, address, node_id)
        relay = Relay(client, broker, session, self._buffer, self._counters, self._clock, ended)
        self._relays[relay] = node_id
        relay.start()
        return relay

    def _own_host(self, client: socket.socket) -> str:
        host = self._settings.advertise or self._settings.listen.host
        local: str = client.getsockname()[0] if host in _WILDCARDS else host
        return local

    def _connect_at_once(self, node_id: int) -> socket.socket | None:
        """A connection to the broker if that needs no waiting; errors are left to `_connect`."""
        if self._downstream_tls is not None or not self._upstream.plain:
            return None
        try:
            endpoint = (
                self._nodes.bootstrap(self._servers[0]) if node_id == _BOOTSTRAP else self._nodes.reachable(node_id)
            )
        except UnmappedEndpointError:
            return None
        return None if endpoint is None else dial_at_once(endpoint)

    async def _connect(self, node_id: int) -> socket.socket:
        if node_id != _BOOTSTRAP:
            endpoint = self._nodes.reachable(node_id)
            assert endpoint is not None, "a port is bound for nodes that are known"  # noqa: S101
            return await self._upstream.connect(endpoint, self._nodes.advertised[node_id].host)
        reasons: list[str] = []
        for server in tuple(self._servers):
            try:
                # One that drops packets must not take the time of the others.
                async with asyncio.timeout(self._limits.handshake / (len(self._servers) + 1)):
                    return await self._upstream.connect(self._nodes.bootstrap(server), server.host)
            except UnreachableError as error:
                reasons.append(str(error))
            except TimeoutError:
                reasons.append(f"{server}: no answer")
            # Another one is tried first from now on.
            self._servers.remove(server)
            self._servers.append(server)
        raise UnreachableError("; ".join(reasons))

    def _ended(self, address: str, node_id: int, relay: Relay, fault: Exception | None) -> None:
        del self._relays[relay]
        self._forget(address)
        whose = _whose(address, node_id)
        if isinstance(fault, DownstreamProtocolError):
            self._fail("refused", f"{whose} sent {fault}")
        elif isinstance(fault, UpstreamProtocolError):
            self._fail("broken", f"{whose}: the broker sent {fault}")
        if self._draining and not self._relays:
            self._drained.set()

    def _count(self, address: str) -> None:
        self._counters.add("connections")
        self._peers[address] += 1

    def _forget(self, address: str) -> None:
        self._counters.add("connections", -1)
        self._peers[address] -= 1
        if not self._peers[address]:
            del self._peers[address]

    # Time.

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        self._clock.now = loop.time()
        if self._draining:
            return
        if self._nodes.outdated:
            self._change(self._nodes.read)
            self._bind_known()
        limits = self._limits
        for relay in list(self._relays):
            quiet = self._clock.now - relay.active
            if quiet > limits.idle:
                self._counters.add("expired")
                relay.close()
            elif quiet > limits.handshake and not relay.session.begun:
                protocol = protocol_of_client(relay.session.first_bytes)
                sent = f"{protocol} instead of Kafka" if protocol else f"no request within {limits.handshake:.0f} s"
                self._counters.add("expired")
                relay.close(DownstreamProtocolError(sent))
        loop.call_later(_SWEEP, self._sweep)

    # The log.

    def _fail(self, series: str, text: str, hint: str | None = None) -> None:
        self._counters.add(series)
        self._warn(text, hint)

    def _warn(self, text: str, hint: str | None = None) -> None:
        """Log a warning, at most once in a while, because clients retry."""
        if self._clock.now - self._said.get(text, -_QUIET) < _QUIET:
            return
        if len(self._said) >= 1000:
            self._said.clear()
        self._said[text] = self._clock.now
        _log.warning("%s%s", text, f" (hint: {hint})" if hint else "")


def _whose(address: str, node_id: int) -> str:
    return f"client {address} on {'the bootstrap port' if node_id == _BOOTSTRAP else f'port of node {node_id}'}"


def server_context(chain: Path, key: Path) -> ssl.SSLContext:
    """TLS towards clients.

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


def _not_bound(endpoint: Endpoint, error: OSError) -> ConfigError:
    if error.errno == errno.EADDRINUSE:
        return ConfigError(Finding("port-in-use", f"{endpoint} is in use by another program", "see `--listen`"))
    reason = error.strerror or type(error).__name__
    return ConfigError(Finding("not-bound", f"the proxy cannot listen on {endpoint}: {reason}", "see `--listen`"))
