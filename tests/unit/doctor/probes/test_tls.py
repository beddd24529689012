"""Handshakes with real TLS servers: who is refused for what, and what is seen of it.

The certificates are those of tests/vectors/tls. The server is Python's, and answers the first question of Kafka.
"""

from __future__ import annotations

import asyncio
import re
import socket
import socketserver
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.doctor.credentials import client_side
from brokernat.doctor.evidence import EndpointProbe
from brokernat.doctor.probes.tls import sends_alert
from brokernat.doctor.probes.walk import Prober

VECTORS = Path(__file__).parents[3] / "vectors" / "tls"
NAME = "kafka-1.hq.internal"
PATIENCE = 30.0
_KNOWS = struct.pack(">hihhhhhh", 0, 2, 18, 0, 3, 3, 0, 12)
"""ApiVersions v0: no error, two requests with their oldest and newest versions."""
_LARGEST = 1 << 20


@dataclass
class Server:
    """A broker's listener, as far as a handshake gets with it. `told` are the names that TLS was told there."""

    chain: str = "whole"
    clients_signed_by: str | None = None
    newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3
    told: list[str | None] = field(default_factory=list)

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(VECTORS / f"{self.chain}.pem", VECTORS / "key.pem")
        context.maximum_version = self.newest
        context.sni_callback = lambda _, name, __: self.told.append(name)
        if self.clients_signed_by:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(VECTORS / f"{self.clients_signed_by}.pem")
        return context


def answer(connection: socket.socket) -> None:
    """Every request as the first one of a client; a hello of TLS is too long for a request, as brokers find too."""
    stream = connection.makefile("rb")
    while (length := int.from_bytes(stream.read(4) or b"\xff\xff\xff\xff")) < _LARGEST:
        request = stream.read(length)
        connection.sendall(struct.pack(">i", 4 + len(_KNOWS)) + request[4:8] + _KNOWS)


def hang(connection: socket.socket) -> None:
    """A broker whose answers are lost."""
    while connection.recv(4096):
        pass


def hang_up(_: socket.socket) -> None:
    """A gateway without a broker."""


def secured(server: Server, plain: socket.socket, talk: Callable[[socket.socket], None]) -> None:
    """Ends a refused handshake as brokers do: who closes before all is read, resets, and the alert is lost."""
    connection = server.context().wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
    try:
        connection.do_handshake()
        with connection:
            talk(connection)
    except ssl.SSLError:
        with socket.socket(fileno=connection.detach()) as refused:
            refused.shutdown(socket.SHUT_WR)
            while refused.recv(4096):
                pass


@contextmanager
def listening(server: Server | None, talk: Callable[[socket.socket], None]) -> Iterator[Endpoint]:
    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                if server is None:
                    talk(self.request)
                else:
                    secured(server, self.request, talk)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as listener:
        threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield Endpoint("127.0.0.1", listener.server_address[1])
        finally:
            listener.shutdown()


def client(trusted: str = "root", **properties: str) -> Cluster:
    named = {name.replace("_", "."): value for name, value in properties.items()}
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(VECTORS / f"{trusted}.pem")}
    return Cluster("hq", (Endpoint("kafka", 1),), None, {"security.protocol": "SSL", **trust, **named})


def shows(certificate: str) -> dict[str, str]:
    """A client's key store."""
    return {
        "ssl_keystore_certificate_chain": (VECTORS / f"{certificate}.pem").read_text(),
        "ssl_keystore_key": (VECTORS / "key.pem").read_text(),
    }


def seen(
    server: Server | None,
    cluster: Cluster,
    name: str = NAME,
    talk: Callable[[socket.socket], None] = answer,
    patience: float = PATIENCE,
) -> EndpointProbe:
    async def probe(endpoint: Endpoint) -> EndpointProbe:
        deadline = asyncio.get_running_loop().time() + 2 * PATIENCE
        prober = Prober(client_side(cluster), patience, deadline, asyncio.Semaphore(1))
        return await prober.probe(endpoint, name, until="versions")

    with listening(server, talk) as endpoint:
        return asyncio.run(probe(endpoint))


