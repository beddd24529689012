"""Finds gaps in numbered records: takes runs of consecutive numbers, returns one account per source; pure.

The caller (shipped.py, on Spark) passes runs and not records, so the cost depends on the number of gaps and not of
records. A source numbers its records from 1 without gaps, so every missing number between 1 and the last one is a lost
record. A topic cannot show that records after the last one are missing, so the caller may pass a source's last number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

SHOWN_RANGES = 100
"""An account lists at most this many missing ranges; it counts all."""


@dataclass(frozen=True, slots=True)
class SequenceRun:
    """Consecutive numbers of one source, `first` and `last` included. `records` also counts duplicates."""

    source: str
    first: int
    last: int
    records: int


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive numbers, both ends included."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def joined(runs: Iterable[SequenceRun]) -> Iterator[Span]:
    """The runs of one source as spans; adjacent runs become one span."""
    span: Span | None = None
    for run in runs:
        if span and run.first == span.last + 1:
            span = Span(span.first, run.last)
            continue
        if span:
            yield span
        span = Span(run.first, run.last)
    if span:
        yield span


@dataclass(frozen=True, slots=True)
class SourceAccount:
    """The counts of one source. `first` and `last` are None if the source was expected and has no record."""

    source: str
    first: int | None
    last: int | None
    records: int
    duplicates: int
    missing: int
    missing_ranges: tuple[Span, ...]
    """The first `SHOWN_RANGES` ranges, in order."""


def accounts(
    runs: Iterable[SequenceRun], *, reached: Mapping[str, int] | None = None, from_first: bool = False
) -> Iterator[SourceAccount]:
    """An account for each source; sources without a record come last.

    Args:
        runs: sorted by source and number, without overlaps; runs may be adjacent.
        reached: the last number of each source, if known; numbers after the topic's last one are missing.
        from_first: start at the first existing number, because retention removed the earlier ones.

    >>> (account,) = accounts([SequenceRun("web", 1, 4, 5), SequenceRun("web", 7, 9, 3)])
    >>> account.records, account.duplicates, [str(span) for span in account.missing_ranges]
    (8, 1, ['5-6'])
    """
    expected = dict(reached or {})
    for source, group in groupby(runs, attrgetter("source")):
        yield _account(source, group, expected.pop(source, 0), from_first=from_first)
    for source, last in expected.items():
        spans = (Span(1, last),) if last else ()
        yield SourceAccount(source, None, None, 0, 0, last, spans)


def _account(source: str, runs: Iterable[SequenceRun], reached: int, *, from_first: bool) -> SourceAccount:
    first = last = None
    records = numbers = missing = 0
    shown: list[Span] = []

    def add_missing(begin: int, end: int) -> None:
        nonlocal missing
        if begin <= end:
            missing += end - begin + 1
            if len(shown) < SHOWN_RANGES:
                shown.append(Span(begin, end))

    for run in runs:
        if first is None or last is None:
            first, last = run.first, run.first - 1 if from_first else 0
        add_missing(last + 1, run.first - 1)
        last = run.last
        records += run.records
        numbers += run.last - run.first + 1
    assert last is not None  # noqa: S101 - a group has one run at least
    add_missing(last + 1, reached)
    return SourceAccount(source, first, last, records, records - numbers, missing, tuple(shown))
