"""Converts a `logging.LogRecord` to one line of JSON in the log call, before its arguments can change.

The object is concatenated from strings, because this is the main cost of `logger.info`; only extras use the JSON
encoder. Every record becomes valid JSON: values without a JSON form (NaN, bytes, objects, cycles) become their `repr`,
and a lone surrogate becomes its escape. Nothing here raises.

Structured loggers work without adapters. If the message is a dict (structlog's event dict), its field `event` becomes
the message and the other fields become extras. The same applies to the fields of a JSON object from the handler's
formatter (python-json-logger, structlog's ProcessorFormatter).
"""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Mapping
from json.encoder import encode_basestring
from math import isfinite
from typing import Final

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_STANDARD_SIZE: Final = len(vars(logging.makeLogRecord({})))
_MESSAGE_FIELDS: Final = ("message", "event")
_MAX_CACHED: Final = 1_000
_FORMATTER: Final = logging.Formatter()
_JSON: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=repr)


class RecordEncoder:
    """Converts records to bodies: the JSON object without its opening brace."""

    def __init__(self) -> None:
        self._host = encode_basestring(socket.gethostname())
        self._cached_second = (-1, "")
        self._cached_origins: dict[tuple[object, ...], str] = {}

    def encode(self, record: logging.LogRecord, formatter: logging.Formatter | None = None) -> bytes:
        """One record: `"time":…,"host":…,"process":…,"pid":…,"thread":…,"logger":…,"level":…,"message":…[,…]}`."""
        extra: dict[str, object] = {}
        if len(record.__dict__) != _STANDARD_SIZE:
            extra = {name: value for name, value in record.__dict__.items() if _is_extra(name)}
        if formatter is not None:
            message = _formatted(record, formatter, extra)
        elif isinstance(record.msg, dict):
            message = _message_of(record.msg, extra)
        else:
            message = _message(record)
        parts = [f'"time":"{self._time(record.created)}",{self._origin(record)},"message":{encode_basestring(message)}']
        if record.exc_info or record.exc_text or record.stack_info:
            parts.append(f'"exception":{encode_basestring(_exception(record))}')
        if extra:
            parts.append(f'"extra":{json_text(extra)}')
        # The backslash escape of a lone surrogate is valid JSON.
        return (",".join(parts) + "}").encode("utf-8", "backslashreplace")

    def _time(self, created: float) -> str:
        """RFC 3339 in UTC with microseconds."""
        try:
            second, micros = divmod(round(created * 1_000_000), 1_000_000)
            known, text = self._cached_second
            if second != known:
                text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
                self._cached_second = (second, text)
        except (TypeError, ValueError, OverflowError, OSError):  # None, NaN, or a year out of range
            return self._time(time.time())
        return f"{text}.{micros:06d}Z"

    def _origin(self, record: logging.LogRecord) -> str:
        """Host, process, thread, logger and level; cached, because a program has few combinations."""
        key = (record.processName, record.process, record.threadName, record.name, record.levelname)
        try:
            return self._cached_origins[key]
        except KeyError:
            pass
        except TypeError:  # unhashable values; `makeLogRecord` accepts any
            return self._origin_json(*key)
        if len(self._cached_origins) >= _MAX_CACHED:
            # Bounds the memory for programs that give each thread a new name.
            self._cached_origins.clear()
        return self._cached_origins.setdefault(key, self._origin_json(*key))

    def _origin_json(self, process: object, pid: object, thread: object, logger: object, level: object) -> str:
        return (
            f'"host":{self._host},"process":{_text(process)},"pid":{pid if isinstance(pid, int) else 0},'
            f'"thread":{_text(thread)},"logger":{_text(logger)},"level":{_text(level)}'
        )


def json_text(value: object) -> str:
    """JSON for any value."""
    try:
        return _JSON.encode(value)
    except Exception:  # noqa: BLE001 - a value without a JSON form, or a __repr__ of the application that raises
        try:
            return _JSON.encode(_json_value(value, frozenset()))
        except RecursionError:
            return encode_basestring(_repr(value))


def _is_extra(name: str) -> bool:
    # structlog's internal fields begin with an underscore.
    return name not in _STANDARD and not name.startswith("_")


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - `%d` with a text, or a __str__ that raises
        # The unformatted text and its arguments.
        return f"{_repr(record.msg)} {_repr(record.args)}"


def _message_of(fields: Mapping[object, object], extra: dict[str, object]) -> str:
    """The message among structured fields; adds the other fields to `extra`."""
    message = ""
    for name in _MESSAGE_FIELDS:
        if name in fields:
            message = _str(fields[name])
            break
    extra.update({_str(key): value for key, value in fields.items() if key != name})
    return message


def _formatted(record: logging.LogRecord, formatter: logging.Formatter, extra: dict[str, object]) -> str:
    try:
        text = formatter.format(record)
    except Exception:  # noqa: BLE001 - the application's formatter
        return _message(record)
    if text.startswith("{"):
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError):
            return text
        extra.clear()
        return _message_of(fields, extra)
    return text


def _exception(record: logging.LogRecord) -> str:
    parts = [record.exc_text] if record.exc_text else []
    if not parts and isinstance(record.exc_info, tuple):
        try:
            parts.append(_FORMATTER.formatException(record.exc_info))
        except Exception:  # noqa: BLE001 - a __str__ of the application that raises
            parts.append(_repr(record.exc_info[0]))
    if record.stack_info:
        parts.append(record.stack_info)
    return "\n".join(parts)


def _text(value: object) -> str:
    return encode_basestring(value) if isinstance(value, str) else "null"


def _str(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - a __str__ of the application that raises anything
        return _repr(value)


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - a __repr__ of the application that raises anything
        return f"<{type(value).__name__} without a repr>"


def _json_value(value: object, inside: frozenset[int]) -> object:
    """The value, with its parts that have no JSON form, and cycles, replaced by their `repr`."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    if id(value) not in inside:
        inside |= {id(value)}
        if isinstance(value, dict):
            return {
                key if isinstance(key, str) else _repr(key): _json_value(item, inside) for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [_json_value(item, inside) for item in value]
    return _repr(value)
