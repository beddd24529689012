import pytest

from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.config import Cluster, Secret
from brokernat.config.cluster import jaas_line
from brokernat.errors import ConfigError

BOOTSTRAP = (Endpoint("gw", 9093), Endpoint("fd00::1", 9094))
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def test_without_a_map_nothing_is_said_to_the_agent() -> None:
    assert Cluster("hq", BOOTSTRAP).kafka_properties() == {"bootstrap.servers": "gw:9093,[fd00::1]:9094"}


@pytest.mark.parametrize(("text", "unmapped"), [("a:1 = b:1, c = d", Unmapped.FAIL), ("", Unmapped.PASS)])
def test_a_map_travels_as_canonical_text(text: str, unmapped: Unmapped) -> None:
    properties = Cluster("hq", BOOTSTRAP, AddressMap.parse(text, unmapped)).kafka_properties()
    assert properties["brokernat.map"] == text.replace(" ", "")
    assert properties["brokernat.unmapped"] == unmapped.value


def test_a_template_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs the node id"):
        Cluster("hq", BOOTSTRAP, AddressMap.parse("a:1=b:{1+id}")).kafka_properties()


@pytest.mark.parametrize(
    ("mechanism", "module"), [("PLAIN", PLAIN), ("SCRAM-SHA-256", SCRAM), ("SCRAM-SHA-512", SCRAM)]
)
def test_a_login_becomes_a_jaas_line(mechanism: str, module: str) -> None:
    client: dict[str, str | Secret] = {
        "sasl.mechanism": mechanism,
        "sasl.username": "me",
        "sasl.password": Secret("canary"),
    }
    assert Cluster("hq", BOOTSTRAP, client=client).kafka_properties() == {
        "bootstrap.servers": "gw:9093,[fd00::1]:9094",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f'{module} required username="me" password="canary";',
    }


def test_an_explicit_jaas_line_wins() -> None:
    client: dict[str, str | Secret] = {"sasl.mechanism": "PLAIN", "sasl.username": "me", "sasl.password": "x"}
    client["sasl.jaas.config"] = Secret("mine")
    properties = Cluster("hq", BOOTSTRAP, client=client).kafka_properties()
    assert properties["sasl.jaas.config"] == "mine"
    assert not {"sasl.username", "sasl.password"} & set(properties)


def test_quotes_backslashes_and_line_ends_are_escaped() -> None:
    assert jaas_line("M", 'a"b', "c\\d\ne\r'f;") == 'M required username="a\\"b" password="c\\\\d\\ne\\r\'f;";'


def test_a_cluster_does_not_print_its_secrets() -> None:
    assert "canary" not in repr(Cluster("hq", BOOTSTRAP, client={"sasl.password": Secret("canary")}))


def test_what_stands_beside_the_brokers_is_dialled_by_a_rule_or_as_it_is() -> None:
    registry, elsewhere = Endpoint("registry.hq", 8081), Endpoint("127.0.0.1", 40001)
    assert Cluster("hq", BOOTSTRAP).reachable(registry) == registry
    # What no rule names is a broker's address for `unmapped: fail`, and a registry is none.
    mapped = Cluster("hq", BOOTSTRAP, AddressMap.parse("*.hq:8081 = gw:18081, kafka-1 = gw"))
    assert mapped.reachable(registry) == Endpoint("gw", 18081)
    assert mapped.reachable(Endpoint("other", 8081)) == Endpoint("other", 8081)
    assert Cluster("hq", BOOTSTRAP, companions={registry: elsewhere}).reachable(registry) == elsewhere
