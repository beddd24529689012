import pytest

from brokernat.address import Endpoint, NodeEndpoint
from brokernat.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "host", "port", "written"),
    [
        ("Kafka-1.HQ.:9092", "kafka-1.hq", 9092, "kafka-1.hq:9092"),
        ("10.0.0.1:1", "10.0.0.1", 1, "10.0.0.1:1"),
        ("[FD00:0::1]:65535", "fd00::1", 65535, "[fd00::1]:65535"),
        (" a:1\t", "a", 1, "a:1"),
    ],
)
def test_text_in_value_out_text_again(text: str, host: str, port: int, written: str) -> None:
    endpoint = Endpoint.parse(text)
    assert (endpoint.host, endpoint.port, str(endpoint)) == (host, port, written)
    assert Endpoint.parse(written) == endpoint == Endpoint(host.upper(), port)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "missing-port"),
        ("kafka-1", "missing-port"),
        ("[fd00::1]", "missing-port"),
        ("kafka-1:", "bad-port"),
        (":9092", "empty-host"),
        ("fd00::1:9092", "bare-ipv6"),
        ("[kafka]:1", "bad-ipv6"),
        ("10.1:9092", "bad-ipv4"),
        ("ka fka:9092", "bad-host"),
        ("PLAINTEXT://kafka:9092", "listener-url"),
    ],
)
def test_wrong_texts(text: str, kind: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Endpoint.parse(text)
    (problem,) = caught.value.problems
    assert problem.code == kind
    assert problem.message.startswith(f"endpoint `{text}`: ")
    assert problem.hint


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_ports_are_checked_in_values_too(port: int) -> None:
    with pytest.raises(ConfigError) as caught:
        Endpoint("a", port)
    assert caught.value.problems[0].code == "bad-port"


def test_node_endpoints() -> None:
    assert str(NodeEndpoint(2, Endpoint("fd00::1", 9092))) == "node 2 at [fd00::1]:9092"
