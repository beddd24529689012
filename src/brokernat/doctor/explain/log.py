"""Explains a whole log: one explained line for each distinct report.

This module decides which lines count; `explained_lines` puts them together. Memory is bounded for any log: long lines
are read in pieces, and there is a limit of explained lines. A log may hold any bytes; the output has no control
characters of terminals.

Some texts are borrowed: every program on the JVM may print `PKIX path building failed`. Such a line counts if the lines
around it (first the rest of its stack, then the lines above) show Kafka before another program; if they show neither,
only in an input of a few lines. Lines that healthy programs print, too, are explained only in an input of a few lines
without anything more informative.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from brokernat.doctor.explain.explained import ExplainedLine, only_places, shown_lines
from brokernat.doctor.explain.explained_lines import BELOW, FRAMES, ExplainedLines, Occurrence
from brokernat.doctor.explain.known_lines import Tells
from brokernat.doctor.explain.log_text import (
    timestamp,
    unwrapped,
    whole_lines,
    whole_records,
    without_emphasis,
)
from brokernat.doctor.explain.matching import LineMatch, match_line
from brokernat.doctor.explain.near_miss import UnknownLine, UnknownLines
from brokernat.doctor.explain.short_input import (
    LINES,
    Found,
    cut,
    is_harmless_beside_trouble,
    named_loosely,
    numbered,
    steps,
    unbroken,
    wrapped,
)
from brokernat.doctor.explain.surroundings import (
    continues_stack,
    error_above,
    exception_of,
    is_kafkas,
    names_kafka,
    names_streaming,
    shortened,
)
from brokernat.text import printable

_ABOVE = 60
# The end of a line whose reasons are the next lines.
_LISTS_BELOW = "error(s):"


@dataclass(frozen=True, slots=True)
class LogReport:
    """The result for a log. `explained` are sorted by how informative they are, then by count.

    `unknown` are lines of no known kind that are similar to known ones.
    """

    lines: int
    recognised: int
    explained: tuple[ExplainedLine, ...]
    unknown: tuple[UnknownLine, ...] = ()

    @property
    def shown(self) -> list[ExplainedLine]:
        """The explained lines that a report shows."""
        return shown_lines(self.explained)


def explain_log(lines: Iterable[str]) -> LogReport:
    """Read all lines once: each with its line end, or a piece of a long line without."""
    reader = _Reader()
    counted = whole_records(whole_lines(reader.counted(lines)))
    first = [*islice(counted, LINES + 1)]
    for line in chain(unbroken(first) if len(first) <= LINES else first, counted):
        reader.read(line)
    return reader.report()


class _Reader:
    def __init__(self) -> None:
        self._number = self._pieces = 0
        # Whether a kind explained the lines of this stack.
        self._told = False
        self._when: str | None = None
        self._above: deque[str] = deque(maxlen=_ABOVE)
        # In the order of the log; the first one is borrowed, and the lines around it are not yet known.
        self._waiting: deque[Occurrence] = deque()
        self._doubtful: list[Occurrence] = []
        # What counts only if other lines of a short input are Kafka's.
        self._beside: list[Occurrence] = []
        self._calm: list[Occurrence] = []
        self._explained = ExplainedLines()
        self._unknown = UnknownLines()

    def counted(self, lines: Iterable[str]) -> Iterator[str]:
        """The same lines; each is counted when it is taken."""
        for line in lines:
            self._number += line.endswith("\n")
            yield line

    def read(self, line: str) -> None:
        """Read one line, or a piece of one."""
        self._pieces += 1
        texts = unwrapped(line)
        if not continues_stack(texts[0]):
            # What waits belongs to the stack that ends here.
            self._decide()
            self._told = False
            self._explained.end_stack()
        self._explained.begin_line(self._pieces, texts[0])
        unknown = True
        for text in texts:
            if self._waiting:
                self._continue(text)
            decided = self._explained.decided_by(text)
            shown, match = _matched(text.strip())
            if decided and match and match.known.borrowed:
                # The line above is explained by it.
                match, unknown = None, False
            if match and match.known.under and not self._is_under(match.known.under):
                match, unknown = match_line(shown, alone=True), False
            self._explained.find_causes(text, self._exception_in(text, shown, match), match, decided)
            if match:
                unknown = False
                if not shown.isprintable():
                    shown = printable(shown.replace("\t", " "))
                    match = match_line(shown)
                if match:
                    self._occurs(match, shown, texts)
            self._above.append(text)
        if unknown:
            self._unknown.read(texts[0].strip())

    def _exception_in(self, text: str, shown: str, match: LineMatch | None) -> str:
        """The exception that a line begins with; a line of a list below an error is one, too."""
        if match is None and self._above and self._above[-1].endswith(_LISTS_BELOW):
            return exception_of(text) or shortened(shown)
        return exception_of(text)

    def _is_under(self, texts: tuple[str, ...]) -> bool:
        """Whether one of the next lines above has one of these texts."""
        return any(text in above for above in list(self._above)[-FRAMES:] for text in texts)

    def report(self) -> LogReport:
        """The report of the lines so far."""
        self._decide()
        # What is counted now belongs to no stack.
        self._explained.end_stack()
        if self._number <= LINES:
            self._take_what_a_short_input_means()
        for each in self._explained:
            if each.match.known.calm and each.match.known.fallback:
                each.cause = error_above(self._above, each.line)
        return LogReport(self._number, self._explained.recognised, self._explained.in_order(), self._unknown.found())

    def _take_what_a_short_input_means(self) -> None:
        for each in [*self._doubtful, *self._beside_kafka()] or self._telling():
            if not is_harmless_beside_trouble(each.match, self._above):
                self._explained.count(each)
        if not self._explained:
            self._take(wrapped(self._above))
        if all(only_places(each) and not each.cause for each in self._explained):
            self._take(named_loosely(self._above))
        elif all(each.match.known.general and each.match.known.tells >= Tells.EFFECT for each in self._explained):
            self._take(numbered(self._above))
        if all(only_places(each) and not each.cause for each in self._explained):
            self._take(cut(self._above))
        if not self._explained:
            self._take(steps(self._above))
        lines = [*self._above]
        for explained in self._explained:
            if explained.match.known.names_code and not explained.failing.sentences:
                # A terminal or a mail may have broken the line of the exception.
                below = next((lines[at:] for at, line in enumerate(lines, 1) if explained.line in line), [])
                explained.find_code(explained.line, below, self._explained)

    def _beside_kafka(self) -> list[Occurrence]:
        """What every program prints, if a line of this short input names Kafka, or a program around it."""
        if any(map(names_kafka, self._above)):
            return self._beside
        around = [each for each in self._beside if each.match.known.streaming]
        return around if around and any(map(names_streaming, self._above)) else []

    def _telling(self) -> list[Occurrence]:
        """The lines of healthy programs that are the most informative, or advertise the client's own machine."""
        least = min((each.match.known.tells for each in self._explained), default=Tells.WRAPPER + 1)
        named = {each.match.peer.endpoint for each in self._explained}
        return [
            each
            for each in self._calm
            if each.match.known.tells < least
            or (each.match.advertises_itself and each.match.peer.endpoint not in named)
        ]

    def _take(self, found: Iterable[Found]) -> None:
        # What was found after the last line has numbers of its own.
        for each in found:
            if not is_harmless_beside_trouble(each.match, self._above):
                self._explained.count(
                    Occurrence(self._pieces + each.number + 1, each.match, each.text, timestamp(each.text))
                )

    def _occurs(self, match: LineMatch, text: str, texts: list[str]) -> None:
        known = match.known
        if match.calm:
            if self._number <= LINES and (not known.borrowed or names_kafka(text)):
                self._calm.append(Occurrence(self._pieces, match, text, timestamp(text)))
            return
        if not known.general:
            self._told = self._told or known.tells is not Tells.WRAPPER
        elif self._told and (known.borrowed or known.tells is Tells.WRAPPER):
            # The cause of an error that a kind has already explained.
            return
        # A line without a time has the time of the line above it.
        times = (time for each in (*texts, *reversed(self._above)) if (time := timestamp(each)))
        self._when = next(times, self._when)
        occurrence = Occurrence(self._pieces, match, text, self._when)
        if known.borrowed:
            occurrence.above = tuple(self._above)
        if known.borrowed or self._waiting:
            self._waiting.append(occurrence)
        else:
            self._explained.count(occurrence)

    def _continue(self, text: str) -> None:
        if not continues_stack(text) or len(self._waiting[0].below) >= BELOW:
            self._decide()
        for each in self._waiting:
            each.below.append(text)

    def _decide(self) -> None:
        while self._waiting:
            each = self._waiting.popleft()
            if each.match.known.borrowed and each.match.known.general and _told_below(each):
                continue
            kafkas = not each.match.known.borrowed or is_kafkas(each.match, each.text, each.below, reversed(each.above))
            if kafkas:
                self._explained.count(each)
            elif self._number <= LINES and each.match.known.streaming:
                self._beside.append(each)
            elif kafkas is None and self._number <= LINES and not each.match.known.by_error:
                (self._beside if each.match.known.everyones else self._doubtful).append(each)


def _matched(line: str) -> tuple[str, LineMatch | None]:
    """The line and its match: as it is, or without Markdown's marks in its middle."""
    match = match_line(line)
    if match is None and ("`" in line or "*" in line or " _" in line):
        plain = without_emphasis(line)
        if match := match_line(plain):
            return plain, match
    return line, match


def _told_below(it: Occurrence) -> bool:
    """Whether a kind explains the stack below an error."""
    own = it.match.known
    matches = (match_line(text.strip()) for text in it.below)
    return any(
        match
        and not match.known.general
        and (match.known.tells is own.tells or (own.streaming and match.known.tells < own.tells))
        and (not match.known.under or any(text in it.text for text in match.known.under))
        for match in matches
    )
