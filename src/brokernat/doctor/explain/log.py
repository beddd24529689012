"""Explains a whole log: one explained line for each distinct report.

Lines that differ only in time, client or counter are merged: same kind, same node, same endpoint. Memory is bounded for
any log: long lines are read in pieces, and above `MOST` the lines of one kind are counted together. A log may hold any
bytes; the output has no terminal control characters.

Some texts are borrowed: every program on the JVM may print `PKIX path building failed`. Such a line counts if the lines
around it (first the rest of its stack, then the lines above) show Kafka before another program; if they show neither,
only in an input of a few lines. Lines that healthy programs print, too, are explained only in an input of a few lines
without anything more informative.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final

from brokernat.doctor.explain.explained import (
    ExplainedLine,
    only_places,
    refer_to_own_kinds,
    without_repeated,
    without_told,
)
from brokernat.doctor.explain.known_lines import KnownLine, Tells
from brokernat.doctor.explain.log_text import (
    timestamp,
    unwrapped,
    whole_lines,
    whole_records,
    without_emphasis,
    wording_of,
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
    exception_within,
    is_kafkas,
    is_of_stack,
    names_kafka,
    names_streaming,
    shortened,
)
from brokernat.text import printable

MOST: Final = 500
"""The limit of distinct explained lines; many more than the endpoints of a cluster."""

_ABOVE = 60
_BELOW = 80
# The most lines between an exception and the frame that shows what it is about.
_FRAMES = 12
# The start of a frame, also in JSON.
_FRAME = ("at ", '"')
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
        """The explained lines without those that others tell."""
        return without_told(self.explained)


def explain_log(lines: Iterable[str]) -> LogReport:
    """Read all lines once: each with its line end, or a piece of a long line without."""
    reader = _Reader()
    counted = whole_records(whole_lines(reader.counted(lines)))
    first = [*islice(counted, LINES + 1)]
    for line in chain(unbroken(first) if len(first) <= LINES else first, counted):
        reader.read(line)
    return reader.report()


@dataclass(slots=True)
class _Occurrence:
    number: int
    match: LineMatch
    text: str
    when: str | None
    above: tuple[str, ...] = ()
    below: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self) -> None:
        self._number = self._pieces = self._recognised = 0
        self._counted = -1
        # Whether a kind explained the lines of this stack.
        self._told = False
        self._when: str | None = None
        self._above: deque[str] = deque(maxlen=_ABOVE)
        # In the order of the log; the first one is borrowed, and the lines around it are not yet known.
        self._waiting: deque[_Occurrence] = deque()
        self._doubtful: list[_Occurrence] = []
        # What counts only if other lines of a short input are Kafka's.
        self._beside: list[_Occurrence] = []
        self._calm: list[_Occurrence] = []
        self._explained: dict[object, ExplainedLine] = {}
        self._keys: set[object] = set()
        # The wrappers of one stack, whose exception may follow.
        self._wrappers: list[ExplainedLine] = []
        # The place of the last line in `_explained`.
        self._last: object = None
        # How often that kind occurred in a row, in one stack.
        self._row = 0
        # The explained lines of this stack, and those since the last line with a time.
        self._stack: list[ExplainedLine] = []
        self._event: list[ExplainedLine] = []
        self._event_has_time = False
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
            self._stack.clear()
        if timestamp(texts[0]) and not is_of_stack(texts[0]):
            self._wrappers.clear()
        if timestamp(texts[0]):
            self._event.clear()
            self._event_has_time = True
        elif not self._event_has_time and self._pieces - self._counted > 1:
            self._event.clear()
        unknown = True
        for text in texts:
            if self._waiting:
                self._continue(text)
            decided = [each for each in self._stack if each.find_cause(text)]
            for each in decided:
                self._settle_above(each)
            shown, match = _matched(text.strip())
            if decided and match and match.known.borrowed:
                # The line above is explained by it.
                match, unknown = None, False
            self._find_causes(text, shown, match, decided)
            if match and match.known.under and not self._is_under(match.known.under):
                match, unknown = match_line(shown, alone=True), False
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

    def _find_causes(self, text: str, shown: str, match: LineMatch | None, decided: list[ExplainedLine]) -> None:
        """The last exception below a line is its cause, unless it has a kind of its own."""
        exception = exception_of(text)
        if not exception and not match and self._above and self._above[-1].endswith(_LISTS_BELOW):
            exception = shortened(shown)
        known = match and match.known.tells is not Tells.WRAPPER and not match.known.borrowed
        by = decided[0].match.known if decided else match.known if known and match else None
        for each in self._wrappers:
            if not exception:
                if each.cause and len(each.frames) < _BELOW:
                    each.frames.append(text)
                continue
            each.cause = "" if by else exception
            each.explained_by = by.title if by else ""
            each.frames.clear()
            refers = each.match.known.tells is Tells.WRAPPER and each.count == 1
            if known and match and refers and not (match.calm or match.known.general):
                each.refer_to(match.known)

    def _is_under(self, texts: tuple[str, ...]) -> bool:
        """Whether one of the next lines above has one of these texts."""
        return any(text in above for above in list(self._above)[-_FRAMES:] for text in texts)

    def report(self) -> LogReport:
        """The report of the lines so far."""
        self._decide()
        # What is counted now belongs to no stack.
        self._stack.clear()
        if self._number <= LINES:
            self._take_what_a_short_input_means()
        for told in self._explained.values():
            if told.match.known.calm and told.match.known.fallback:
                told.cause = error_above(self._above, told.line)
            self._refer_to_its_cause(told)
        explained = sorted(self._explained.values(), key=lambda each: (each.match.known.tells, -each.count))
        left = without_repeated(explained)
        refer_to_own_kinds(left)
        return LogReport(self._number, self._recognised, left, self._unknown.found())

    def _refer_to_its_cause(self, wrapper: ExplainedLine) -> None:
        """A fault that is explained by itself, and is the cause of a wrapper, has the reason."""
        if wrapper.match.known.tells is Tells.WRAPPER and wrapper.count == 1:
            for each in self._explained.values():
                if each.match.known.tells is Tells.FAULT and each.shows_cause_of(wrapper):
                    wrapper.refer_to(each.match.known)

    def _take_what_a_short_input_means(self) -> None:
        for each in [*self._doubtful, *self._beside_kafka()] or self._telling():
            if not is_harmless_beside_trouble(each.match, self._above):
                self._count(each)
        if not self._explained:
            self._take(wrapped(self._above))
        told = self._explained.values()
        if all(only_places(each) and not each.cause for each in told):
            self._take(named_loosely(self._above))
        elif all(each.match.known.general and each.match.known.tells >= Tells.EFFECT for each in told):
            self._take(numbered(self._above))
        if all(only_places(each) and not each.cause for each in told):
            self._take(cut(self._above))
        if not self._explained:
            self._take(steps(self._above))
        lines = [*self._above]
        for explained in told:
            if explained.match.known.names_code and not explained.failing.sentences:
                # A terminal or a mail may have broken the line of the exception.
                below = next((lines[at:] for at, line in enumerate(lines, 1) if explained.line in line), [])
                explained.find_code(explained.line, below, told)

    def _beside_kafka(self) -> list[_Occurrence]:
        """What every program prints, if a line of this short input names Kafka, or a program around it."""
        if any(map(names_kafka, self._above)):
            return self._beside
        around = [each for each in self._beside if each.match.known.streaming]
        return around if around and any(map(names_streaming, self._above)) else []

    def _telling(self) -> list[_Occurrence]:
        """The lines of healthy programs that are the most informative, or advertise the client's own machine."""
        least = min((each.match.known.tells for each in self._explained.values()), default=Tells.WRAPPER + 1)
        named = {each.match.peer.endpoint for each in self._explained.values()}
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
                self._count(_Occurrence(self._pieces + each.number + 1, each.match, each.text, timestamp(each.text)))

    def _occurs(self, match: LineMatch, text: str, texts: list[str]) -> None:
        known = match.known
        if match.calm:
            if self._number <= LINES and (not known.borrowed or names_kafka(text)):
                self._calm.append(_Occurrence(self._pieces, match, text, timestamp(text)))
            return
        if not known.general:
            self._told = self._told or known.tells is not Tells.WRAPPER
        elif self._told and (known.borrowed or known.tells is Tells.WRAPPER):
            # The cause of an error that a kind has already explained.
            return
        # A line without a time has the time of the line above it.
        times = (time for each in (*texts, *reversed(self._above)) if (time := timestamp(each)))
        self._when = next(times, self._when)
        occurrence = _Occurrence(self._pieces, match, text, self._when)
        if known.borrowed:
            occurrence.above = tuple(self._above)
        if known.borrowed or self._waiting:
            self._waiting.append(occurrence)
        else:
            self._count(occurrence)

    def _continue(self, text: str) -> None:
        if not continues_stack(text) or len(self._waiting[0].below) >= _BELOW:
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
                self._count(each)
            elif self._number <= LINES and each.match.known.streaming:
                self._beside.append(each)
            elif kafkas is None and self._number <= LINES and not each.match.known.by_error:
                (self._beside if each.match.known.everyones else self._doubtful).append(each)

    def _count(self, it: _Occurrence) -> None:
        self._correct(it)
        near = it.number - self._counted <= _FRAMES
        if it.number != self._counted:
            self._recognised += 1
            self._counted = it.number
            self._keys.clear()
        peer = it.match.peer
        # Lines of one kind that mean different things are not one report.
        same = it.match.known.key, peer.role, peer.node, peer.endpoint
        last = self._last
        # The cause of an exception in one stack is the same report, though it is worded otherwise.
        of_stack = near and isinstance(last, tuple) and last[:-1] == same and it.text.startswith("Caused by")
        if self._goes_on(it):
            return
        key = last if of_stack else self._summed_up(it, same) or (*same, it.match.explanation.means)
        # The same error twice in one line, in a message and its stack, counts once.
        if key in self._keys:
            return
        self._keys.add(key)
        kept = key if key in self._explained or len(self._explained) < MOST else it.match.known.key
        explained = self._explained.setdefault(kept, ExplainedLine(it.match, it.text, it.when))
        if of_stack and explained.match.generally and not it.match.generally:
            # The cause further down says more than the exception above it.
            explained.match, explained.line = it.match, it.text
        if it.match.known.awaits_cause and explained.count == 0:
            explained.cause = exception_within(it.text, it.match.end)
        if it.match.known.awaits_cause and not any(each is explained for each in self._wrappers):
            explained.begin_event()
            self._wrappers.append(explained)
        if it.match.known.names_code and not explained.failing.sentences:
            explained.find_code(it.text, it.below, self._event)
        explained.count += 1
        explained.find_cause(it.text)
        explained.last_seen = it.when
        explained.settled = ""
        self._row = self._row + 1 if near and last == kept else 1
        self._last = kept
        if it.match.known.decides or it.match.known.tells is Tells.FAULT:
            self._settle(explained, it.match.known)
        self._stack.append(explained)
        self._event.append(explained)

    def _summed_up(self, it: _Occurrence, same: tuple[object, ...]) -> object:
        """The place in `_explained` of the last lines that this line sums up; None if there are none."""
        if not it.match.explanation.as_before:
            return None
        keys = (key for key in reversed(self._explained) if isinstance(key, tuple) and key[:-1] == same)
        return next(keys, None)

    def _goes_on(self, it: _Occurrence) -> bool:
        """Whether this line reports in other words what a line of the same event has already reported."""
        if it.number - self._counted > _FRAMES or timestamp(it.text):
            return False
        return any(self._repeats(it, each) for each in self._event)

    def _repeats(self, it: _Occurrence, first: ExplainedLine) -> bool:
        match, said = it.match, first.match
        if match.known.key != said.known.key or wording_of(it.text) == wording_of(first.line):
            return False
        unnamed = match.peer.endpoint is None and match.peer.node is None
        same = (match.peer.endpoint, match.peer.node) == (said.peer.endpoint, said.peer.node)
        # Only the first line of an event has a time; without times, lines may be events of their own.
        return (same or unnamed) and (self._event_has_time or match.explanation is said.explanation)

    def _settle(self, explained: ExplainedLine, fault: KnownLine) -> None:
        """A fault is the reason of a line that only says that something failed; some wrappers have more to say."""
        settles = (Tells.EFFECT, Tells.PLACE, Tells.WRAPPER) if fault.decides else (Tells.WRAPPER,)
        # Where lines have times, a record over several lines is one event.
        beside = [each for each in self._event if self._event_has_time and each.match.known.refers_beside]
        for lines in (self._stack, [each for each in beside if each not in self._stack]):
            for each in lines:
                known = each.match.known
                only_here = each.count == sum(other is each for other in lines)
                plain = fault.decides or each.match.explanation is known.explanations[-1]
                refers = known.refers_beside or (known.reason_is_elsewhere and known.tells >= Tells.EFFECT)
                # An error by its name says less than the line of a client.
                named = known.by_error and not fault.by_error and each in self._stack
                if each is not explained and (known.tells in settles or refers or named) and plain and only_here:
                    each.settled = fault.title

    def _settle_above(self, decided: ExplainedLine) -> None:
        """How a connection failed is the reason of all lines above in the stack that only refer to it."""
        for each in self._stack:
            if each is not decided and each.match.explanation.explain and each.count == 1:
                each.settled = decided.match.known.title

    def _correct(self, it: _Occurrence) -> None:
        if self._last is None:
            return
        last = self._explained[self._last]
        # An exception is named in the message and in its stack, and the frame is some lines below.
        reach, times = (_FRAMES, self._row) if it.text.startswith(_FRAME) else (1, 1)
        if last.match.known.key != it.match.known.corrects or not 0 <= it.number - self._counted <= reach:
            return
        last.count -= times
        if not last.count:
            del self._explained[self._last]
        self._last = None


def _matched(line: str) -> tuple[str, LineMatch | None]:
    """The line and its match: as it is, or without Markdown's marks in its middle."""
    match = match_line(line)
    if match is None and ("`" in line or "*" in line or " _" in line):
        plain = without_emphasis(line)
        if match := match_line(plain):
            return plain, match
    return line, match


def _told_below(it: _Occurrence) -> bool:
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
