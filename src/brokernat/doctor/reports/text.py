"""Text of strangers made safe to show, and sentences as lines of a width.

What a broker advertises is any text: an escape sequence that moves a terminal's cursor, a NUL that no HTML may hold, a
mark that turns the direction of what follows, a blank that is none and was pasted with an address. A report shows that
something is there, and never obeys it.
"""

from __future__ import annotations

import textwrap


def printable(text: str) -> str:
    """The text with U+FFFD for every character that shows nothing; line ends are among them, the blank is not."""
    return text if text.isprintable() else "".join(each if each.isprintable() else "\ufffd" for each in text)


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
