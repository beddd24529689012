"""Every captured line is of one kind and of the right one; what healthy clients log, and noise, of none."""

import random
import string

import pytest
from tests.unit.doctor.explain.vectors import Vector, healthy, holds_for_each, key_of, vectors

from brokernat.doctor.explain.known_errors import known_errors
from brokernat.doctor.explain.known_lines import KnownLine, Role, Tells, known_lines
from brokernat.doctor.explain.log import explain_log
from brokernat.doctor.explain.log_text import LONG
from brokernat.doctor.explain.matching import match_line, match_step

VECTORS = vectors()


def all_kinds(line: str) -> list[str]:
    """Every kind that matches a line, wrappers only where no other kind does; more than one is a fault of the data."""
    held = [known for known in known_lines() if any(text in line for text in known.holds)]
    kinds = [known for known in held if known.compiled.search(line)]
    first = [known for known in kinds if not known.fallback] or kinds
    plain = [known.key for known in first if known.tells is not Tells.WRAPPER]
    return plain or [known.key for known in first]


def test_each_line_is_of_one_kind_alone() -> None:
    def holds(vector: Vector) -> None:
        assert all_kinds(vector.line) == [vector.row]
        match = match_line(vector.line)
        assert match is not None
        assert match.known.key == vector.row
        assert "node ?" not in match.means
        assert all((match.means, match.do))

    holds_for_each(VECTORS, holds, lambda vector: f"{vector.row} {vector.client}: {vector.line}")


def test_each_example_is_of_its_own_kind_alone() -> None:
    def holds(known: KnownLine) -> None:
        assert all_kinds(known.example) == [known.key]
        match = match_line(known.example) or match_step(known.example)
        assert match is not None
        assert match.known is known
        assert "node ?" not in match.means

    holds_for_each(known_lines(), holds, key_of)


def test_healthy_clients_log_no_known_line() -> None:
    lines = healthy()
    assert len(lines) > 300
    assert [line for line in lines if (match := match_line(line)) and not match.calm] == []
    assert explain_log(f"{line}\n" for line in lines).explained == ()


def test_few_lines_of_healthy_clients_contain_the_texts_of_a_kind() -> None:
    """A pattern is searched in each line with one of its kind's texts, and most lines of a log are healthy."""
    lines = healthy()
    containing = {
        known.key: sum(any(text in line for text in known.holds) for line in lines)
        for known in known_lines()
        if not known.fallback
    }
    assert {key: number for key, number in containing.items() if number > len(lines) / 10} == {}


