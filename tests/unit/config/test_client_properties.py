"""Values of `client:`; what is refused is among the broken files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from brokernat.clients.spark.options import kafka_options
from brokernat.clients.spark.settings import Loader
from brokernat.clients.translation import PYTHON_NAMES, Table, translated
from brokernat.config import Cluster, Config, Secret
from brokernat.config.client_properties import NAMES, instead_of, is_secret, secrets_of
from brokernat.config.cluster import jaas_line
from brokernat.errors import ConfigError

Load = Callable[..., Config]
TEXT = "clusters: {{hq: {{bootstrap_servers: 'gw:1', client: {{{}}}}}}}"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("acks: all", "all"),
        ("acks: 1", "1"),
        ("linger.ms: 0.5", "0.5"),
        ("enable.idempotence: true", "true"),
        ("enable.idempotence: FALSE", "false"),
        ("client.id: on", "on"),
        ("client.id: ''", ""),
        ("client.id: '$${x}'", "${x}"),
        ("client.id: 'me-${env:HOST}'", Secret("me-h1")),
        ("security.protocol: sasl_ssl", "SASL_SSL"),
        ("security.protocol: ' Plaintext '", "PLAINTEXT"),
        ("security.protocol: '${env:PROTOCOL}'", Secret("SSL")),
        ("ssl.key.password: plain", Secret("plain")),
        ("ssl.key.password: 7", "7"),
    ],
)
def test_values(load_text: Load, written: str, value: str | Secret) -> None:
    client = load_text(TEXT.format(written), {"HOST": "h1", "PROTOCOL": "ssl"}).cluster("hq").client
    assert list(client.values()) == [value]


def test_a_protocol_of_a_reference_is_not_quoted(load_text: Load) -> None:
    with pytest.raises(ConfigError, match="a value that Kafka does not have") as caught:
        load_text(TEXT.format("security.protocol: '${env:PROTOCOL}'"), {"PROTOCOL": "canary"})
    assert "canary" not in str(caught.value)


def test_a_value_that_is_not_looked_up_is_not_judged(load_text: Load) -> None:
    """As for commands that open no connection: the variables of the program are not set there."""
    text = TEXT.format("security.protocol: '${env:PROTOCOL}', linger.ms: '${env:LINGER}'")
    cluster = load_text(text, {}, resolve_secrets=False).cluster("hq")
    names = translated(cluster, Table("a library", PYTHON_NAMES))
    assert names == {"security_protocol": "${env:PROTOCOL}", "linger_ms": "${env:LINGER}"}


@pytest.mark.parametrize("protocol", ["sasl_ssl", Secret("Sasl_Ssl")])
def test_a_cluster_made_in_a_program(protocol: str | Secret) -> None:
    """Every client reads the cluster: Spark by its properties, Python libraries by the table of names."""
    cluster = Cluster("hq", (), None, {"security.protocol": protocol})
    assert cluster.kafka_properties()["security.protocol"] == "SASL_SSL"
    assert kafka_options(cluster, loader=Loader.JAVAAGENT)["kafka.security.protocol"] == "SASL_SSL"
    assert translated(cluster, Table("a library", PYTHON_NAMES)) == {"security_protocol": "SASL_SSL"}


def test_a_cluster_made_in_a_program_with_a_protocol_that_kafka_does_not_have() -> None:
    with pytest.raises(ConfigError, match="did you mean `SASL_SSL`"):
        Cluster("hq", (), None, {"security.protocol": "SASL-SSL"})


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("sasl.jaas.config", True),
        ("sasl.password", True),
        ("ssl.keystore.key", True),
        ("schema.registry.basic.auth.user.info", True),
        ("my.interceptor.api.token", True),
        ("sasl.username", False),
        ("ssl.keystore.location", False),
        ("sasl.oauthbearer.token.endpoint.url", False),
        ("key.serializer", False),
    ],
)
def test_secrets(name: str, secret: bool) -> None:
    assert is_secret(name) is secret


def test_names_of_all_three_clients_are_known() -> None:
    assert {"acks", "group.id", "default.api.timeout.ms", "client.dns.lookup", "metadata.recovery.strategy"} <= NAMES
    assert not any(name.startswith("internal.") for name in NAMES)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("spring.kafka.properties.sasl.mechanism", "write `sasl.mechanism`, without `spring.kafka.properties.`"),
        ("kafka.ssl.truststore.type", "write `ssl.truststore.type`, without `kafka.`"),
        ("spring.kafka.properties[sasl.mechanism]", "write `sasl.mechanism`, without `spring.kafka.properties.`"),
        ("spring.kafka.jaas.options.password", "write `sasl.jaas.config` with the module and its options"),
        ("sasl.mechanisms", "`sasl.mechanisms` is a property of librdkafka; write `sasl.mechanism`"),
        ("ssl.ca.location", "`ssl.ca.location` is a property of librdkafka; write `ssl.truststore.location` and"),
        ("ssl.truststore.locations", "did you mean `ssl.truststore.location`?"),
        ("my.own.thing", None),
    ],
)
def test_what_librdkafka_calls_otherwise_is_told_in_kafkas_words(name: str, hint: str | None) -> None:
    found = instead_of(name)
    assert found is hint or (found or "").startswith(hint or " ")


def test_a_login_with_librdkafkas_name_for_the_mechanism_names_kafkas(load_text: Load) -> None:
    written = "sasl.mechanisms: SCRAM-SHA-512, sasl.username: u, sasl.password: '${env:P}'"
    with pytest.raises(ConfigError) as raised:
        load_text(TEXT.format(written), {"P": "p"})
    assert any("write `sasl.mechanism`" in (problem.hint or "") for problem in raised.value.problems)


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("sasl.password", "abc", ("abc",)),
        ("my.Token", "abc", ("abc",)),
        ("interceptor.clientSecret", "abc", ("abc",)),
        ("basic.auth.user.info", "user:a:b", ("user:a:b", "a:b")),
        ("client.id", "abc", ()),
        ("client.id", Secret("abc"), ("abc",)),
        # No secret, and a part of many words.
        ("sasl.username", Secret("app"), ()),
        ("sasl.oauthbearer.token.endpoint.url", "https://idp/token", ()),
        ("url", "jdbc:postgresql://db/crm?user=app&password=a%26b&ssl=true", ("a%26b",)),
        ("url", "jdbc:sqlserver://db;user=app;password=abc;encrypt=true", ("abc",)),
        ("url", "jdbc:mysql://app:abc@db/crm", ("abc",)),
        ("user", None, ()),
    ],
)
def test_secrets_of_properties(name: str, value: str | Secret | None, secrets: tuple[str, ...]) -> None:
    assert secrets_of({name: value}) == secrets


@pytest.mark.parametrize("password", ["abc", "a;b = '", 'a"b\\c'])
def test_the_password_of_a_jaas_line_is_a_secret(password: str) -> None:
    line = jaas_line("org.example.PlainLoginModule", "user", password)
    assert secrets_of({"sasl.jaas.config": line}) == (line, password)


@pytest.mark.parametrize(
    ("written", "resolved", "unresolved"),
    [
        ("ssl.truststore.location: certs/trust.pem", "{folder}/certs/trust.pem", "{folder}/certs/trust.pem"),
        ("ssl.keystore.location: /etc/key.p12", "/etc/key.p12", "/etc/key.p12"),
        ("ssl.keystore.location: ~/key.p12", "{home}/key.p12", "{home}/key.p12"),
        ("ssl.truststore.location: '${env:TRUST}'", "{folder}/trust.pem", "${env:TRUST}"),
        ("ssl.truststore.location: 'of-${env:TRUST}'", "{folder}/of-trust.pem", "{folder}/of-${env:TRUST}"),
        ("sasl.oauthbearer.assertion.file: token", "{folder}/token", "{folder}/token"),
        ("ssl.truststore.location: ''", "", ""),
        ("client.id: certs", "certs", "certs"),
    ],
)
def test_a_path_starts_at_the_folder_of_the_file(
    load_text: Load,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    written: str,
    resolved: str,
    unresolved: str,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for resolve, expected in ((True, resolved), (False, unresolved)):
        (value,) = (
            load_text(TEXT.format(written), {"TRUST": "trust.pem"}, resolve_secrets=resolve)
            .cluster("hq")
            .client.values()
        )
        text = value.reveal() if isinstance(value, Secret) else value
        assert text == expected.replace("{folder}", str(tmp_path)).replace("{home}", str(tmp_path / "home"))


SASL = "security.protocol: SASL_SSL"
PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="canary";'


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("acks: maybe", None),
        ("acks: '${env:ACKS}'", None),
        ("auto.offset.reset: earlyest", "did you mean `earliest`?"),
        ("isolation.level: READ_COMMITTED", "did you mean `read_committed`?"),
        ("request.timeout.ms: -5", "write a number of milliseconds"),
        ("ssl.truststore.type: PEMM", "did you mean `PEM`?"),
        ("sasl.mechanism: scram-sha-512", "did you mean `SCRAM-SHA-512`?"),
        ("sasl.mechanism: SCRAM_SHA512, sasl.username: u, sasl.password: p", "did you mean `SCRAM-SHA-512`?"),
        ("sasl.mechanism: PLIAN, sasl.username: u, sasl.password: p", "did you mean `PLAIN`?"),
        ("sasl.jaas.config: 'X required password=\"canary\"'", "with the `;` at the end"),
        (
            f"{SASL}, sasl.mechanism: SCRAM-SHA-512, sasl.jaas.config: '{PLAIN}'",
            "ScramLoginModule`",
        ),
        (
            f"{SASL}, sasl.mechanism: GSSAPI, sasl.jaas.config: '{PLAIN}'",
            "`sasl.mechanism` `PLAIN`",
        ),
        (f"{SASL}, sasl.jaas.config: '{PLAIN}'", "add `sasl.mechanism: PLAIN`"),
    ],
)
def test_what_kafka_refuses(load_text: Load, written: str, hint: str | None) -> None:
    with pytest.raises(ConfigError) as caught:
        load_text(TEXT.format(written), {"ACKS": "canary"})
    (problem,) = caught.value.problems
    assert problem.hint is hint or (hint or "") in (problem.hint or "")
    assert "canary" not in caught.value.report()


@pytest.mark.parametrize(
    "written",
    [
        "acks: -1",
        "auto.offset.reset: 'by_duration:PT1H'",
        "group.protocol: CONSUMER",
        "connections.max.idle.ms: -1",
        "send.buffer.bytes: -1",
        "ssl.truststore.type: pem",
        "ssl.keystore.type: Windows-MY",
        "sasl.mechanism: AWS_MSK_IAM",
        f"{SASL}, sasl.mechanism: PLAIN, sasl.jaas.config: '{PLAIN}'",
        f"sasl.jaas.config: '{PLAIN}'",
    ],
)
def test_what_kafka_takes(load_text: Load, written: str) -> None:
    assert load_text(TEXT.format(written)).cluster("hq").client
