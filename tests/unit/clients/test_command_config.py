"""Kafka's own client file: what is kept of it, and every problem with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from brokernat.clients.command_config import parse_command_config, read_command_config
from brokernat.config import Cluster, Secret
from brokernat.errors import ConfigError

LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="canary";'
WHOLE = """\
# as the tools take it
bootstrap.servers = PLAINTEXT://gw:9093, gw:9094
security.protocol=sasl_ssl\x20
sasl.mechanism = PLAIN
sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required \\
    username="me" password="canary";
ssl.truststore.location=/etc/kafka/trust.jks
ssl.truststore.password=canary
group.id=orders
acks=all
sasl.mechansim=PLAIN
my.own=canary
"""


def test_a_whole_file() -> None:
    found = parse_command_config(WHOLE, "client.properties")
    assert [str(each) for each in found.bootstrap_servers] == ["gw:9093", "gw:9094"]
    assert found.client == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": Secret(LOGIN),
        "ssl.truststore.location": "/etc/kafka/trust.jks",
        "ssl.truststore.password": Secret("canary"),
    }
    assert [each.report() for each in found.warnings] == [
        "warning: Kafka has no property `sasl.mechansim`, it is ignored: client.properties line 11\n\n"
        "hint: did you mean `sasl.mechanism`?",
        "warning: Kafka has no property `my.own`, it is ignored: client.properties line 12",
    ]
    assert "canary" not in repr(found)


def test_librdkafkas_names_of_a_login_and_text_that_looks_like_a_reference() -> None:
    text = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=me\nsasl.password=${env:HOME}"
    client = parse_command_config(text, "c").client
    properties = Cluster("c", (), None, client).kafka_properties()
    assert 'password="${env:HOME}"' in properties["sasl.jaas.config"]


def test_a_file_in_librdkafkas_names_is_told_kafkas() -> None:
    text = "security.protocol=sasl_ssl\nsasl.mechanisms=PLAIN\nsasl.username=u\nsasl.password=p\nssl.ca.location=/ca\n"
    with pytest.raises(ConfigError) as raised:
        parse_command_config(text, "client.properties")
    hints = {each.location.line: each.hint for each in raised.value.problems}
    assert hints[3] == hints[2] == "`sasl.mechanisms` is a property of librdkafka; write `sasl.mechanism`"
    assert "`ssl.truststore.location`" in (hints[5] or "")


def test_the_last_of_two_counts() -> None:
    assert parse_command_config("ssl.protocol=a\nssl.protocol=b", "c").client == {"ssl.protocol": "b"}


def test_every_problem_at_once_with_its_line() -> None:
    text = """\
bootstrap.servers=gw:9093,gw:x,gw
security.protocol=SASL_SLL
sasl.mechanism=GSSAPI
sasl.username=canary
ssl.key.password=${vault:canary:x}
config.providers=vault
"""
    with pytest.raises(ConfigError) as caught:
        parse_command_config(text, "c")
    assert [(each.code, each.location.line) for each in caught.value.problems] == [
        ("bad-port", 1),
        ("missing-port", 1),
        ("not-a-choice", 2),
        ("login-mechanism", 3),
        ("login-incomplete", 4),
        ("config-provider", 5),
    ]
    assert "did you mean `SASL_SSL`? allowed: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL" in str(caught.value)
    assert "canary" not in str(caught.value)


def test_a_jaas_line_that_java_cannot_read() -> None:
    with pytest.raises(ConfigError, match=r"`sasl.jaas.config` cannot be read: c line 2") as caught:
        parse_command_config('security.protocol=SASL_SSL\nsasl.jaas.config=X required password="canary"', "c")
    assert "canary" not in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"client\.properties") as caught:
        read_command_config(tmp_path / "client.properties")
    assert caught.value.problems[0].code == "file-unreadable"
    (tmp_path / "big").write_bytes(b"#" * (2 << 20))
    with pytest.raises(ConfigError, match="larger than 1 MiB"):
        read_command_config(tmp_path / "big")


def test_an_applications_yaml_is_not_read_as_properties(tmp_path: Path) -> None:
    """Java would read `spring:` as a property without a value."""
    file = tmp_path / "application.yml"
    file.write_text("spring:\n  kafka:\n    properties:\n      sasl.mechanism: PLAIN\n")
    with pytest.raises(ConfigError, match=r"application.yml` is a YAML file") as caught:
        read_command_config(file)
    assert "`spring.kafka.properties`" in (caught.value.hint or "")


def test_a_password_with_a_backslash_that_java_drops() -> None:
    found = parse_command_config("sasl.mechanism=PLAIN\nsasl.username=app\nsasl.password=canary\\d9\n", "c")
    (warning,) = found.warnings
    assert (warning.code, warning.location.line) == ("bad-escape", 3)
    assert "canary" not in warning.report()
    assert not parse_command_config("sasl.mechanism=PLAIN\nsasl.username=a\nsasl.password=b\\\\d", "c").warnings


def test_a_reference_is_sent_as_it_is() -> None:
    text = "sasl.mechanism=PLAIN\nsasl.username=${env:KU}\nsasl.password=canary\n"
    (warning,) = parse_command_config(text, "c").warnings
    assert (warning.code, warning.location.line) == ("literal-reference", 2)


def test_a_login_module_of_another_mechanism() -> None:
    login = f"security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config={LOGIN}\n"
    with pytest.raises(ConfigError) as caught:
        parse_command_config(f"{login}ssl.keystore.type=PEMM\n", "c")
    found = [(each.code, each.location.line) for each in caught.value.problems]
    assert found == [("login-mechanism", 2), ("not-a-choice", 4)]
    assert "canary" not in caught.value.report()