def test_a_long_line_is_searched_in_parts() -> None:
    def holds(known: KnownLine) -> None:
        # 2 KiB of what repeats in patterns; without the parts some would take minutes.
        for filler in ("a:1/", "1 "):
            filling = filler * (2048 // len(filler) // len(known.holds))
            known.compiled.search(filling.join(["", *known.holds, ""]))
        long = "y " * (LONG // 2) + known.example + " z" * (LONG // 2)
        found = match_line(long) or match_step(long)
        assert found is not None or known.pattern.endswith(("$", "$)"))

    holds_for_each(known_lines(), holds, key_of)


def test_noise_is_no_known_line() -> None:
    chance = random.Random(5)
    texts = [text for known in known_lines() for text in known.holds]
    names = {text for known in known_errors() for text in known.holds}
    for _ in range(3000):
        noise = "".join(chance.choices(string.printable, k=chance.randrange(200)))
        # A text alone is no line: what stands around it has to fit. A short one may be an error's whole name.
        cut = chance.choice(texts)[:-1][: chance.randrange(12)]
        assert match_line(noise + cut) is None or cut.strip(" _") in names


@pytest.mark.parametrize(
    ("line", "role", "node", "endpoint"),
    [
        ("Connection to node -1 (gw/10.0.0.1:9093) could not be established. Broker may not be available.",
         Role.BOOTSTRAP, None, "gw:9093"),
        ("Connection to node 2 (/10.0.0.1:9092) could not be established. Node may not be available.",
         Role.ADVERTISED, 2, "10.0.0.1:9092"),
        ("Connection to node 2147483645 (k/[fd00::1]:9092) could not be established. Node may not be available.",
         Role.COORDINATOR, 2, "k:9092"),
        ("[thrd:sasl_ssl://k1:9093/7]: sasl_ssl://k1:9093/7: Connect to ipv4#10.0.0.1:9093 failed: Connection refused",
         Role.ADVERTISED, 7, "k1:9093"),
        ("[thrd:GroupCoordinator]: GroupCoordinator/3: Connect to ipv4#10.0.0.1:9092 failed: Connection refused",
         Role.COORDINATOR, 3, "10.0.0.1:9092"),
        ("[thrd:coordinator-1:9092/bootstrap]: coordinator-1:9092/2: Connect to ipv4#10.0.0.1:9092 failed: Timed out",
         Role.ADVERTISED, 2, "coordinator-1:9092"),
        ("[thrd:GroupCoordinator]: GroupCoordinator: Failed to resolve 'k1:9093': Name or service not known",
         Role.COORDINATOR, None, "k1:9093"),
    ],
)  # fmt: skip
def test_whose_endpoint_it_is(line: str, role: Role, node: int | None, endpoint: str) -> None:
    found = match_line(line)
    assert found is not None
    assert (found.peer.role, found.peer.node, found.peer.endpoint) == (role, node, endpoint)


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("localhost", "BN201"), ("127.0.0.1", "BN201"), ("192.168.1.23", "BN202"), ("c0ffee123456", "BN203"),
        ("kafka-1", "BN203"), ("kafka-1.hq.internal", "BN203"), ("kafka-1.example.org", None), ("8.8.8.8", None),
    ],
)  # fmt: skip
def test_what_an_advertised_host_gives_away(host: str, code: str | None) -> None:
    line = f"Connection to node 1 ({host}/<unresolved>:9092) could not be established. Node may not be available."
    found = match_line(line)
    assert found is not None
    assert found.codes == (("BN302", "BN305", code) if code else ("BN302", "BN305"))
    bootstrap = match_line(line.replace("node 1", "node -1"))
    assert bootstrap is not None
    assert bootstrap.codes == ("BN103",)


def test_a_name_that_resolves_here_is_not_one_of_another_network() -> None:
    found = match_line("kafka:9092/1: Connect to ipv4#172.20.0.5:9092 failed: Connection refused")
    assert found is not None
    assert "BN203" not in found.codes
    assert "only the brokers' own network" not in found.means


@pytest.mark.parametrize(
    "line",
    [
        "Connection to node 2 (192.168.1.23/172.10.1.40:9093) could not be established. Node may not be available.",
        "[thrd:192.168.1.23:9092/2]: 192.168.1.23:9092/2: Connect to ipv4#172.10.1.40:9093 failed: Connection refused",
    ],
)
def test_an_address_that_was_dialled_elsewhere_has_its_rule(line: str) -> None:
    found = match_line(line)
    assert found is not None
    assert found.peer.dialled == "172.10.1.40:9093"
    assert "dialled at 172.10.1.40:9093" in found.means
    assert (found.codes, found.rule) == (("BN305",), None)