@pytest.mark.parametrize(
    ("chain", "trusted"),
    [("whole", "root"), ("whole", "issuing-and-root"), ("common-name", "root")],
)
def test_what_every_client_takes(chain: str, trusted: str) -> None:
    server = Server(chain)
    probe = seen(server, client(trusted))
    assert probe.tls is not None
    assert (probe.tls.outcome, probe.tls.objections, probe.speaks) == ("ok", (), "kafka")
    assert server.told == [NAME]


@pytest.mark.parametrize(
    ("chain", "trusted", "outcome", "shown"),
    [
        ("alone", "root", "untrusted", [("kafka-1", "HQ issuing")]),
        ("whole", "stranger", "untrusted", [("kafka-1", "HQ issuing"), ("HQ issuing", "HQ root")]),
        ("over", "root", "expired", [("kafka-1", "HQ issuing"), ("HQ issuing", "HQ root")]),
        ("below-over", "root", "expired", [("kafka-1", "HQ issuing of 2020"), ("HQ issuing of 2020", "HQ root")]),
        ("for-clients", "root", "unfit", [("app", "HQ root")]),
    ],
)
def test_what_no_client_takes(chain: str, trusted: str, outcome: str, shown: list[tuple[str, str]]) -> None:
    tls = seen(Server(chain), client(trusted)).tls
    assert tls is not None
    assert tls.outcome == outcome
    assert [(each.subject, each.issuer) for each in tls.chain] == shown
    assert tls.chain[0].since == "2020-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("chain", "trusted", "about"), [("own-over", "own-over", "kafka-1"), ("of-lapsed", "lapsed", "HQ root of 2020")]
)
def test_java_does_not_ask_what_it_trusts_for_its_time(chain: str, trusted: str, about: str) -> None:
    probe = seen(Server(chain), client(trusted))
    assert probe.tls is not None
    assert (probe.tls.outcome, probe.speaks) == ("ok", "kafka")
    (objection,) = probe.tls.objections
    assert (objection.clients, objection.outcome) == (("librdkafka", "python"), "expired")
    assert objection.detail == f"`{about}`: 2020-01-01T00:00:00+00:00 to 2020-02-01T00:00:00+00:00"


@pytest.mark.parametrize(("chain", "trusted"), [("whole", "issuing"), ("alone", "issuing"), ("alone", "alone")])
def test_java_wants_no_root(chain: str, trusted: str) -> None:
    probe = seen(Server(chain), client(trusted))
    assert probe.tls is not None
    assert (probe.tls.outcome, probe.speaks) == ("ok", "kafka")
    (objection,) = probe.tls.objections
    assert (objection.clients, objection.outcome) == (("librdkafka", "python"), "untrusted")


@pytest.mark.parametrize(("chain", "name"), [("whole", "kafka-2.hq.internal"), ("address-as-name", "127.0.0.1")])
def test_another_name(chain: str, name: str) -> None:
    tls = seen(Server(chain), client(), name).tls
    assert tls is not None
    assert tls.outcome == "name-mismatch"
    unverified = seen(Server(chain), client(ssl_endpoint_identification_algorithm=""), name)
    assert unverified.speaks == "kafka"


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize(
    ("shown", "outcome", "showed"),
    [(None, "client-certificate", False), ("of-a-stranger", "client-certificate", True), ("for-clients", "ok", False)],
)
def test_a_certificate_of_the_client_s(newest: ssl.TLSVersion, shown: str | None, outcome: str, showed: bool) -> None:
    server = Server(clients_signed_by="root", newest=newest)
    tls = seen(server, client(**shows(shown)) if shown else client()).tls
    assert tls is not None
    if shown is None and newest is ssl.TLSVersion.TLSv1_2:
        # Of OpenSSL's servers; a broker says bad_certificate.
        assert (tls.outcome, tls.detail) == ("failed", "SSLV3_ALERT_HANDSHAKE_FAILURE")
    else:
        assert (tls.outcome, tls.showed) == (outcome, showed)
        assert [each.subject for each in tls.chain] == ["app"] * showed


@pytest.mark.parametrize(
    ("versions", "outcome"), [("TLSv1.3", "failed"), ("TLSv1.2,TLSv1.1", "ok"), ("TLSv1.2, TLSv1.3", "ok")]
)
def test_versions(versions: str, outcome: str) -> None:
    tls = seen(Server(newest=ssl.TLSVersion.TLSv1_2), client(ssl_enabled_protocols=versions)).tls
    assert tls is not None
    assert tls.outcome == outcome
    if outcome == "failed":
        assert "PROTOCOL" in tls.detail


