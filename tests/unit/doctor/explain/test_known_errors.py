"""Each error has one meaning, each spelling leads to it, and what everybody says is Kafka's beside Kafka alone."""

import json
import re
import tomllib
from collections import Counter
from importlib.resources import files

import pytest
from tests.unit.doctor.explain.vectors import holds_for_each, key_of

from brokernat.doctor.checks import catalogue
from brokernat.doctor.explain.known_errors import error_in, known_errors
from brokernat.doctor.explain.known_lines import KnownLine, Tells, known_lines
from brokernat.doctor.explain.log import explain_log
from brokernat.doctor.explain.matching import match_line

TABLES = {
    file.name: tomllib.loads(file.read_text("utf-8"))
    for file in (files("brokernat.doctor.explain") / "errors").iterdir()
    if file.name.endswith(".toml")
}
SPELLINGS = TABLES.pop("spellings.toml")
ANYBODYS = TABLES.pop("anybodys.toml")
CODES = set(catalogue())


def explained(*lines: str) -> list[str]:
    return [each.match.known.key for each in explain_log(f"{line}\n" for line in lines).explained]


def test_every_error_has_one_meaning() -> None:
    meant = Counter(name for table in TABLES.values() for error in table["error"] for name in error.get("errors", ()))
    assert set(meant) == set(SPELLINGS)
    assert set(meant.values()) == {1}
    assert set(ANYBODYS["names"]) <= set(SPELLINGS) | {
        name for each in SPELLINGS.values() for name in each.get("names", ())
    }


def test_every_code_of_the_protocol_is_there() -> None:
    codes = sorted(each["code"] for each in SPELLINGS.values() if "local" not in each)
    assert codes == [-1, *range(1, 134)]


def test_a_key_is_one_kind() -> None:
    keys = Counter(known.key for known in (*known_lines(), *known_errors()))
    assert set(keys.values()) == {1}


def test_no_spelling_belongs_to_two() -> None:
    texts = Counter(text for known in known_errors() for text in set(known.holds))
    assert [text for text, count in texts.items() if count > 1] == []


def test_each_error_is_whole_and_found_by_each_spelling() -> None:
    def holds(known: KnownLine) -> None:
        (explanation,) = known.explanations
        assert explanation.means.endswith(".")
        assert explanation.steps
        assert not explanation.steps.endswith(".")
        assert set(explanation.codes) <= CODES
        for text in known.holds:
            found = error_in(f"ERROR it failed: {text}")
            assert found is not None
            assert found[0].key == known.key, text

    holds_for_each(known_errors(), holds, key_of)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (
            "org.apache.kafka.common.errors.UnstableOffsetCommitException: There are unstable offsets",
            "error-unstable-offset",
        ),
        ("% ERROR: Broker: Disk error when trying to access log file on disk", "error-disk"),
        ('KafkaError{code=_ASSIGNMENT_LOST,val=-142,str="it is gone"}', "local-assignment"),
        ("Error: Local: Erroneous state", "local-state"),
        ("kafka.errors.GroupMaxSizeReachedError", "error-group-full"),
        ("kafka: error: kafka server: Unable to update finalized features", "error-feature-level"),
        ("fetch failed: [74] Fenced Leader Epoch: the leader epoch is older", "error-not-leader"),
        (
            "produce: DUPLICATE_SEQUENCE_NUMBER: The broker received a duplicate sequence number.",
            "error-sequence-duplicate",
        ),
        ('"error":"Deleting offsets of a topic is forbidden while the consumer group is actively', "error-group-use"),
        ("x.streams.errors.TaskCorruptedException: Tasks [0_1] are corrupted", "streams-class-corrupted"),
        ("ERROR [Worker clientId=c] Something new (org.apache.kafka.connect.runtime.Worker:7)", "logger-connect"),
        ("\tat org.apache.kafka.connect.runtime.Worker.start(Worker.java:7)", None),
        ("INFO Something new (org.apache.kafka.connect.runtime.Worker:7)", None),
    ],
)
def test_an_error_is_known_in_a_line_that_nobody_saw(line: str, key: str | None) -> None:
    found = match_line(line)
    assert (found and found.known.key) == key


