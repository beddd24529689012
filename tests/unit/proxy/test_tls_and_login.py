"""TLS towards clients, and the login of the proxy's own as brokers see it."""

from __future__ import annotations

import asyncio
import logging
import select
import socket
import ssl
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path

import pytest
from tests.support.simulated_brokers import serving
from tests.unit.proxy.test_server import API_VERSIONS, answer, ask, connected

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.errors import ConfigError
from brokernat.proxy import RunningProxy, Settings, serve, upstream
from brokernat.proxy.server import server_context
from brokernat.proxy.upstream import BrokerLogin, LoginError, broker_login
from brokernat.testbed.place import Here, connects, wait_until

VECTORS = Path(__file__).parents[2] / "vectors" / "tls"
CERTIFICATE = (VECTORS / "whole.pem", VECTORS / "key.pem")
NAME = "kafka-1.hq.internal"
REQUESTS = 5000
"""In flight at once: more than a session takes, and many records of TLS."""


@pytest.fixture(params=[True, False], ids=["tls", "plain"])
def proxy(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[RunningProxy]:
    caplog.set_level(logging.INFO, "brokernat.proxy")
    certificate = CERTIFICATE if request.param else None
    settings = Settings(Endpoint("127.11.1.1", 9000), certificate=certificate, remember=False)
    with serving(1, dead="127.0.79") as served, serve(Cluster("hq", (served.reachable[1],)), settings) as running:
        yield running


def over_tls(connection: socket.socket) -> ssl.SSLSocket:
    """As a client; an end without `close_notify` is an error."""
    context = ssl.create_default_context(cafile=str(VECTORS / "root.pem"))
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context.wrap_socket(connection, server_hostname=NAME, suppress_ragged_eofs=False)


def test_many_requests_in_flight(proxy: RunningProxy, request: pytest.FixtureRequest) -> None:
    plain = connected(proxy.bootstrap)
    tls = "[tls]" in request.node.name
    with closing(over_tls(plain) if tls else plain) as connection:
        packet = API_VERSIONS + struct.pack(">ih", 7, 2) + b"me"
        assert list(exchanged(connection, (struct.pack(">i", len(packet)) + packet) * REQUESTS)) == [7] * REQUESTS


def exchanged(connection: socket.socket, unsent: bytes) -> Iterator[int]:
    """Sends, and gives the correlation ids of as many responses; in one thread, because Python's TLS is not for two."""
    connection.setblocking(False)
    waits, received, left = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError), bytearray(), REQUESTS
    while left:
        select.select([connection], [connection] if unsent else [], [], 60)
        with suppress(*waits):
            unsent = unsent[connection.send(unsent[: 1 << 16]) :] if unsent else unsent
        with suppress(*waits):
            while part := connection.recv(1 << 16):
                received += part
            return
        while len(received) >= 8 and len(received) >= 4 + (length := struct.unpack_from(">i", received)[0]):
            yield struct.unpack_from(">i", received, 4)[0]
            del received[: 4 + length]
            left -= 1


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "plain"])
def test_the_last_response_arrives_although_the_client_has_sent_more(tls: bool) -> None:
    """A socket that is closed with unread bytes resets its connection, and a reset destroys what was sent."""
    with ExitStack() as stack:
        broker = stack.enter_context(socket.create_server(("127.9.1.4", 0)))
        listen = Endpoint("127.9.1.5", 9000)
        cluster = Cluster("hq", (Endpoint(*broker.getsockname()),))
        ends = stack.enter_context(ExitStack())
        ends.enter_context(serve(cluster, Settings(listen, certificate=CERTIFICATE if tls else None, remember=False)))
        client = stack.enter_context(closing(over_tls(connected(listen)) if tls else connected(listen)))
        request = struct.pack(">i", 12) + API_VERSIONS + struct.pack(">ih", 7, 2) + b"me"
        client.sendall(request)
        upstream = stack.enter_context(closing(broker.accept()[0]))
        assert upstream.recv(len(request), socket.MSG_WAITALL) == request
        ending = stack.enter_context(ThreadPoolExecutor(1)).submit(ends.close)
        wait_until(lambda: not connects(listen, Here()), "the proxy drains", timeout=60)
        client.sendall(request)
        body = struct.pack(">hi", 0, 0)
        upstream.sendall(struct.pack(">ii", 4 + len(body), 7) + body)
        assert answer(client) == body
        assert client.recv(1) == b""
        client.close()
        ending.result(60)


@pytest.mark.parametrize("proxy", [True], indirect=True)
def test_a_client_without_tls_is_named(proxy: RunningProxy, caplog: pytest.LogCaptureFixture) -> None:
    with closing(connected(proxy.bootstrap)) as connection:
        assert ask_or_end(connection)
    assert "on the bootstrap port: no TLS: " in caplog.text


def ask_or_end(connection: object) -> bool:
    try:
        return not ask(connection, API_VERSIONS)  # type: ignore[arg-type]
    except ConnectionResetError:
        return True


def test_a_certificate_that_is_none() -> None:
    with pytest.raises(ConfigError, match=r"key\.pem` with the key .* cannot be used: "):
        server_context(VECTORS / "key.pem", VECTORS / "key.pem")


