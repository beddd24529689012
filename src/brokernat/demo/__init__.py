"""`brokernat demo`: unreachable brokers on this machine, a failing job, and the same job with an address map.

Its output are the plain records below, which the command line formats.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Working:
    """A long step begins; the command line shows `text` until the next event."""

    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A new part of the demo."""

    text: str


@dataclass(frozen=True, slots=True)
class Say:
    """One or two sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Lines of a file or a log, with their origin."""

    origin: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EventTable:
    """Columns and rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Event = Working | Heading | Say | Quote | EventTable
