"""The page of log lines: what the table says, each row with the first of its lines in `tests/vectors/log_lines`."""

from __future__ import annotations

import json
from pathlib import Path

from brokernat.doctor.explaining.page import Example, log_lines_page

LINES = Path(__file__).parents[2] / "tests" / "vectors" / "log_lines"


def page() -> str:
    """The whole page."""
    examples: dict[str, Example] = {}
    for file in sorted(LINES.glob("*.json")):
        for each in json.loads(file.read_text("utf-8")):
            examples.setdefault(each["row"], Example(each["client"], each["how"], each["line"]))
    return log_lines_page(examples)
