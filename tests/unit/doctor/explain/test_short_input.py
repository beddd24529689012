"""Errors of the protocol in spellings that no client has are found in short inputs, and other words are not."""

import pytest

from brokernat.doctor.explain.known_errors import protocol_errors
from brokernat.doctor.explain.log import explain_log
from brokernat.doctor.explain.short_input import error_named_loosely


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