def test_the_wait_for_the_first_answer_is_no_time_of_the_handshake() -> None:
    """The next tries wait as long as the slowest stage that worked, so the time would run out."""
    probe = seen(Server(), client(), talk=hang, patience=0.5)
    tries = {each.stage: each for each in probe.tries}
    assert tries["tls"].largest < tries["versions"].largest
    assert (tries["versions"].made, set(tries["versions"].faults)) == (3, {"silent"})


def test_the_certificate_is_the_one_of_the_connection_that_worked() -> None:
    """Each connection through a balancer may end at another node."""
    server = Server("whole")

    def talk(connection: socket.socket) -> None:
        if server.chain == "whole":
            server.chain = "address-as-name"
        else:
            answer(connection)

    tls = seen(server, client(ssl_endpoint_identification_algorithm=""), talk=talk).tls
    assert tls is not None
    assert (tls.outcome, tls.names) == ("ok", ("DNS:127.0.0.1",))


def test_the_size_of_the_client_s_certificates_and_its_versions() -> None:
    chain = (VECTORS / "whole.pem").read_text()
    blocks = re.findall("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", chain, re.DOTALL)
    own = {**shows("whole"), "ssl_enabled_protocols": "TLSv1.2, TLSv1.3"}
    side = client_side(client(**own)).tls
    assert side is not None
    assert side.chain_bytes == sum(len(ssl.PEM_cert_to_DER_cert(block)) for block in blocks) > 0
    assert side.versions == ("TLSv1.2", "TLSv1.3")


def test_a_plain_listener_is_told_from_a_gateway_without_a_broker() -> None:
    plain = seen(None, client())
    assert plain.tls is not None
    assert (plain.tls.outcome, plain.speaks) == ("not-tls", "kafka")
    empty = seen(None, client(), talk=hang_up)
    assert empty.tls is not None
    assert (empty.tls.outcome, empty.speaks) == ("reset", "closed")


@pytest.mark.parametrize(
    ("greeting", "reply", "protocol"),
    [(b"SSH-2.0-OpenSSH_9.2p1\r\n", b"", "SSH"), (b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP")],
)
def test_a_server_of_another_kind_is_no_listener_without_tls(greeting: bytes, reply: bytes, protocol: str) -> None:
    def talk(connection: socket.socket) -> None:
        connection.sendall(greeting)
        while connection.recv(_LARGEST):
            connection.sendall(reply)

    tls = seen(None, client(), talk=talk).tls
    assert tls is not None
    assert (tls.outcome, tls.plain, tls.protocol) == ("not-tls", False, protocol)


@pytest.mark.parametrize(("trusted", "name"), [("stranger", NAME), ("root", "kafka-2.hq.internal")])
def test_a_web_server_s_certificate_is_no_matter_of_trust(trusted: str, name: str) -> None:
    """No certificate makes its port a listener."""

    def talk(connection: socket.socket) -> None:
        connection.recv(_LARGEST)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

    tls = seen(Server(), client(trusted), name, talk).tls
    assert tls is not None
    assert (tls.outcome, tls.protocol) == ("not-tls", "HTTPS")


def loses_large_packets(connection: socket.socket) -> None:
    """A path from which a hello with the certificates does not come back, and an alert does."""
    hello = connection.recv(4096)
    if len(hello) < 100:
        connection.sendall(bytes.fromhex("15030300020246"))
    while connection.recv(4096):
        pass


@pytest.mark.parametrize(("talk", "alert"), [(loses_large_packets, True), (hang, False)])
def test_a_silent_handshake_on_a_path_that_carries_an_alert(talk: Callable[[socket.socket], None], alert: bool) -> None:
    tls = seen(None, client(), talk=talk, patience=0.5).tls
    assert tls is not None
    assert (tls.outcome, tls.alert) == ("silent", alert)


def test_a_real_listener_answers_the_short_question_with_an_alert() -> None:
    with listening(Server(), answer) as end:
        assert asyncio.run(sends_alert(end.host, end.port, PATIENCE))
