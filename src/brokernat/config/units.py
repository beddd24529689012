"""Durations and sizes with units, such as `10 minutes` and `512M`; pure."""

from __future__ import annotations

from brokernat.text import counted

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
