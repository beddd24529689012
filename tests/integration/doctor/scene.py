"""The place where all worlds of the doctor happen: six brokers in three clusters, and four servers that are no Kafka.

One start of brokers serves them all, because a world is a client's view and most of them differ in the listener that
the client comes in on. `local` has the listeners that go wrong for one client, `hq` those that differ from broker to
broker, behind a NAT like `hq2`, which is of an older Kafka.
"""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.odd_certificates import ANCHOR, EXPIRED, MUTUAL, demanding_certificates, make_odd_stores

from brokernat.address import Endpoint
from brokernat.testbed import ClusterOptions, Listener, LoopbackWorld, Protocol, RunningCluster

HQ = ClusterOptions(
    version="4.4.0",
    listeners=(
        Listener("PLAINTEXT", Protocol.PLAINTEXT),
        Listener("TEXT", Protocol.PLAINTEXT, nodes=(2,)),
        Listener("PLAINTEXT1", Protocol.PLAINTEXT),
        Listener("PLAINTEXT2", Protocol.PLAINTEXT, nodes=(1, 3)),
        # What was changed on two brokers and forgotten on the third.
        Listener("ODD", Protocol.PLAINTEXT, nodes=(1, 2)),
        Listener("ODD", Protocol.PLAINTEXT, nodes=(3,), advertised="kafka-3.hq.invalid"),
    ),
)
HQ2 = ClusterOptions(brokers=2, version="3.9.2", authorize=True)
LOCAL = ClusterOptions(
    brokers=1,
    password="canary-5c1d",
    listeners=(
        Listener("BOB", Protocol.PLAINTEXT, advertised="kafka0"),
        Listener("FRED", Protocol.PLAINTEXT, advertised="localhost"),
        Listener("ALICE", Protocol.PLAINTEXT, advertised="alice.kafka.invalid"),
        Listener("TLS", Protocol.SSL, advertised="kafka-1.hq.invalid"),
        Listener(EXPIRED, Protocol.SSL),
        Listener(MUTUAL, Protocol.SSL),
        Listener("LOGIN", Protocol.SASL_PLAINTEXT),
        Listener(ANCHOR, Protocol.SSL),
    ),
    broker_properties={"listener.name.tls.ssl.enabled.protocols": "TLSv1.2", **demanding_certificates("local")},
    make_stores=make_odd_stores,
)
BANNER = b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"


@dataclass(frozen=True)
class Scene:
    """What a client can be pointed at."""

    world: LoopbackWorld
    http: Endpoint
    ssh: Endpoint
    silent: Endpoint
    refusing: Endpoint

    @property
    def hq(self) -> RunningCluster:
        """Three brokers of 4.4.0 behind a NAT, with listeners that differ."""
        return self.world.hq

    @property
    def hq2(self) -> RunningCluster:
        """Two brokers of 3.9.2 behind another NAT, with an authorizer."""
        return self.world.hq2

    @property
    def local(self) -> RunningCluster:
        """One broker of the testbed's usual version, with a listener for each thing that goes wrong."""
        return self.world.local

    def at(self, listener: str) -> Endpoint:
        """Where the local broker binds a listener."""
        return self.local.endpoints(listener)[1]

    @property
    def controller(self) -> Endpoint:
        """The local broker's controller listener."""
        return self.local.plan.broker(1).controller


@contextmanager
def scene() -> Iterator[Scene]:
    """Everything up."""
    with ExitStack() as stack:
        world = stack.enter_context(LoopbackWorld(hq=HQ, local=LOCAL, second_hq=HQ2))
        http, ssh, silent = (
            stack.enter_context(_serving(server))
            for server in (
                ThreadingHTTPServer(("127.0.0.1", 0), _Http),
                socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Ssh),
                socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Silent),
            )
        )
        yield Scene(world, http, ssh, silent, refusing=Endpoint(world.local.plan.broker(1).bound.host, 1))


@contextmanager
def _serving(server: socketserver.TCPServer) -> Iterator[Endpoint]:
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield Endpoint("127.0.0.1", server.server_address[1])
        finally:
            server.shutdown()


class _Http(BaseHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


class _Ssh(socketserver.BaseRequestHandler):
    """Greets at once, as an SSH server does, and reads nothing but the end."""

    def handle(self) -> None:
        self.request.sendall(BANNER)
        _until_closed(self)


class _Silent(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        _until_closed(self)


def _until_closed(handler: socketserver.BaseRequestHandler) -> None:
    try:
        while handler.request.recv(4096):
            pass
    except ConnectionError:
        pass
