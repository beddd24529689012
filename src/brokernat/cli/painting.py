"""Colour for the doctor's report, on a terminal that wants it.

The report is complete without: colour only repeats what words and signs say. So it is put on at the very end, on
finished lines, and no part of the report knows of it. `NO_COLOR` is honoured as in https://no-color.org.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TextIO

from brokernat.cli import console

_BOLD, _RED, _GREEN, _YELLOW, _CYAN = "1", "1;31", "32", "1;33", "36"
_PAINT = (
    (re.compile(r"\A.+"), _BOLD),
    (re.compile(r"^root cause:", re.MULTILINE), _RED),
    (re.compile(r"^(?:[a-z][a-z' ]+)$", re.MULTILINE), _BOLD),
    (re.compile(r"^  x(?= )", re.MULTILINE), _RED),
    (re.compile(r"^  !(?= )", re.MULTILINE), _YELLOW),
    (re.compile(r"^  ok(?= )", re.MULTILINE), _GREEN),
    (re.compile(r"^  i(?= BN)", re.MULTILINE), _CYAN),
)


def wanted(stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Whether this stream shows colour, and its reader has not said no."""
    return console.is_terminal(stream) and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def painted(report: str) -> str:
    """The same text with the escape sequences of a terminal."""
    for pattern, style in _PAINT:
        report = pattern.sub(rf"\033[{style}m\g<0>\033[0m", report)
    return report
