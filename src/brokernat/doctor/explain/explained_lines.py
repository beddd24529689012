"""The explained lines of a log while it is read: which lines are one report, and which has the reason of others.

Lines that differ only in time, client or counter are one report: same kind, node, endpoint and meaning. The lines of
one stack, and those since the last line with a time (an event), belong together: the exception below a line that only
says that something failed is its cause, and a fault is the reason of what stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from brokernat.doctor.explain.explained import ExplainedLine, refer_to_own_kinds, without_repeated
from brokernat.doctor.explain.known_lines import KnownLine, Tells
from brokernat.doctor.explain.log_text import begins_with_level, timestamp, wording_of
from brokernat.doctor.explain.matching import LineMatch
from brokernat.doctor.explain.surroundings import exception_within, is_of_stack

MOST: Final = 500
"""The limit of distinct explained lines, many more than the endpoints of a cluster; above it the lines of one kind are
counted together."""
FRAMES: Final = 12
"""The most lines between an exception and the frame that shows what it is about."""
BELOW: Final = 80
"""The most lines of a stack that are kept."""

# The start of a frame, also in JSON.
_FRAME = ("at ", '"')


@dataclass(slots=True)
class Occurrence:
    """A line of a kind. `number` counts the lines; those around it are kept where they decide whether it counts."""

    number: int
    match: LineMatch
    text: str
    when: str | None
    above: tuple[str, ...] = ()
    below: list[str] = field(default_factory=list)


class ExplainedLines:
    """Iterates over its explained lines in the order of the log."""

    def __init__(self) -> None:
        self.recognised = 0
        """The number of lines that counted."""
        self._counted = -1
        self._explained: dict[object, ExplainedLine] = {}
        # The places in `_explained` of the lines that this line of the log counted for.
        self._keys: set[object] = set()
        # The wrappers of one stack, whose exception may follow.
        self._wrappers: list[ExplainedLine] = []
        # The place of the last line in `_explained`.
        self._last: object = None
        # How often that kind occurred in a row, in one stack.
        self._row = 0
        self._stack: list[ExplainedLine] = []
        self._event: list[ExplainedLine] = []
        self._event_has_time = False

    def __iter__(self) -> Iterator[ExplainedLine]:
        return iter(self._explained.values())

    def __bool__(self) -> bool:
        return bool(self._explained)

    def end_stack(self) -> None:
        """The next line belongs to no line above."""
        self._stack.clear()

    def begin_line(self, number: int, text: str) -> None:
        """A line with a time begins another event."""
        timed = timestamp(text) is not None
        if (timed or begins_with_level(text)) and not is_of_stack(text):
            self._wrappers.clear()
        if timed:
            self._event.clear()
            self._event_has_time = True
        elif not self._event_has_time and number - self._counted > 1:
            self._event.clear()

    def in_order(self) -> tuple[ExplainedLine, ...]:
        """Those that no other one explains better; the most informative first, then the most frequent."""
        for each in self:
            self._refer_to_its_cause(each)
        explained = without_repeated(sorted(self, key=lambda each: (each.match.known.tells, -each.count)))
        refer_to_own_kinds(explained)
        return explained

    def _refer_to_its_cause(self, wrapper: ExplainedLine) -> None:
        """A fault that is explained by itself, and is the cause of a wrapper, has the reason."""
        if wrapper.match.known.tells is Tells.WRAPPER and wrapper.count == 1:
            for each in self:
                if each.match.known.tells is Tells.FAULT and each.shows_cause_of(wrapper):
                    wrapper.refer_to(each.match.known)

    def decided_by(self, text: str) -> list[ExplainedLine]:
        """The lines of this stack about a server, if a line shows how the connection to it failed."""
        decided = [each for each in self._stack if each.find_cause(text)]
        for each in decided:
            self._settle_above(each)
        return decided

    def _settle_above(self, decided: ExplainedLine) -> None:
        """How a connection failed is the reason of all lines above in the stack that only refer to it."""
        for each in self._stack:
            if each is not decided and each.match.explanation.explain and each.count == 1:
                each.settle(decided.match.known.title, 1)

    def find_causes(self, text: str, exception: str, match: LineMatch | None, decided: list[ExplainedLine]) -> None:
        """The last exception below a line is its cause, unless it has a kind of its own."""
        known = match and match.known.tells is not Tells.WRAPPER and not match.known.borrowed
        by = decided[0].match.known if decided else match.known if known and match else None
        for each in self._wrappers:
            if not exception:
                if each.cause and len(each.frames) < BELOW:
                    each.frames.append(text)
                continue
            each.cause = "" if by else exception
            each.explained_by = by.title if by else ""
            each.frames.clear()
            refers = each.match.known.tells is Tells.WRAPPER and each.count == 1
            if known and match and refers and not (match.calm or match.known.general):
                each.refer_to(match.known)

    def count(self, it: Occurrence) -> None:
        """Count a line for its report."""
        self._correct(it)
        near = it.number - self._counted <= FRAMES
        if it.number != self._counted:
            self.recognised += 1
            self._counted = it.number
            self._keys.clear()
        peer = it.match.peer
        # Lines of one kind that mean different things are not one report.
        same = it.match.known.key, peer.role, peer.node, peer.endpoint
        last = self._last
        # The cause of an exception in one stack is the same report, though it is worded otherwise.
        of_stack = near and isinstance(last, tuple) and last[:-1] == same and it.text.startswith("Caused by")
        if reported := self._reported(it):
            self._settle_by(reported, it.match.known)
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
        self._row = self._row + 1 if near and last == kept else 1
        self._last = kept
        self._settle_by(explained, it.match.known)
        self._stack.append(explained)
        self._event.append(explained)

    def _summed_up(self, it: Occurrence, same: tuple[object, ...]) -> object:
        """The place in `_explained` of the last lines that this line sums up; None if there are none."""
        if not it.match.explanation.as_before:
            return None
        keys = (key for key in reversed(self._explained) if isinstance(key, tuple) and key[:-1] == same)
        return next(keys, None)

    def _reported(self, it: Occurrence) -> ExplainedLine | None:
        """The line of the same event that has already reported this in other words."""
        if it.number - self._counted > FRAMES or timestamp(it.text):
            return None
        return next((each for each in self._event if self._repeats(it, each)), None)

    def _repeats(self, it: Occurrence, first: ExplainedLine) -> bool:
        match, said = it.match, first.match
        if match.known.key != said.known.key or wording_of(it.text) == wording_of(first.line):
            return False
        unnamed = match.peer.endpoint is None and match.peer.node is None
        same = (match.peer.endpoint, match.peer.node) == (said.peer.endpoint, said.peer.node)
        # Only the first line of an event has a time; without times, lines may be events of their own.
        return (same or unnamed) and (self._event_has_time or match.explanation is said.explanation)

    def _settle_by(self, explained: ExplainedLine, fault: KnownLine) -> None:
        """A fault is the reason of a line that only says that something failed; some wrappers have more to say."""
        if not (fault.decides or fault.tells is Tells.FAULT):
            return
        settles = (Tells.EFFECT, Tells.PLACE, Tells.WRAPPER) if fault.decides else (Tells.WRAPPER,)
        # Where lines have times, a record over several lines is one event.
        beside = [each for each in self._event if self._event_has_time and each.match.known.refers_beside]
        for lines in (self._stack, [each for each in beside if each not in self._stack]):
            for each in lines:
                known = each.match.known
                plain = fault.decides or each.match.explanation is known.explanations[-1]
                refers = known.refers_beside or (known.reason_is_elsewhere and known.tells >= Tells.EFFECT)
                # An error by its name says less than the line of a client.
                named = known.by_error and not fault.by_error and each in self._stack
                if each is not explained and (known.tells in settles or refers or named) and plain:
                    each.settle(fault.title, sum(other is each for other in lines))

    def _correct(self, it: Occurrence) -> None:
        if self._last is None:
            return
        last = self._explained[self._last]
        # An exception is named in the message and in its stack, and the frame is some lines below.
        reach, times = (FRAMES, self._row) if it.text.startswith(_FRAME) else (1, 1)
        if last.match.known.key != it.match.known.corrects or not 0 <= it.number - self._counted <= reach:
            return
        last.count -= times
        if not last.count:
            del self._explained[self._last]
        self._last = None
