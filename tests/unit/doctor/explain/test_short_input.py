"""Errors of the protocol in spellings that no client has are found in short inputs, and other words are not."""

import pytest
from tests.unit.doctor.explain.vectors import other_programs

from brokernat.doctor.explain.known_errors import protocol_errors
from brokernat.doctor.explain.log import explain_log
from brokernat.doctor.explain.loose_errors import error_named_loosely
from brokernat.doctor.explain.short_input import cut


def explained(*lines: str) -> list[str]:
    return [each.match.known.key for each in explain_log(f"{line}\n" for line in lines).explained]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("kafka: it failed with NotEnoughReplicas", "error-too-few-replicas"),
        ("kafka: it failed: not-enough-replicas", "error-too-few-replicas"),
        ("kafka: it failed: not enough replicas", "error-too-few-replicas"),
        ("kafka.common.errors.Topicauthoizationexception", "error-authorization"),
        ("kafka error UNKNOWN_TOPIC_OR_PARTITON", "error-topic-missing"),
        ("kafka topic t: err_code: 7", "error-slow"),
        ("kafka topic t: error code 29", "error-authorization"),
        ("kafka broker 3: error code -195", "local-transport"),
    ],
)
def test_an_error_is_found_in_any_spelling(line: str, key: str) -> None:
    assert explained(line) == [key]


@pytest.mark.parametrize(
    "line",
    [
        "kafka: process exited with code 3",
        "kafka proxy: http error code 29 for the topic",
        "kafka topic t: error code 404",
        "raft: not enough replicas",
        "request failed with error code 7",
    ],
)
def test_other_words_and_numbers_are_none(line: str) -> None:
    assert explained(line) == []


@pytest.mark.parametrize(
    "text",
    [
        "Code: 49, e.displayText() = DB::Exception: There is no checkpoint",
        "Code: 3. DB::Exception: Unexpected end of file",
        "Code: 16, e.displayText() = Coordination::Exception: Session expired",
        "ClickHouse exception, code: 60, host: kafka-tables",
    ],
)
def test_a_code_of_clickhouse_is_none_of_kafka(text: str) -> None:
    assert error_named_loosely(f"kafka topic orders: {text}", kafkas=True) is None


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("Replica not available", "error-no-leader"),
        ("ERROR: Not coordinator.", "error-no-coordinator"),
        ("Message contents does not match its CRC", "error-corrupt"),
        ("ConcurrentTransactionsException", "error-transaction-busy"),
        ("RD_KAFKA_RESP_ERR__TRANSPORT", "local-transport"),
    ],
)
def test_an_error_that_is_the_whole_line_needs_no_other_word_of_kafka(line: str, key: str) -> None:
    assert explained(line) == [key]


@pytest.mark.parametrize(
    "line", ["The request timed out.", "Invalid request", "Timed out", "raft: replica not available"]
)
def test_what_any_program_prints_is_no_error_of_kafka_alone(line: str) -> None:
    assert explained(line) == []


def test_each_name_and_number_is_found_beside_kafka() -> None:
    missed = {}
    for key, names, _, code in protocol_errors():
        # A short name may be anybody's.
        texts = [name for name in names if len(name) > 20] + [f"error code {code}"] * (code not in (0, -1))
        for text in texts:
            found = error_named_loosely(f"kafka broker: {text}", kafkas=True)
            if found is None or found[0].key != key:
                missed[text] = found and found[0].key
    assert missed == {}


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("kafka: dial tcp 10.0.0.1:9092: connect: connection refu...", "net-refused"),
        ("kafka: dial tcp 10.0.0.1:9092: connect: connection refu…", "net-refused"),
        ('"kafka: dial tcp 10.0.0.1:9092: connect: connection refu..."', "net-refused"),
        ("org.apache.kafka.common.errors.SslAuthenticationExceptio", "java-class-ssl"),
        (
            "kafka: client has run out of available brokers to talk to: dial tcp 10.0.0.1:9...",
            "sarama-out-of-brokers",
        ),
        ("kafka server: Request was for a topic or partition tha...", "error-topic-missing"),
        ("ERROR kafka.cluster: Topic orders not found in clus", "python-unknown-topic"),
        ("[sarama] client/metadata no available broker to send metadata ...", "client-no-brokers"),
    ],
)
def test_a_cut_line_means_what_all_texts_with_its_beginning_mean(line: str, key: str) -> None:
    (found,) = cut([line])
    assert (found.match.known.key, found.text) == (key, line)
    assert found.match.means.endswith("The line is cut here, and what is missing may say more.")
    assert key in explained(line)


@pytest.mark.parametrize(
    "lines",
    [
        # Of another program, though the rest could name Kafka.
        ["The channel 'orders' is configured with an unknown connector (smallrye-..."],
        ["dial tcp 10.0.0.1:5432: connect: connection refu..."],
        # Too short, several meanings, or not at a cut.
        ["kafka: connection..."],
        ["org.apache.kafka.common.errors.Invalid..."],
        ["kafka: connection refu in the past."],
        # Only the last line may be cut without a mark.
        ["kafka: dial tcp 10.0.0.1:9092: connect: connection refu", "the end"],
    ],
)
def test_other_cut_lines_mean_nothing(lines: list[str]) -> None:
    assert [*cut(lines)] == []


def test_a_line_of_another_program_is_not_claimed_wherever_it_is_cut() -> None:
    lines = {line for program in other_programs() for line in program.lines}
    texts = [f"{line[:at]}{end}" for line in lines for at in range(20, len(line), 17) for end in ("...", "")]
    assert [text for text in texts for _ in cut([text])] == []
