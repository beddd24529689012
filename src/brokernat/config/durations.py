"""Lengths of time as people write them, `10 minutes`; pure."""

from __future__ import annotations

from brokernat.plurals import counted

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}


def seconds(text: str) -> int:
    """The seconds of `10 minutes`, `1 day`.

    >>> seconds("2 days")
    172800
    """
    number, _, unit = text.partition(" ")
    return int(number) * _SECONDS[unit.removesuffix("s")]


def in_words(length: float) -> str:
    """A length of time in its largest whole unit, rounded down.

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
