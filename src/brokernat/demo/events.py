"""What the demo shows, as plain records: the command line decides how they look."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Working:
    """Something begins that takes a while; `text` says what, until the next event."""

    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A new part of the demo."""

    text: str


@dataclass(frozen=True, slots=True)
class Say:
    """A sentence or two."""

    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Lines as they stand in a file or a log, with the place they come from."""

    origin: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EventTable:
    """Columns and rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Event = Working | Heading | Say | Quote | EventTable
