"""An explained line of a log: what the lines of its kind, and the stack below them, say together.

A line may only say that something failed (`Tells.WRAPPER`). The exception in it or below it is then shown, whether or
not it is known; for a frame of a stack (the last resort) the error above it. `shown_lines` decides which of several
lines about one failure a report shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from brokernat.doctor.explain.known_lines import (
    Cause,
    KnownLine,
    Reason,
    Tells,
    cause_in,
    reason_of,
)
from brokernat.doctor.explain.log_text import wording_of
from brokernat.doctor.explain.matching import LineMatch
from brokernat.doctor.explain.surroundings import FailingCode, failing_code

_BROKER: Final = "Kafka broker"
_BELOW: Final = "The line below it contains the reason: {}."


@dataclass(slots=True)
class ExplainedLine:
    """`line` is the first line of this kind. The times are as in the log, None if it has none.

    `cause` is the exception in or below a line that only says that something failed, unless it is explained itself;
    `frames` are the first lines below that exception. `explained_by` is the title of the kind that explains it.
    `earlier` has both for the events before; `mixed`: they differ, so the exception is not the reason of all lines.
    `settled_by` is the title of the line below it in its stack, if that line contains the whole reason, and
    `settled_times` for how many of its lines. `failing` is the code that failed.
    `failures` are the causes that the lines of this kind or their stacks show, with the number of lines.
    """

    match: LineMatch
    line: str
    first_seen: str | None
    last_seen: str | None = None
    count: int = 0
    cause: str = ""
    frames: list[str] = field(default_factory=list)
    explained_by: str = ""
    earlier: tuple[str, str] | None = None
    mixed: bool = False
    settled_by: str = ""
    settled_times: int = 0
    failing: FailingCode = field(default_factory=FailingCode)
    failures: Counter[Cause] = field(default_factory=Counter)

    def find_cause(self, text: str) -> bool:
        """Whether the line, or a line of its stack, shows how the connection to the kind's server failed."""
        cause = cause_in(text) if self.match.known.system else None
        if cause and self.failures.total() < self.count:
            self.failures[cause] += 1
        return cause is not None and cause == self.decided

    @property
    def _system(self) -> str:
        return self.match.known.system.format_map(self.match.peer.words)

    @property
    def _found(self) -> tuple[str, str]:
        return wording_of(self.cause), self.explained_by

    @property
    def _is_of_all(self) -> bool:
        """Whether the exception, or the kind that explains it, is that of all events."""
        return not self.mixed and self.earlier in (None, self._found)

    def shows_cause_of(self, other: ExplainedLine) -> bool:
        """Whether this is another line, and has the exception of that one."""
        return other is not self and bool(other.cause) and other.cause.strip() in self.line

    def begin_event(self) -> None:
        """Another event has its own exception."""
        if self.count:
            self.mixed = not self._is_of_all
            self.earlier = self._found
            self.explained_by = ""

    @property
    def reason(self) -> Reason | None:
        """What kind of failure the exception is that the explanation refers to."""
        refers = self.cause and not self.settled and self._is_of_all and self.match.explanation.explain
        return reason_of(self.cause) if refers and self.match.known.awaits_cause else None

    @property
    def refers_to(self) -> str:
        """The title of the line that explains the exception to which the explanation refers."""
        refers = self.match.known.awaits_cause and self.match.explanation.explain
        return self.explained_by if refers and not self.settled and not self.cause and self._is_of_all else ""

    @property
    def decided(self) -> Cause | None:
        """How the connections failed, if all lines show the same cause."""
        return next(iter(self.failures)) if [*self.failures.values()] == [self.count] else None

    @property
    def settled(self) -> str:
        """The title of the line that contains the whole reason of all these lines: other guesses do not count then."""
        return self.settled_by if self.settled_times >= self.count else ""

    def settle(self, title: str, times: int) -> None:
        """Another line contains the whole reason of the last `times` of these lines."""
        before = self.count - times
        if before <= self.settled_times and (not before or title == self.settled_by):
            self.settled_by, self.settled_times = title, self.count

    def refer_to(self, known: KnownLine) -> None:
        """Another line contains the reason; a wrapper that found one itself has more to say."""
        if self.match.explanation is self.match.known.explanations[-1] and not self.settled:
            self.settle(known.title, self.count)

    def find_code(self, exception: str, below: Iterable[str], beside: Iterable[ExplainedLine]) -> None:
        """Find the code that failed in the stack below an exception; `beside` are the other lines of the same event."""
        found = failing_code(exception, below)
        of_broker = found.of_broker or any(each.match.known.client == _BROKER for each in beside)
        self.failing = replace(found, of_broker=of_broker)

    @property
    def means(self) -> str:
        """The meaning, in sentences."""
        if self.settled:
            return _BELOW.format(self.settled)
        if cause := self.decided:
            return cause.means.format(system=self._system)
        if reason := self.reason:
            code = self.failing if self.failing.sentences else failing_code(self.cause, self.frames)
            return " ".join(filter(None, (self.match.means_itself, reason.means, code.sentences)))
        if self.refers_to:
            return f"{self.match.means_itself} {_BELOW.format(self.refers_to)}".strip()
        if self.failing.sentences and self.match.known.by_error:
            # Where a frame shows the code, the general reasons say nothing more.
            return self.failing.sentences + ("" if self.failing.of_broker else " No broker reported this.")
        return f"{self.match.means} {self.failing.sentences}".strip()

    @property
    def do(self) -> str:
        """The fix."""
        known, below = self.match.known, "do what the explanation of that line says"
        if self.settled:
            return f"{below}; {known.remains}" if known.remains else below
        if cause := self.decided:
            return cause.do.format(system=self._system, setting=known.setting)
        if not (self.reason or self.refers_to):
            return self.match.do
        return "; ".join(filter(None, (self.reason.do if self.reason else below, self.match.do_itself)))

    @property
    def codes(self) -> tuple[str, ...]:
        """The checks that prove it."""
        cause, codes = self.decided, self.match.codes
        if cause:
            codes = tuple(code for code in codes if code in cause.codes)
        return () if self.settled else codes

    @property
    def run(self) -> str:
        """The command to run next; empty if none helps."""
        return "" if self.settled or (self.decided and not self.codes) else self.match.run


