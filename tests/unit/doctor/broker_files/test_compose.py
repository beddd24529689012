"""Compose files as people write them."""

import pytest

from brokernat.doctor.broker_files.compose import parse_compose
from brokernat.errors import ConfigError

COMMON = """
x-common: &common
  KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
  KAFKA_OPTS: -Dpassword=canary
services:
  kafka-1:
    image: apache/kafka:4.3.1
    ports: ["29092:9092", "127.0.0.1:9999:9999/tcp", 8080, {target: 9093, published: "29093"}, "7000-7001:8000-8001"]
    environment:
      <<: *common
      KAFKA_NODE_ID: 1
      KAFKA_ADVERTISED_LISTENERS: A://${HOST:-localhost}:29092,B://$${x}:1
  zookeeper:
    image: zookeeper
"""


def test_mapping_form() -> None:
    (broker,) = parse_compose(COMMON, "c.yaml")
    assert broker.name == "c.yaml kafka-1"
    assert dict(broker.settings) == {
        "node.id": "1",
        "controller.listener.names": "CONTROLLER",
        "advertised.listeners": "A://localhost:29092,B://${x}:1",
        "listeners": "A://0.0.0.0:29092,B://0.0.0.0:1",
    }
    assert broker.published == ((9092, 29092), (9999, 9999), (9093, 29093), (8000, 7000), (8001, 7001))


def test_addresses_of_the_host_and_profiles() -> None:
    text = """
services:
  k:
    profiles: [dev]
    ports:
      - "127.0.0.1:9092:9092"
      - "[::1]:9093:9093"
      - {target: 9094, published: 9094, host_ip: 127.0.0.1}
      - "10.0.0.5:9095:9095"
      - "9096:9096"
      - "127.0.0.1:9096:9096"
      - "0.0.0.0:9097:9097"
    environment: {KAFKA_NODE_ID: 1}
"""
    (broker,) = parse_compose(text, "c")
    assert [outside for _, outside in broker.published or ()] == [9092, 9093, 9094, 9095, 9096, 9096, 9097]
    assert broker.addresses == ("127.0.0.1", "::1", "127.0.0.1", "10.0.0.5", "", "127.0.0.1", "")
    assert broker.profiles == ("dev",)


def test_names_in_docker_and_other_services_that_publish() -> None:
    text = """
services:
  k:
    hostname: kafka.acme.example
    container_name: k-1
    networks: {backend: {aliases: [broker.acme.example], ipv4_address: 172.28.0.9}, other: }
    environment: {KAFKA_NODE_ID: 1}
  l: {networks: [backend], ports: ["9092:9092"], environment: {KAFKA_NODE_ID: 2}}
"""
    first, second = parse_compose(text, "c")
    assert first.names == ("k", "kafka.acme.example", "k-1", "broker.acme.example", "172.28.0.9")
    assert (second.names, first.others_ports, second.others_ports) == (("l",), (9092,), ())


def test_list_form_keeps_what_is_given_twice() -> None:
    text = "services: {k: {environment: [KAFKA_CFG_LISTENERS=A://:1, KAFKA_CFG_LISTENERS=B://:2, OTHER, KAFKA_X=1]}}"
    (broker,) = parse_compose(text, "c")
    assert broker.settings == (("listeners", "A://:1"), ("listeners", "B://:2"))
    assert broker.published == ()


def test_some_images_bind_what_is_advertised() -> None:
    text = """
services:
  k:
    image: confluentinc/cp-kafka:7.9.0
    environment: {KAFKA_ADVERTISED_LISTENERS: "A://kafka:29092,B://[fd00::1]:9092,C://:1"}
"""
    bound = "A://0.0.0.0:29092,B://0.0.0.0:9092,C://0.0.0.0:1"
    for image, listeners in (("confluentinc/cp-", bound), ("apache/", bound), ("bitnami/", None)):
        (broker,) = parse_compose(text.replace("confluentinc/cp-", image), "c")
        assert dict(broker.settings).get("listeners") == listeners


