"""What every check says about itself, for pages, `--list-checks`, reports and explanations; pure.

A check's docstring holds three paragraphs, `What:`, `Why:` and `Remedy:`. They are the only place where this is
written, so a page, a report and an explanation cannot say different things.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from brokernat.doctor.finding import Check, Need
from brokernat.doctor.registry import CHECKS

_PARAGRAPH = re.compile(r"^(What|Why|Remedy): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One code. The paragraphs are single lines of Markdown."""

    code: str
    title: str
    what: str
    why: str
    remedy: str
    needs: tuple[Need, ...]


@cache
def catalogue() -> Mapping[str, Entry]:
    """Every code of the registry, in the order of the codes."""
    return {check.code: _entry(check) for check in sorted(CHECKS, key=lambda check: check.code)}


def page(code: str) -> str:
    """Where the page of a code is, from the root of the sources."""
    return f"docs/reference/codes/{code}.md"


def _entry(check: Check) -> Entry:
    doc = sys.modules[check.find.__module__].__doc__ or ""
    _, *parts = _PARAGRAPH.split(doc)
    text = {name: " ".join(paragraph.split()) for name, paragraph in zip(parts[::2], parts[1::2], strict=True)}
    return Entry(check.code, check.title, text["What"], text["Why"], text["Remedy"], check.needs)