def without_repeated(explained: list[ExplainedLine]) -> tuple[ExplainedLine, ...]:
    """Without the lines that another one explains better."""
    if any(each.match.known.tells is not Tells.WRAPPER for each in explained):
        # If other lines give reasons, a line that only reports a problem in a part of Kafka is left out.
        explained = [each for each in explained if not only_places(each)]
    named = {(each.match.known.key, each.match.peer.endpoint) for each in explained}
    explained = [
        each
        for each in explained
        if not any((first, each.match.peer.endpoint) in named for first in each.match.known.follows)
    ]
    # The cause of a wrapper is shown with it; its own guesses say nothing more where a line gives a reason.
    causes = {each.cause: each for each in explained if each.cause}
    has_reason = any(each.match.known.tells in (Tells.FAULT, Tells.PLACE) for each in explained)

    def is_cause(line: ExplainedLine) -> bool:
        return any(line.line.endswith(cause) and line is not of for cause, of in causes.items())

    return tuple(each for each in explained if not (is_cause(each) and _is_guess(each, has_reason)))


def refer_to_own_kinds(explained: Iterable[ExplainedLine]) -> None:
    """A wrapper whose exception has a kind of its own refers to that line, not to what its class may mean."""
    lines = [*explained]
    for each in lines:
        if each.reason is None or only_places(each):
            continue
        for other in lines:
            known = other.match.known
            own = not (known.by_error or known.fallback or known.borrowed)
            if own and other.shows_cause_of(each):
                each.cause, each.explained_by = "", known.title
                break


def shown_lines(explained: Sequence[ExplainedLine]) -> list[ExplainedLine]:
    """The lines without those whose whole reason is another line, or the exception that another line shows.

    Two may each refer to the other: the first one is shown.
    """
    shown = [each for each in explained if not _is_left_out(each, [other for other in explained if other is not each])]
    return shown or list(explained[:1])


def _is_left_out(explained: ExplainedLine, others: Sequence[ExplainedLine]) -> bool:
    known, special = explained.match.known, bool(explained.match.explanation.conditions)
    wrapper = known.tells is Tells.WRAPPER
    if explained.settled:
        return (wrapper or known.reason_is_elsewhere or known.by_error) and not known.remains
    if explained.refers_to:
        return not (explained.codes or special or known.remains)
    if any(_shows_code_of(each, explained) or (wrapper and _says_more(each, explained)) for each in others):
        return True
    if not wrapper or known.remains:
        return False
    if explained.cause:
        return any(each.shows_cause_of(explained) and not only_places(each) for each in others)
    # What every program prints says nothing beside a line of a program with Kafka.
    return known.borrowed and any(not each.match.known.borrowed for each in others)


def _shows_code_of(explained: ExplainedLine, exception: ExplainedLine) -> bool:
    """Whether the line shows an exception as its reason, with the code that failed, each time it occurs."""
    plain = only_places(exception) or (exception.match.known.by_error and exception.match.known.names_code)
    shows = explained.reason is not None and exception.shows_cause_of(explained)
    return plain and shows and explained.count >= exception.count


def _says_more(explained: ExplainedLine, other: ExplainedLine) -> bool:
    """Whether both lines show the same exception, and this one says more of it."""
    special, other_special = (bool(each.match.explanation.conditions) for each in (explained, other))
    same = bool(explained.cause) and explained.cause == other.cause
    return same and not other_special and (special or (only_places(other) and not only_places(explained)))


def _is_guess(explained: ExplainedLine, has_reason: bool) -> bool:
    known = explained.match.known
    wrapper = known.tells is Tells.WRAPPER and not explained.cause
    return (has_reason and wrapper) or (known.borrowed and only_places(explained))


def only_places(explained: ExplainedLine) -> bool:
    """Whether the line only reports a problem in a part of Kafka or in a program."""
    known = explained.match.known
    return (known.by_error or known.fallback) and known.tells is Tells.WRAPPER