def test_a_rule_is_proposed_only_where_one_is_missing() -> None:
    dead = "Connection to node 2 (/10.0.0.1:9092) could not be established. Node may not be available."
    assert [found.rule for found in map(match_line, (dead, dead.replace("node 2", "node -1"))) if found] == [
        "10.0.0.1:9092 = HOST:PORT",
        None,
    ]


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("tls: failed to verify certificate: x509: certificate signed by unknown authority", "BN403"),
        ("tls: failed to verify certificate: x509: certificate has expired or is not yet valid: ", "BN403"),
        ("tls: failed to verify certificate: x509: certificate is valid for k1, not gw", "BN402"),
        ("remote error: tls: unknown certificate authority", "BN405"),
        ("tls: first record does not look like a TLS handshake", "BN401"),
        ("dial tcp: lookup gw on 10.0.0.2:53: read udp 10.1.4.7:4195->10.0.0.2:53: i/o timeout", "BN102"),
        ("dial tcp: lookup gw: i/o timeout", "BN102"),
        ("dial tcp: i/o timeout", "BN102"),
        ("dial tcp 10.0.0.1:9092: i/o timeout", "BN302"),
        ("dial tcp: lookup gw on 10.0.0.2:53: no such host", "BN301"),
    ],
)
def test_what_go_reports_is_told_apart(reason: str, code: str) -> None:
    found = match_line(f"[sarama] Failed to connect to broker gw:9092: {reason}")
    assert found is not None
    assert found.codes[0] == code


@pytest.mark.parametrize(
    ("size", "code"),
    [("11957258", "BN312"), ("115343416", "BN312"), ("-720899", "BN104"), ("542393671", "BN104")],
)
def test_a_large_message_is_told_from_another_protocol(size: str, code: str) -> None:
    found = match_line(f"InvalidReceiveException: Invalid receive (size = {size} larger than 1048576)")
    assert found is not None
    assert found.codes[0] == code


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("GSSAPI Error: Unspecified GSS failure. (Matching credential not found)", "no valid ticket"),
        ("GSSAPI Error: Unspecified GSS failure. (Server kafka/gw not found in Kerberos database)", "no principal"),
        ("[thrd:ssl://k:1/3]: ssl://k:1/3: Failed to verify broker certificate: certificate has expired", "is expired"),
        ("[thrd:ssl://k:1/3]: ssl://k:1/3: Failed to verify broker certificate: self signed certificate", "authority"),
        ("kafka: client has run out of available brokers to talk to: unexpected EOF", "closed it without an answer"),
        (
            "kafka: client has run out of available brokers to talk to (Is your cluster reachable?)",
            "None of the brokers",
        ),
        ('SaslAuthenticationException: {"status":"invalid_token"}', "rejects the token"),
        ("SaslAuthenticationException: [0f5a6a55-0e3c]: Too many connects", "limits the IAM logins"),
        ("RestClientException: Unauthorized; error code: 401", "rejects the login"),
        ("SchemaRegistryError: Timed out (HTTP status code 500, SR code 50002)", "`_schemas`"),
        ("RestClientException: Schema not found; error code: 40403", "does not have"),
        ("aiokafka: Unable to bootstrap from [('localhost', 9092, 0)]", "is the machine or container"),
        ("%7|1475839646.529|BRKDELGT|rdkafka#producer-1| No broker is leader for topic a [0]", "its leader"),
        ("%7|1429923087.924|TIMEOUT|rdkafka#producer-0| 6 message(s) from 1 toppar(s) timed out", "waited too long"),
        ("io.apicurio.registry.rules.violation.RuleViolationException: Incompatible artifact: a", "breaks a rule"),
        ("State transition from PENDING_SHUTDOWN to DEAD", "an exception stopped it"),
    ],
)
def test_one_kind_has_a_meaning_for_each_reason(line: str, means: str) -> None:
    found = match_line(line)
    assert found is not None
    assert means in found.means


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("ERROR orders: cannot connect to kafka-1:9092", "program-dial"),
        ("ERROR orders: could not publish to Kafka", "program-no-kafka"),
        # What the line names tells more.
        ("ERROR orders: could not publish to Kafka: INVALID_PRODUCER_EPOCH", "error-producer-fenced"),
        ("INFO orders: could not publish to Kafka", None),
        ("ERROR orders: cannot connect to web-1:8080", None),
        ("ERROR orders: published to Kafka", None),
    ],
)
def test_a_programs_own_words_are_looked_at_last(line: str, key: str | None) -> None:
    match = match_line(line)
    assert (match and match.known.key) == key


