"""A whole log, line by line, to one entry for each thing that it says.

Lines that differ only in time, client or counter are one entry: same row, same node, same endpoint. Memory is bounded
whatever the log is like: lines are read in pieces, and beyond `MOST` entries those of one row are counted together.
A log may hold anything; what leaves here holds nothing that a terminal obeys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TextIO

from brokernat.doctor.explaining.recognising import Recognised, recognise
from brokernat.doctor.explaining.timestamps import timestamp
from brokernat.doctor.explaining.unwrapping import unwrapped
from brokernat.doctor.reports.printable import printable

MOST: Final = 500
"""Entries that are told apart; many more endpoints than a cluster has brokers."""

LONGEST: Final = 65536
"""Characters that are read at once; a longer line comes in several pieces."""


@dataclass(slots=True)
class Entry:
    """`line` is the first line of this kind. The times are as the log writes them, None where it has none."""

    found: Recognised
    line: str
    count: int = 1
    first_seen: str | None = None
    last_seen: str | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """What a log says. `entries` are in the order of what they tell, then of how often."""

    lines: int
    recognised: int
    entries: tuple[Entry, ...]


def account(lines: Iterable[str]) -> Account:
    """Read all lines once; each one with its line end, or a piece of a long one without."""
    entries: dict[object, Entry] = {}
    number = recognised = 0
    when = None
    for line in lines:
        number += line.endswith("\n")
        texts = unwrapped(line)
        when = next(filter(None, map(timestamp, texts)), when)
        said = _said(texts)
        recognised += bool(said)
        for key, (found, text) in said.items():
            kept = key if key in entries or len(entries) < MOST else found.symptom.key
            entry = entries.get(kept)
            if entry is None:
                entries[kept] = Entry(found, text, 1, when, when)
            else:
                entry.count += 1
                entry.last_seen = when
    ordered = sorted(entries.values(), key=lambda entry: (entry.found.symptom.telling, -entry.count))
    return Account(number, recognised, tuple(ordered))


def pieces(stream: TextIO) -> Iterator[str]:
    """The lines of a stream, long ones in pieces; the last one has a line end, too."""
    piece = ""
    for piece in iter(lambda: stream.readline(LONGEST), ""):
        yield piece if piece.endswith("\n") or len(piece) == LONGEST else f"{piece}\n"


def _said(texts: list[str]) -> dict[object, tuple[Recognised, str]]:
    """What the texts of one line say; twice the same, as in a message and its stack, is said once."""
    said: dict[object, tuple[Recognised, str]] = {}
    for text in map(str.strip, texts):
        found, shown = recognise(text), text
        if found and not text.isprintable():
            shown = printable(text.replace("\t", " "))
            found = recognise(shown)
        if found:
            said.setdefault(_key(found), (found, shown))
    return said


def _key(found: Recognised) -> tuple[object, ...]:
    return found.symptom.key, found.named.role, found.named.node, found.named.endpoint
