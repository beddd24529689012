"""Text for messages and reports: counted nouns, printable text, folded lines.

A broker may advertise any text: terminal escape sequences, NUL, marks that change the direction of writing, no-break
spaces. `printable` replaces each with U+FFFD.
"""

from __future__ import annotations

import textwrap


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """The number and the noun in singular or plural; the default plural is the noun and an `s`.

    >>> counted(1, "JVM"), counted(2, "JVM"), counted(2, "entry", "entries")
    ('1 JVM', '2 JVMs', '2 entries')
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def printable(text: str) -> str:
    """The text with U+FFFD for every character that is not printable, line ends included."""
    return text if text.isprintable() else "".join(each if each.isprintable() else "\ufffd" for each in text)


def folded(text: str, width: int, first: str, then: str) -> list[str]:
    """The text in lines of `width`, indented by `first` and `then`; long words are not cut."""
    return textwrap.wrap(
        printable(text),
        width,
        initial_indent=first,
        subsequent_indent=then,
        break_long_words=False,
        break_on_hyphens=False,
    )