def test_a_programs_own_words_are_not_told_beside_a_reason() -> None:
    lines = (
        "ERROR orders: could not publish to Kafka\n",
        "org.apache.kafka.common.errors.InvalidProducerEpochException: an older one\n",
    )
    assert [each.match.known.key for each in explain_log(lines).explained] == ["java-fenced"]


def test_a_step_is_told_where_nothing_else_is_pasted() -> None:
    step = "2026-11-20 10:11:12,123 INFO o.a.k.c.u.AppInfoParser: Kafka version: 2.8.0\n"
    assert [each.match.known.key for each in explain_log([step]).explained] == ["kafka-steps"]
    assert explain_log([step] * 31).explained == ()
    fault = "2026-11-20 10:11:12,124 ERROR [main] kafka: Group authorization failed.\n"
    assert [each.match.known.key for each in explain_log([step, fault]).explained] == ["error-group-authorization"]


def test_brokernats_own_lines_are_of_no_other_program() -> None:
    assert match_line("[brokernat] kafka-python and aiokafka get the map by PYTHONPATH") is None
    refused = "[brokernat] refused: 10.1.1.1:9092 has no rule in the address map of this client; add one"
    match = match_line(refused)
    assert match is not None
    assert match.known.client == "brokernat"


@pytest.mark.parametrize("host", ["XXXXXXXXXXX", "10.0.x.x", "xxx.example.org", "10.1.XX.XX", "broker-redacted"])
def test_a_masked_address_gets_no_rule(host: str) -> None:
    line = f"GroupCoordinator: Connect to ipv4#{host}:9092 failed: Connection refused (after 2001ms in state CONNECT)"
    match = match_line(line)
    assert match is not None
    assert match.peer.host_kind == ""
    assert match.rule is None
    assert "own network" not in match.means


@pytest.mark.parametrize(
    ("line", "means", "not_means"),
    [
        ("Broker: Not coordinator for group", "stay uncommitted", "for the leader"),
        (
            "MessageSet with 6 message(s) encountered error: Broker: Not leader for partition",
            "old metadata",
            "uncommitted",
        ),
        ("Local: Waiting for coordinator", "no broker was reached", "The cluster has no coordinator"),
        (
            "Cancelled in-flight API_VERSIONS request with correlation id 1 due to node -1 being disconnected",
            "TLS",
            "If it is",
        ),
        (
            "Cancelled in-flight METADATA request with correlation id 7 due to node -2 being disconnected",
            "restarts",
            "TLS",
        ),
        (
            "the kafka reader got an unknown error reading partition 4 of a at offset 17: read tcp "
            "10.2.0.5:1->10.2.0.9:9: i/o timeout",
            "no answer arrived",
            "too early",
        ),
        ("Expecting data with Confluent Schema Registry framing. Magic byte was 48, expecting 0", "48 is `0`", "JSON"),
        (
            "Expecting data with Confluent Schema Registry framing. Magic byte was 123, expecting 0",
            "as JSON begins",
            "digit",
        ),
        (
            "ssl.key.location failed: ssl_rsa.c:649: error:140B0009:SSL routines:SSL_CTX_use_PrivateKey_file:PEM lib:",
            "path is right",
            "on this machine",
        ),
        (
            "org.apache.kafka.connect.errors.ConnectException: Could not create PG connection",
            "pg_hba.conf",
            "fails over",
        ),
        (
            "io.debezium.DebeziumException: Could not execute heartbeat action (Error: 57P01)",
            "fails over",
            "pg_hba.conf",
        ),
    ],
)
def test_what_a_line_shows_decides_its_meaning(line: str, means: str, not_means: str) -> None:
    match = match_line(line)
    assert match is not None
    assert means in match.means
    assert not_means not in match.means
