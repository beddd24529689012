"""All checks by code, as pages, `--list-checks`, reports and `brokernat explain CODE` read them; pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from brokernat.doctor.checks import CHECKS
from brokernat.doctor.checks import Check as Entry

__all__ = ["Entry", "catalogue", "page"]


@cache
def catalogue() -> Mapping[str, Entry]:
    """Every check, in the order of the codes."""
    return {check.code: check for check in CHECKS}


def page(code: str) -> str:
    """Where the page of a code is, from the root of the sources."""
    return f"docs/reference/codes/{code}.md"
