"""Nouns with their number, for messages and reports."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """The number and the noun in the form that belongs to it; the plural is the noun and an `s` unless given.

    >>> counted(1, "JVM"), counted(2, "JVM"), counted(2, "entry", "entries")
    ('1 JVM', '2 JVMs', '2 entries')
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"
