"""Text for messages and reports: counted nouns, durations and sizes with units, printable text, folded lines.

A broker may advertise any text: terminal escape sequences, NUL, marks that change the direction of writing, no-break
spaces. `printable` replaces each with U+FFFD.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """The number and the noun in singular or plural; the default plural is the noun and an `s`.

    >>> counted(1, "JVM"), counted(2, "JVM"), counted(2, "entry", "entries")
    ('1 JVM', '2 JVMs', '2 entries')
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def listed(items: Sequence[str], most: int = 3, separator: str = ", ") -> str:
    """The first items, and the number of the others.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return f"{separator.join(items[:most])}{more}"


def inside_sentence(text: str) -> str:
    """A sentence or title inside another one: its first letter is small, unless it begins with `TLS` or the like."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


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


_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}


def seconds(text: str) -> int:
    """The seconds of `10 minutes`, `1 day`.

    >>> seconds("2 days")
    172800
    """
    number, _, unit = text.partition(" ")
    return int(number) * _SECONDS[unit.removesuffix("s")]


def in_words(length: float) -> str:
    """A duration in its largest whole unit, rounded down.

    >>> in_words(172801)
    '2 days'
    """
    unit, size = max(
        ((unit, size) for unit, size in _SECONDS.items() if size <= length), key=_size, default=("second", 1)
    )
    number = int(length // size)
    return counted(number, unit)


def _size(entry: tuple[str, int]) -> int:
    return entry[1]


_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def size_in_bytes(text: str) -> int:
    """Bytes; units are powers of 1024, with or without `B` or `iB`.

    Raises:
        ValueError: it is not a size.

    >>> size_in_bytes("1.5 MiB")
    1572864
    """
    plain = text.strip().lower().removesuffix("b").removesuffix("i").strip()
    number, unit = (plain[:-1], plain[-1]) if plain and plain[-1] in _UNITS else (plain, "")
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, OverflowError):
        raise ValueError(text) from None