@pytest.mark.parametrize(
    ("image", "read"),
    [
        ("apache/kafka:4.1.0", "cfg.listeners"),
        ("docker.io/apache/kafka-native", "cfg.listeners"),
        ("confluentinc/cp-kafka:7.9.0", "cfg.listeners"),
        ("bitnamilegacy/kafka:3.9", "listeners"),
        ("registry.example/mirror/kafka", "listeners"),
    ],
)
def test_which_image_reads_bitnamis_variables(image: str, read: str) -> None:
    text = f"services: {{k: {{image: '{image}', environment: {{KAFKA_CFG_LISTENERS: 'A://:1'}}}}}}"
    assert parse_compose(text, "c")[0].settings == ((read, "A://:1"),)


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("apache/kafka:3.7.1", (3, 7)),
        ("docker.io/apache/kafka-native:4.1.0-rc1", (4, 1)),
        ("confluentinc/cp-kafka:7.9.0", (3, 9)),
        ("confluentinc/cp-server:8.0.1", (4, 0)),
        ("confluentinc/cp-kafka:5.5.0", None),
        ("wurstmeister/kafka:2.13-2.8.1", (2, 8)),
        ("bitnamilegacy/kafka:3.9", (3, 9)),
        ("registry.example/kafka:3.9.1", None),
        ("apache/kafka:latest", None),
    ],
)
def test_the_release_by_the_tag(image: str, release: tuple[int, int] | None) -> None:
    text = f"services: {{k: {{image: '{image}', environment: {{KAFKA_NODE_ID: 1}}}}}}"
    assert parse_compose(text, "c")[0].release == release


def test_the_hosts_own_network_publishes_nothing() -> None:
    text = "services: {k: {network_mode: host, environment: {KAFKA_LISTENERS: 'A://:1'}}}"
    assert parse_compose(text, "c")[0].published is None


def test_aliases_of_aliases_and_endless_numbers_are_no_text_of_a_setting() -> None:
    laughs = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 60))
    digits = "9" * 5000
    text = f"""
l0: &l0 [ha]
{laughs}
services:
  k:
    image: *l59
    ports: [*l59, {{target: *l59, published: 1}}, "{digits}:1", {{target: "{digits}", published: 1}}]
    environment: {{KAFKA_LISTENERS: *l59, KAFKA_NODE_ID: 1}}
  l:
    environment: [*l59, KAFKA_NODE_ID=2]
"""
    one, two = parse_compose(text, "c")
    assert one.settings == (("node.id", "1"),)
    assert one.published == ()
    assert two.settings == (("node.id", "2"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("services: [", "it is no YAML that compose could read: c line 1"),
        ("services: {a: 1, a: canary}", "a name is given twice in one mapping, which compose refuses: c line 1"),
        ("services: 2001-99-99", "it is no YAML that compose could read: c"),
        ("services: {? [a, [canary]] : c}", "it is no YAML that compose could read: c"),
        ("services: {? {a: canary} : c}", "it is no YAML that compose could read: c line 1"),
        ("services: {k: {environment: {? [a, [canary]] : c}}}", "it is no YAML that compose could read: c"),
        ("a: !!bool canary", "it is no YAML that compose could read: c"),
        ("[" * 1_000_000, "it is no YAML that compose could read: c"),
        ("a: 1", "`c` has no `services`"),
        ("", "`c` has no `services`"),
        ("services: []", "`c` has no `services`"),
        ("services: {r: {image: 'redpandadata/redpanda:v24.2.1', command: redpanda start}}", "`r` is Redpanda, whose"),
        (
            "services: {k: {environment: {KAFKA_LISTENERS: 'A://${HOST}:1'}}}",
            "service `k`: `KAFKA_LISTENERS` depends on `HOST`",
        ),
        (
            "services: {k: {environment: [KAFKA_LISTENERS]}}",
            "service `k`: `KAFKA_LISTENERS` depends on `KAFKA_LISTENERS`",
        ),
        ("services: {k: {environment: [KAFKA_NODE_ID=$ID]}}", "service `k`: `KAFKA_NODE_ID` depends on `ID`"),
        ("services: {k: {environment: ['KAFKA_NODE_ID=${A:-${B}}']}}", "service `k`: `KAFKA_NODE_ID` depends"),
    ],
)
def test_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_compose(text, "c")
    assert said in caught.value.report()
    assert "canary" not in caught.value.report()


def test_several_problems_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_compose("services: {a: {environment: [KAFKA_LISTENERS]}, b: {environment: [KAFKA_NODE_ID]}}", "c")
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    ("mounted", "lacking"),
    [
        ("./log4j.properties:/etc/kafka/log4j.properties", ("KAFKA_PROCESS_ROLES",)),
        ("./server.properties:/etc/kafka/server.properties", ()),
    ],
)
def test_only_a_brokers_own_file_says_what_variables_do_not(mounted: str, lacking: tuple[str, ...]) -> None:
    text = f"""
services:
  k:
    image: confluentinc/cp-kafka:7.9.0
    volumes: ['{mounted}']
    environment: [KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://a.example:9092]
"""
    (broker,) = parse_compose(text, "c")
    assert broker.lacking == lacking
    assert dict(broker.settings)["listeners"] == "PLAINTEXT://0.0.0.0:9092"
