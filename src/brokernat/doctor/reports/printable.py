"""Text of strangers, made safe to show.

What a broker advertises is any text: an escape sequence that moves a terminal's cursor, a NUL that no HTML may hold, a
mark that turns the direction of what follows. A report shows that something is there, and never obeys it.
"""

from __future__ import annotations

import unicodedata

_OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: str) -> str:
    """The text with U+FFFD for every character that controls instead of showing; line ends are among them."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("\ufffd" if unicodedata.category(each) in _OBEYED else each for each in text)
