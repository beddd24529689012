"""A sentence as lines of a width; what must be copied or searched for is never given to it."""

from __future__ import annotations

import textwrap

from brokernat.doctor.reports.printable import printable


def folded(text: str, width: int, first: str, then: str) -> list[str]:
    """The lines, the first one behind `first`, the others behind `then`; no word is cut, however long."""
    return textwrap.wrap(
        printable(text),
        width,
        initial_indent=first,
        subsequent_indent=then,
        break_long_words=False,
        break_on_hyphens=False,
    )
