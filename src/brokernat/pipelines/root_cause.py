"""The root cause of a Spark failure in one line.

It is the last exception in the chain of causes, with the first line of its message; the other lines are the stack.
"""

from __future__ import annotations

import re
from typing import Any

_LIMIT = 600
_DEPTH = 50
_PREFIX = re.compile(r"^(?:[\w$]+\.)+(?=[A-Z][\w$]*(?:Exception|Error)\b)")
_NO_MESSAGE = re.compile(r"(?:Exception|Error):$")
_PYTHON = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Warning)\b.*", re.MULTILINE)


def root_cause(error: BaseException) -> str:
    """The deepest cause, as `Class: message`, in one line."""
    from py4j.protocol import Py4JJavaError

    # `_origin` is the Java exception that PySpark converted.
    throwable = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    if throwable is not None:
        return _of_throwable(throwable)
    text = str(error)
    if "Traceback (most recent call last)" in text and (lines := _PYTHON.findall(text)):
        return _one_line(lines[-1])
    return _one_line(f"{type(error).__name__}: {text}")


def _of_throwable(throwable: Any) -> str:
    for _ in range(_DEPTH):
        cause = throwable.getCause()
        if cause is None or cause.equals(throwable):
            break
        throwable = cause
    text = throwable.toString()
    if "Traceback (most recent call last)" in text and (lines := _PYTHON.findall(text)):
        return _one_line(lines[-1])
    return _one_line(text)


def _one_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # The message of a Spark exception may begin with an empty line.
    first = " ".join(lines[: 2 if _NO_MESSAGE.search(lines[0]) else 1]) if lines else ""
    return _PREFIX.sub("", first)[:_LIMIT]