def test_an_error_that_a_collector_cut_is_known_where_it_is_one_alone() -> None:
    found = error_in("my MemberId UUID, 0 members in group: Broker: Group member n")
    assert found is not None
    assert (found[0].key, found[1][0]) == ("error-member-id", "Broker: Group member n")
    assert error_in("it failed: Broker: Group") is None


def test_what_others_say_too_is_kafkas_beside_kafka() -> None:
    line = "ERROR Invalid server signature"
    assert explained(line) == []
    assert explained(f"kafka {line}") == ["login-scram"]


def test_a_step_is_told_where_no_error_is_named() -> None:
    step = "GroupCoordinator/1: HeartbeatRequest failed: "
    assert explained(f"{step}what nobody knows") == ["group-step"]
    assert explained(f"{step}Broker: Group rebalance in progress") == ["error-rebalance"]


def test_of_two_errors_the_one_that_tells_more_counts() -> None:
    line = "org.apache.kafka.connect.errors.ConnectException: org.apache.kafka.common.errors.ProducerFencedException: x"
    found = error_in(line)
    assert found is not None
    assert (found[0].key, found[0].tells) == ("error-producer-fenced", Tells.FAULT)


def test_a_name_that_goes_on_is_another_name() -> None:
    assert error_in("UNKNOWN_MEMBER_IDENTITY MyUnknownMemberIdException UnknownMemberIdExceptions") is None


def test_the_end_of_a_longer_name_is_another_name() -> None:
    assert error_in("ERROR it failed: FOO_LEADER_NOT_AVAILABLE") is None
    assert error_in("ERROR it failed: RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE") is not None


def test_what_every_program_says_counts_beside_kafka_alone() -> None:
    line = "the name: getaddrinfo ENOTFOUND backend"
    assert explained(line) == []
    assert explained(f"kafka {line}") == ["net-name"]
    # Not because Kafka's lines stand above it.
    assert "net-name" not in explained("KafkaJSError: it broke", line)


def test_a_calm_line_reports_faults_only() -> None:
    calm = "INFO kafka: The group is rebalancing, so a rejoin is needed"
    assert explained(*[calm] * 31) == explained(calm, "ERROR kafka: Group authorization failed.")[1:] == []
    # Whoever pastes nothing else wants to know.
    assert explained(calm) == ["error-rebalance"]
    assert explained("INFO kafka: Group authorization failed.") == ["error-group-authorization"]


def test_a_place_is_not_told_where_a_reason_is() -> None:
    place = "ERROR Something new (org.apache.kafka.connect.runtime.Worker:7)"
    assert explained(place) == ["logger-connect"]
    assert explained(place, "Caused by: org.apache.kafka.common.errors.ProducerFencedException") == [
        "error-producer-fenced"
    ]


def test_a_class_of_this_name_in_a_package_of_another_program() -> None:
    assert explained("com.acme.mail.errors.RecordTooLargeException: 10 MB") == []
    assert explained("org.apache.kafka.common.errors.RecordTooLargeException") == ["error-too-large"]
    assert explained("errors.RecordTooLargeException: x") == ["error-too-large"]


def test_other_programs_use_some_of_the_names() -> None:
    lines = (
        "error UNKNOWN",
        "INVALID_REQUEST: no body",
        "[42] Invalid Request",
        json.dumps({"code": "LISTENER_NOT_FOUND"}),
    )
    assert [line for line in lines if explained(line)] == []


def test_what_a_connector_says_of_its_other_system_is_not_kafkas() -> None:
    cause = "org.apache.kafka.connect.errors.ConnectException: java.io.EOFException"
    assert explained(cause) == ["connect-exception"]
    assert explained("WARN org.apache.kafka.common.network.Selector: Error in I/O", "java.io.EOFException") != [
        "connect-exception"
    ]


def test_a_name_at_the_end_of_a_line_is_no_cut_text() -> None:
    """Of the JVM's exceptions only some texts are known, and most end without one."""
    assert explained("ERROR kafka: java.lang.NullPointerException: invalid null inp") == ["login-os-user"]
    assert explained("ERROR kafka: java.lang.NullPointerException") == ["jvm-exception"]


