"""The time at the head of a log line, as the line writes it; pure.

Times are shown and never compared: a log is in its own order, and its zone is not written. Known are the ISO forms of
log4j, logback and Python's logging, Spark's `26/11/21 18:32:05`, Go's `2026/11/21`, syslog's and java.util.logging's
month by name, librdkafka's seconds since 1970, and what JSON has of these.
"""

from __future__ import annotations

import re

_FORMS = re.compile(
    r"(?:^|[\[\"{ |\t])(?P<at>"
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"|(?:\d\d)?\d\d/\d\d/\d\d \d\d:\d\d:\d\d"
    r"|[A-Z][a-z]{2} [ \d]?\d(?:, \d{4})? \d?\d:\d\d:\d\d(?: [AP]M)?"
    r"|\d\d:\d\d:\d\d[.,]\d{3}"
    r")|(?:^|[ |\"])%\d\|(?P<epoch>\d{10}\.\d{3})\|"
    r"|^(?P<seconds>\d{10}\.\d{3}) RDKAFKA-"
)
_HEAD = 80


def timestamp(line: str) -> str | None:
    """The time, None where the head of the line has none."""
    match = _FORMS.search(line, 0, _HEAD)
    return match["at"] or match["epoch"] or match["seconds"] if match else None
