from __future__ import annotations

import json
import logging
import sys
from typing import Any

import pytest
import structlog
from pythonjsonlogger.json import JsonFormatter

from brokernat.shipping.record import RecordEncoder, json_text


def shipped(record: logging.LogRecord, formatter: logging.Formatter | None = None) -> dict[str, Any]:
    """What a reader of the topic gets, but for source and sequence."""
    result: dict[str, Any] = json.loads(b"{" + RecordEncoder().encode(record, formatter))
    return result


def a_record(message: object, *arguments: object, **extra: object) -> logging.LogRecord:
    record = logging.LogRecord("app.orders", logging.INFO, __file__, 1, message, arguments, None)
    record.__dict__.update(extra)
    return record


def test_a_record_says_when_where_who_and_what() -> None:
    record = a_record("order %d of %s", 7, "née\n", customer={"id": 3})
    record.created = 1_700_000_000.25
    found = shipped(record)
    assert found.pop("host")
    assert found == {
        "time": "2023-11-14T22:13:20.250000Z",
        "process": "MainProcess",
        "pid": record.process,
        "thread": "MainThread",
        "logger": "app.orders",
        "level": "INFO",
        "message": "order 7 of née\n",
        "extra": {"customer": {"id": 3}},
    }


def test_the_time_follows_the_record_also_backwards() -> None:
    encoder, record = RecordEncoder(), a_record("x")
    times = []
    for created in (100.999_999_9, 99.5, -0.25):
        record.created = created
        times.append(json.loads(b"{" + encoder.encode(record))["time"])
    assert times == ["1970-01-01T00:01:41.000000Z", "1970-01-01T00:01:39.500000Z", "1969-12-31T23:59:59.750000Z"]


@pytest.mark.parametrize("created", [None, float("nan"), float("inf"), 1e18, -1e18, "noon"])
def test_a_time_that_no_calendar_has_is_now(created: object) -> None:
    found = shipped(a_record("x", created=created))
    assert found["time"][:2] == "20"
    assert found["message"] == "x"


def test_threads_with_ever_new_names_do_not_fill_the_memory() -> None:
    encoder = RecordEncoder()
    for number in range(3_000):
        encoder.encode(logging.makeLogRecord({"msg": "x", "threadName": f"worker-{number}"}))
    assert len(encoder._cached_origins) <= 1_000


def test_the_same_words_of_another_record_are_not_taken_for_its_own() -> None:
    encoder, first, second = RecordEncoder(), a_record("x"), a_record("x")
    second.levelname, second.threadName = "ERROR", "worker"
    found = [json.loads(b"{" + encoder.encode(record)) for record in (first, second, first)]
    assert [one["level"] for one in found] == ["INFO", "ERROR", "INFO"]
    assert [one["thread"] for one in found] == ["MainThread", "worker", "MainThread"]


def test_a_record_of_no_usual_making_is_shipped_too() -> None:
    found = shipped(logging.makeLogRecord({"msg": "x", "name": ["a"], "process": "p", "threadName": None}))
    assert (found["logger"], found["pid"], found["thread"], found["message"]) == (None, 0, None, "x")


def test_an_exception_is_there_with_its_traceback() -> None:
    try:
        raise ValueError("no such order")
    except ValueError:
        record = logging.LogRecord("app", logging.ERROR, __file__, 1, "failed", (), sys.exc_info())
    found = shipped(record)
    assert found["exception"].startswith("Traceback")
    assert found["exception"].endswith("ValueError: no such order")


class _Rude:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__


def _circle() -> list[object]:
    circle: list[object] = [1]
    circle.append(circle)
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), b"\xff", object(), {1, 2}, {("a", 1): 2}, "\udc80", _circle(), _Rude(), [_Rude()]],
    ids=lambda value: type(value).__name__,
)
def test_whatever_is_logged_becomes_json(value: object) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    json.loads(json_text({"value": value}), parse_constant=refuse)
    assert shipped(a_record("x", value=value))["extra"].keys() == {"value"}
    shipped(a_record("%s", value))
    shipped(a_record(value))
    shipped(a_record({"event": value}))


def test_arguments_that_do_not_fit_are_shipped_and_not_lost() -> None:
    assert shipped(a_record("%d apples", "many"))["message"] == "'%d apples' ('many',)"


def test_structlog_events_need_no_glue() -> None:
    event = {"event": "paid", "order": 7, "level": "info"}
    assert (found := shipped(a_record(event)))["message"] == "paid"
    assert found["extra"] == {"order": 7, "level": "info"}
    for_formatter = a_record(dict(event), _logger=object(), _name="info")
    assert shipped(for_formatter)["extra"] == {"order": 7, "level": "info"}
    formatter = structlog.stdlib.ProcessorFormatter(processor=structlog.processors.JSONRenderer())
    found = shipped(a_record("from the standard library"), formatter)
    assert found["message"] == "from the standard library"


def test_json_formatters_need_no_glue() -> None:
    found = shipped(a_record("paid %d", 7, order=7), JsonFormatter("%(message)s"))
    assert (found["message"], found["extra"]) == ("paid 7", {"order": 7})


@pytest.mark.parametrize("text", ["plain", "{not json", "[1]", "{" * 100_000])
def test_the_text_of_any_other_formatter_is_the_message(text: str) -> None:
    assert (
        shipped(a_record("x"), logging.Formatter(text.replace("%", "%%")[:50], validate=False))["message"] == text[:50]
    )
