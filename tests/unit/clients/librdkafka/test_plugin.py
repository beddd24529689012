from pathlib import Path
from typing import Any

import pytest

from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.clients import librdkafka
from brokernat.clients.librdkafka import plugin_library, preload_library, properties
from brokernat.config import Cluster, Secret
from brokernat.errors import ConfigError, MissingToolError

MAP = AddressMap.parse("192.168.1.23:9092 = 172.10.1.40:9093")
BOOTSTRAP = (Endpoint("172.10.1.40", 9093), Endpoint("172.10.1.40", 9094))


@pytest.fixture(autouse=True)
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package as the wheel has it."""
    monkeypatch.setattr("importlib.resources.files", lambda _: tmp_path)
    file = tmp_path / "_native" / "libbrokernat-rdkafka.so"
    file.parent.mkdir()
    file.write_bytes(b"")
    return file


def hq(client: dict[str, Any] | None = None, address_map: AddressMap | None = MAP) -> Cluster:
    return Cluster("hq", BOOTSTRAP, address_map, client or {})


def test_the_plugin_stands_before_the_map(plugin: Path) -> None:
    login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "app"}
    assert list(properties(hq(login | {"sasl.password": Secret("s3cret")})).items()) == [
        ("plugin.library.paths", str(plugin)),
        ("brokernat.map", "192.168.1.23:9092=172.10.1.40:9093"),
        ("brokernat.unmapped", "fail"),
        ("bootstrap.servers", "172.10.1.40:9093,172.10.1.40:9094"),
        ("security.protocol", "SASL_PLAINTEXT"),
        ("sasl.mechanism", "PLAIN"),
        ("sasl.username", "app"),
        ("sasl.password", "s3cret"),
    ]


def test_without_a_map_there_is_no_plugin(plugin: Path) -> None:
    plugin.unlink()
    assert properties(hq(address_map=None)) == {"bootstrap.servers": "172.10.1.40:9093,172.10.1.40:9094"}


def test_an_empty_map_is_one() -> None:
    found = properties(hq(address_map=AddressMap((), Unmapped.PASS)))
    assert (found["brokernat.map"], found["brokernat.unmapped"]) == ("", "pass")


@pytest.mark.parametrize(
    ("kafka", "librdkafka"),
    [
        ({"max.request.size": "2000000"}, {"message.max.bytes": "2000000"}),
        ({"fetch.max.wait.ms": "100"}, {"fetch.wait.max.ms": "100"}),
        ({"buffer.memory": "33554432"}, {"queue.buffering.max.kbytes": "32768"}),
        ({"send.buffer.bytes": "-1"}, {"socket.send.buffer.bytes": "0"}),
        ({"auto.offset.reset": "none"}, {"auto.offset.reset": "error"}),
        ({"ssl.endpoint.identification.algorithm": ""}, {"ssl.endpoint.identification.algorithm": "none"}),
        ({"ssl.endpoint.identification.algorithm": "https"}, {"ssl.endpoint.identification.algorithm": "https"}),
        ({"acks": "all", "linger.ms": "5"}, {"acks": "all", "linger.ms": "5"}),
        (
            {"ssl.truststore.type": "PEM", "ssl.truststore.location": "/etc/trust.pem"},
            {"ssl.ca.location": "/etc/trust.pem"},
        ),
        (
            {
                "sasl.login.callback.handler.class": "org.apache.kafka.common.security.oauthbearer."
                "OAuthBearerLoginCallbackHandler",
                "sasl.oauthbearer.client.credentials.client.id": "me",
            },
            {"sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.client.id": "me"},
        ),
    ],
)
def test_names_and_values_that_differ(kafka: dict[str, str], librdkafka: dict[str, str]) -> None:
    assert librdkafka.items() <= properties(hq(kafka)).items()


def test_what_librdkafka_cannot_honour_is_an_error_and_all_at_once() -> None:
    with pytest.raises(ConfigError) as raised:
        properties(hq({"max.block.ms": "1", "interceptor.classes": "com.acme.Audit", "ssl.protocol": "TLSv1.3"}))
    assert [problem.code for problem in raised.value.problems] == ["no-counterpart"] * 3
    assert "librdkafka has no `max.block.ms`: its producers never block" in str(raised.value)


def test_a_rule_that_a_client_cannot_decide_is_refused() -> None:
    with pytest.raises(ConfigError, match="node id"):
        properties(hq(address_map=AddressMap.parse("*.hq:9092 = gateway:{9092+id}")))


@pytest.mark.parametrize("find", [plugin_library, preload_library])
@pytest.mark.parametrize(
    ("system", "sources", "hint"),
    [
        ("linux", True, "make plugin"),
        ("linux", False, "pip install --force-reinstall --no-deps --no-binary brokernat brokernat"),
        ("darwin", False, "the plug-in is for Linux; on other systems use a Java client, kafka-python or aiokafka"),
    ],
)
def test_an_installation_without_the_plugin(
    plugin: Path, find: Any, system: str, sources: bool, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin.unlink()
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr(librdkafka, "_SOURCES", tmp_path if sources else tmp_path / "none")
    with pytest.raises(MissingToolError) as raised:
        find()
    assert "this installation has no librdkafka plug-in: no /" in str(raised.value)
    assert hint in str(raised.value.hint)