def test_a_calm_line_may_name_its_level_last() -> None:
    line = '{"message":"orders: partitions revoked: [orders-1]","logger":"org.springframework.kafka.X","level":"INFO"}'
    assert explained(line) == ["kafka-steps"]
    assert explained(line.replace("INFO", "ERROR")) == ["logger-spring-error"]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("Error { kind: Kafka(UnknownTopicOrPartition) }", "error-topic-missing"),
        ("Consumer commit error: IllegalGeneration", "error-member"),
        ("Continuing in response to NotCoordinatorForGroup", "error-no-coordinator"),
        ("An error occurred (UnknownTopicOrPartition) when calling the Publish operation", None),
        ("NotLeaderForPartitionHandler", None),
        ("OffsetOutOfRange", None),
    ],
)
def test_some_clients_print_the_name_alone(line: str, key: str | None) -> None:
    found = error_in(line)
    assert (found and found[0].key) == key


@pytest.mark.parametrize(
    ("level", "key"), [("ERROR", "logger-connect"), ("warning", "logger-connect"), ("INFO", "kafka-steps")]
)
def test_a_json_line_may_have_logger_and_level_last(level: str, key: str) -> None:
    text = "x" * 150
    line = f'{{"message":"{text}","logger_name":"org.apache.kafka.connect.runtime.Worker","level":"{level}"}}'
    assert explained(line) == [key]
    assert explained(line.replace("connect.runtime.Worker", "clients.NetworkClient")) != []


def test_a_logger_alone_shows_no_failure_and_no_check() -> None:
    """The line may be a note: only what a text names is known."""
    package = re.compile(r"[a-z]\w*(?:\.\w+)+\.")
    by_package = [known for known in known_errors() if any(package.fullmatch(text) for text in known.holds)]
    assert len(by_package) >= 12
    unlike = {known.key for known in by_package if not known.title.endswith("logs a line that is not known")}
    assert unlike == set()
    assert {known.key for known in by_package if known.explanations[0].codes} == set()


@pytest.mark.parametrize(
    "line",
    [
        "WARN o.s.k.l.a.SomeMessagingAdapter - No such thing is set, because it is not needed.",
        "WARN [main] org.springframework.kafka.core.SomeFactory : A factory was made twice",
        "[kafka-coordinator-heartbeat-thread | app] ERROR org.apache.kafka.common.network.NetworkSend - Something new",
        "[2026-01-01 10:00:00,123] WARN Something new (kafka.controller.KafkaController)",
        "ERROR io.debezium.some.Part - Something new",
    ],
)
def test_a_text_that_nobody_knows_is_called_so(line: str) -> None:
    (found,) = explain_log([f"{line}\n"]).explained
    assert found.match.known.title.endswith("logs a line that is not known")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('["receive failed" error="Local: Timed out"]', "rdkafka-no-record-yet"),
        ("kafka consume error: Local: Timed out", "rdkafka-no-record-yet"),
        ("Poll error: KafkaError{code=_TIMED_OUT,val=-185}", "rdkafka-no-record-yet"),
        ("ReadMessage: Local: Timed out", "rdkafka-no-record-yet"),
        ("rdkafka: failed to start consuming orders: Local: Unknown partition", "rdkafka-start-partition"),
        ("rd_kafka_consume_start failed: Local: Unknown partition", "rdkafka-start-partition"),
        ("Failed to commit offsets: Local: Unknown partition", "rdkafka-not-assigned"),
    ],
)
def test_an_error_of_librdkafkas_own_depends_on_the_call(line: str, key: str) -> None:
    assert explained(line) == [key]


@pytest.mark.parametrize(
    "line",
    [
        "Failed to commit offsets: Local: Timed out",
        "produce failed: Local: Timed out",
        "Delivery failed: Local: Message timed out",
        "failed to fetch metadata while polling: Local: Timed out",
        "consumer: FetchRequest failed: Local: Timed out",
    ],
)
def test_a_request_that_timed_out_is_no_empty_poll(line: str) -> None:
    assert "rdkafka-no-record-yet" not in explained(line)
