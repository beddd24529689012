"""Keyword arguments that aiokafka takes, and which instance a map reaches."""

import asyncio
import inspect
import ssl
from pathlib import Path
from typing import Any, cast

import aiokafka
import pytest
from aiokafka import AIOKafkaClient, AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.conn import AIOKafkaConnection

from brokernat.address import AddressMap, Endpoint
from brokernat.clients import aiokafka as ours
from brokernat.clients.aiokafka import attach, configure
from brokernat.clients.aiokafka_network import DialledConnection, DialledLoop, wrap_classes
from brokernat.clients.dialling import Dialler
from brokernat.clients.translation import As
from brokernat.config import Cluster, Secret
from brokernat.errors import MissingToolError, UnmappedEndpointError

MAP = AddressMap.parse("192.168.1.23:9092 = 172.10.1.40:9093")


def cluster(client: dict[str, str | Secret] | None = None, address_map: AddressMap | None = MAP) -> Cluster:
    return Cluster("hq", (Endpoint.parse("172.10.1.40:9093"),), address_map, client or {})


def test_the_section_in_the_library_s_names() -> None:
    login: dict[str, str | Secret] = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "app",
        "sasl.password": Secret("hidden"),
        "batch.size": "1000",
    }
    assert configure({"client_id": "mine"}, cluster(login)) == {
        "bootstrap_servers": ["172.10.1.40:9093"],
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "app",
        "sasl_plain_password": "hidden",
        "max_batch_size": 1000,
        "client_id": "mine",
    }


@pytest.mark.parametrize(("algorithm", "checked"), [("https", True), ("", False)])
def test_tls_is_a_context(algorithm: str, checked: bool) -> None:
    found = configure({}, cluster({"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": algorithm}))
    assert found["ssl_context"].check_hostname is checked
    assert found["ssl_context"].verify_mode is ssl.CERT_REQUIRED
    assert not any(name.startswith("ssl_") and name != "ssl_context" for name in found)


def test_a_context_of_the_program_wins(tmp_path: Path) -> None:
    context = ssl.create_default_context()
    section: dict[str, str | Secret] = {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(tmp_path / "missing.pem"),
    }
    assert configure({"ssl_context": context}, cluster(section))["ssl_context"] is context


@pytest.mark.parametrize("client", [AIOKafkaProducer, AIOKafkaConsumer, AIOKafkaAdminClient])
def test_one_class_gets_only_what_it_takes(client: type) -> None:
    both: dict[str, str | Secret] = {"acks": "all", "group.id": "g", "request.timeout.ms": "1000"}
    found = configure({}, cluster(both), client)
    assert found.keys() <= inspect.signature(client).parameters.keys()
    assert found["request_timeout_ms"] == 1000
    assert ("acks" in found) == (client is AIOKafkaProducer)
    assert ("group_id" in found) == (client is AIOKafkaConsumer)


def test_every_name_of_the_table_is_one_of_the_library() -> None:
    known = {
        name
        for client in (AIOKafkaProducer, AIOKafkaConsumer, AIOKafkaAdminClient)
        for name in inspect.signature(client).parameters
    }
    named = {
        name for entry in ours.ENTRIES.values() if (name := entry.name if isinstance(entry, As) else entry.instead)
    }
    context = {"ssl_cafile", "ssl_cadata", "ssl_certfile", "ssl_keyfile", "ssl_password", "ssl_check_hostname"}
    assert named - context <= known


async def _clients() -> list[AIOKafkaClient]:
    return [AIOKafkaClient(bootstrap_servers=["172.10.1.40:9093"]) for _ in range(2)]


def test_only_the_attached_instance_dials_by_the_map() -> None:
    mapped, plain = asyncio.run(_clients())
    assert attach(mapped, cluster()) is mapped
    assert attach(plain, cluster(address_map=None)) is plain
    for name in ("bootstrap", "_get_conn", "send"):
        assert name in vars(mapped)
        assert name not in vars(plain)
    assert mapped.bootstrap.__func__.__globals__["create_conn"] is not aiokafka.conn.create_conn
    assert plain.bootstrap.__func__.__globals__["create_conn"] is aiokafka.conn.create_conn


def test_something_else_is_no_client() -> None:
    with pytest.raises(TypeError, match="str is not a client of aiokafka"):
        attach("producer", cluster())


def test_another_minor_release_is_refused_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aiokafka, "__version__", "0.15.1")
    with pytest.raises(MissingToolError, match=r"aiokafka 0\.15\.1 is not tested with brokernat; tested: 0\.14"):
        configure({}, cluster())


@pytest.fixture
def wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (AIOKafkaClient, AIOKafkaConnection):
        monkeypatch.setattr(each, "__init__", each.__init__)
    wrap_classes(aiokafka, MAP)


@pytest.mark.usefixtures("wrapped")
def test_classes_that_are_wrapped_bring_the_map() -> None:
    for client in asyncio.run(_clients()):
        assert "_get_conn" in vars(client)


@pytest.mark.usefixtures("wrapped")
def test_a_connection_that_a_program_makes_itself_has_the_map_of_the_classes() -> None:
    async def connect() -> None:
        await AIOKafkaConnection("127.0.0.1", 1).connect()

    with pytest.raises(UnmappedEndpointError, match=r"127\.0\.0\.1:1"):
        asyncio.run(connect())


def test_a_dialled_connection_keeps_the_advertised_host() -> None:
    async def make() -> DialledConnection:
        return DialledConnection(Dialler(MAP, frozenset(), "cluster hq"), "192.168.1.23", 9092)

    connection = asyncio.run(make())
    assert (connection.host, connection.port) == ("192.168.1.23", 9092)


@pytest.mark.parametrize(("context", "name"), [(ssl.create_default_context(), "kafka-1"), (None, None)])
def test_the_name_to_verify_is_the_one_that_is_advertised(context: ssl.SSLContext | None, name: str | None) -> None:
    class Loop:
        async def create_connection(self, *_: object, ssl: object, server_hostname: str | None) -> object:
            return *_[1:], ssl, server_hostname

    dialler = Dialler(AddressMap.parse("kafka-1=10.9.0.1"), frozenset(), "cluster hq")
    loop = DialledLoop(cast("Any", Loop()), dialler)
    assert asyncio.run(loop.create_connection(None, "kafka-1", 9092, ssl=context)) == ("10.9.0.1", 9092, context, name)


def test_what_is_no_cluster() -> None:
    name: Any = "hq"
    with pytest.raises(TypeError, match=r'not str: load\("brokernat.yaml"\).cluster\("hq"\)'):
        configure({}, name)
    with pytest.raises(TypeError, match=r'not str: load\("brokernat.yaml"\).cluster\("hq"\)'):
        attach(object(), name)
