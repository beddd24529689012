"""Sizes as people write them, `512M`; pure."""

from __future__ import annotations

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def size_in_bytes(text: str) -> int:
    """Bytes; units are powers of 1024, with or without `B` or `iB`.

    Raises:
        ValueError: it is no size.

    >>> size_in_bytes("1.5 MiB")
    1572864
    """
    plain = text.strip().lower().removesuffix("b").removesuffix("i").strip()
    number, unit = (plain[:-1], plain[-1]) if plain and plain[-1] in _UNITS else (plain, "")
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, OverflowError):
        raise ValueError(text) from None