def logged_in(login: BrokerLogin, *answers: bytes) -> list[bytes]:
    """The requests behind their correlation id and the client id."""
    said = iter(answers)
    sent: list[bytes] = []

    async def exchange(request: bytes) -> bytes:
        sent.append(request[:4] + request[8 + 2 + len("brokernat-proxy") :])
        return struct.pack(">i", 0) + next(said)

    asyncio.run(login.log_in(exchange))
    return sent


ACCEPTED = struct.pack(">hi", 0, 0)
DONE = struct.pack(">hhi", 0, -1, 0)


def test_a_login_with_plain() -> None:
    handshake, token = logged_in(BrokerLogin("PLAIN", "me", "canary"), ACCEPTED, DONE)
    assert handshake == struct.pack(">hhh", 17, 1, 5) + b"PLAIN"
    assert token == struct.pack(">hhi", 36, 0, 10) + b"\0me\0canary"


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([struct.pack(">hih", 33, 1, 6) + b"GSSAPI"], "the broker does not offer PLAIN, but GSSAPI"),
        ([struct.pack(">hih", 33, 1, 3) + b"\xffA\0"], "the broker does not offer PLAIN, but \ufffdA\ufffd$"),
        ([struct.pack(">hih", 33, 1, 999) + b"M" * 999], "the broker does not offer PLAIN, but M{200}…$"),
        (
            [ACCEPTED, struct.pack(">hh", 58, 9) + b"no canary" + struct.pack(">i", 0)],
            r"the broker rejected the login: no \*\*\*",
        ),
        ([ACCEPTED, struct.pack(">hhi", 58, -1, 0)], "the broker rejected the login: error 58"),
        ([b""], "the login response cannot be read"),
        ([struct.pack(">hi", 33, 2**30)], "the login response cannot be read"),
    ],
)
def test_a_login_that_is_refused(answers: list[bytes], words: str) -> None:
    with pytest.raises(LoginError, match=words) as error:
        logged_in(BrokerLogin("PLAIN", "me", "canary"), *answers)
    assert "canary" not in str(error.value)


def test_an_answer_that_no_login_has_is_refused_before_it_is_read() -> None:
    ours, brokers = socket.socketpair()
    with ours, brokers:
        ours.setblocking(False)
        brokers.sendall(struct.pack(">i", (64 << 10) + 1))
        brokers.shutdown(socket.SHUT_WR)
        login = BrokerLogin("PLAIN", "me", "canary")
        with pytest.raises(LoginError, match="the login response has 65537 bytes"):
            asyncio.run(login.log_in(partial(upstream._exchange, ours)))


@pytest.mark.parametrize(("algorithm", "checked"), [(None, True), ("https", True), ("HTTPS", True), ("", False)])
def test_the_broker_s_name_is_verified_unless_the_client_says_otherwise(algorithm: str | None, checked: bool) -> None:
    client = {"security.protocol": "SSL"}
    if algorithm is not None:
        client["ssl.endpoint.identification.algorithm"] = algorithm
    context = upstream.upstream_of(Cluster("hq", (Endpoint("kafka", 9092),), client=client), login=False).tls
    assert context is not None
    assert (context.check_hostname, context.verify_mode) == (checked, ssl.CERT_REQUIRED)


@pytest.mark.parametrize("proxy", [True], indirect=True)
def test_a_bootstrap_server_is_verified_by_its_own_name_wherever_the_map_leads(proxy: RunningProxy) -> None:
    """The proxy with TLS stands for the brokers of another one."""
    address_map = AddressMap.parse(f"{NAME}:9093 = {proxy.bootstrap}")
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(VECTORS / "root.pem")}
    cluster = Cluster("hq", (Endpoint(NAME, 9093),), address_map, {"security.protocol": "SSL", **trust})
    settings = Settings(Endpoint("127.11.1.2", 9000), remember=False)
    with serve(cluster, settings) as inner, closing(connected(inner.bootstrap)) as connection:
        assert ask(connection, API_VERSIONS)


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_the_proxy_logs_in_with_and_without_tls_where_it_is_asked_to(protocol: str) -> None:
    client = {
        "security.protocol": protocol,
        "sasl.mechanism": "PLAIN",
        "sasl.username": "me",
        "sasl.password": "canary",
    }
    cluster = Cluster("hq", (Endpoint("kafka", 9092),), client=client)
    logging_in, leaving_it = (upstream.upstream_of(cluster, login=login) for login in (True, False))
    assert logging_in.login == BrokerLogin("PLAIN", "me", "canary")
    assert leaving_it.login is None
    assert [each.tls is not None for each in (logging_in, leaving_it)] == [protocol == "SASL_SSL"] * 2


def test_the_login_of_a_cluster() -> None:
    client = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "me",
        "sasl.password": "canary",
    }
    login = broker_login(Cluster("hq", (Endpoint("kafka", 9092),), client=client))
    assert login == BrokerLogin("SCRAM-SHA-512", "me", "canary")
    assert "canary" not in repr(login)


@pytest.mark.parametrize(
    ("client", "kind"),
    [
        ({}, "no-login"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"}, "login-unsupported"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "no-login"),
    ],
)
def test_a_cluster_without_a_login_for_the_proxy(client: dict[str, str], kind: str) -> None:
    with pytest.raises(ConfigError) as error:
        broker_login(Cluster("hq", (Endpoint("kafka", 9092),), client=client))
    assert error.value.problems[0].code == kind
