"""Finds the meaning of one line; pure.

At most one kind matches a client's line. If a program adds its own text (`Query … terminated with exception:`), the
more informative kind counts.

Nine of ten lines match nothing, and there are hundreds of texts. Texts that share a few letters are searched together:
a line without these letters contains none of them. The letters are computed, the most shared first. Lines that differ
only in digits are searched once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from heapq import heapify, heappop, heappush

from brokernat.doctor.explain.known_errors import error_in, is_frame
from brokernat.doctor.explain.known_lines import Explanation, HostHint, KnownLine, Role, Tells, host_hints, known_lines
from brokernat.doctor.explain.log_text import LONG, cached_by_wording, wording_of
from brokernat.doctor.explain.peers import UNNAMED, Peer, Words, peer_of
from brokernat.doctor.host_kinds import address

_LETTERS = 5
# Texts share letters in their first characters; later ones would only take time to count.
_BEGINNING = 32
# A line of this level is calm, unless it names a fault: the client handles it itself.
_CALM = re.compile(r"\b(?:INFO|DEBUG|TRACE)\b")
_HEAD = 100
_OURS, _US = "[brokernat] ", "brokernat"
# Loggers that write JSON may have the level at the end.
_CALM_JSON = re.compile(r'"(?:level|level_name|levelname|severity|log\.level)": ?"(?i:info|debug|trace)"')
# The checks for endpoints without a rule.
_WITHOUT_MAP = frozenset({"BN301", "BN302"})


@dataclass(frozen=True, slots=True)
class LineMatch:
    """A kind of lines, and the values in this line. `end` is the position after the match.

    `calm`: a healthy program may have printed the line.
    """

    known: KnownLine
    peer: Peer
    end: int
    calm: bool = False

    @property
    def means(self) -> str:
        """The meaning, in sentences with the line's node and endpoint."""
        return self._hinted(self.explanation.sentences)

    @property
    def means_itself(self) -> str:
        """The same, without where the reason is."""
        return self._hinted(self.explanation.means)

    def _hinted(self, text: str) -> str:
        means = self._filled(text, UNNAMED["endpoint"])
        if self.peer.dialled:
            return f"{means} It was dialled at {self.peer.dialled}, so an address map is in force."
        hint = self._host_hint
        return f"{means} {hint.means.format_map(self.peer.words)}" if hint else means

    @property
    def do(self) -> str:
        """The fix."""
        return self._filled(self.explanation.steps, "its address")

    @property
    def do_itself(self) -> str:
        """The same, if the reason is known."""
        return self._filled(self.explanation.do, "its address")

    @property
    def codes(self) -> tuple[str, ...]:
        """The checks that prove it, the most likely first."""
        codes = self.explanation.codes
        if self.peer.dialled:
            return tuple(code for code in codes if code not in _WITHOUT_MAP) or codes
        hint = self._host_hint
        return tuple(dict.fromkeys((*codes, hint.code))) if hint else codes

    @property
    def rule(self) -> str | None:
        """The rule of an address map to fill in; None if the line names no advertised endpoint, or hides it."""
        named = self.peer.endpoint and not self.peer.is_masked
        return f"{self.peer.endpoint} = HOST:PORT" if self._lacks_rule and named else None

    @property
    def run(self) -> str:
        """The command to run next; empty if none helps."""
        return self.explanation.run.format_map(self.peer.words)

    @property
    def advertises_itself(self) -> bool:
        """Whether a broker advertises the machine of whoever dials it: `localhost`."""
        return self.peer.role is Role.ADVERTISED and self.peer.host_kind == "loopback"

    @property
    def explanation(self) -> Explanation:
        """The explanation of the kind that holds for this line."""
        *conditional, general = self.known.explanations
        if not conditional:
            return general
        facts = {**self.peer.words, "role": self.peer.role, "host_kind": self.peer.host_kind}
        for each in conditional:
            if all(re.fullmatch(pattern, facts.get(name, "")) for name, pattern in each.conditions.items()):
                return each
        return general

    @property
    def generally(self) -> bool:
        """Whether the line shows none of the special reasons of its kind."""
        return self.explanation is self.known.explanations[-1]

    def _filled(self, text: str, unnamed: str) -> str:
        """A sentence with the line's values; `unnamed` takes the place of an endpoint that the line does not name."""
        words = self.peer.words
        if words["endpoint"] != UNNAMED["endpoint"]:
            return text.format_map(words)
        if self.peer.role is Role.BOOTSTRAP:
            unnamed = "the configured address"
        text = text.replace(" ({endpoint})", "").replace("`{endpoint}`", "{endpoint}")
        capital = text.startswith("{endpoint}")
        filled = text.format_map(Words({**words, "endpoint": unnamed}))
        return filled[:1].upper() + filled[1:] if capital else filled

    @property
    def _lacks_rule(self) -> bool:
        advertised = self.peer.role in (Role.ADVERTISED, Role.COORDINATOR)
        return advertised and not self.peer.dialled and not _WITHOUT_MAP.isdisjoint(self.explanation.codes[:2])

    @property
    def _host_hint(self) -> HostHint | None:
        # Only for endpoints from metadata: the user chose the bootstrap server.
        kind = self.peer.host_kind if self._lacks_rule else ""
        if kind == "inside" and address(self.peer.words.get("ip", "").strip("[]")) is not None:
            # The line shows the address that the name has here.
            return None
        return next((hint for hint in host_hints() if hint.kind == kind), None)


def match_line(line: str, *, alone: bool = False) -> LineMatch | None:
    """The kind of a line, otherwise the error that it names; None if there is neither.

    `alone`: without the kinds that mean something only below another line.
    """
    kind = _kind_of(line, alone=alone)
    if line.startswith(_OURS):
        return kind if kind and kind.known.client == _US else None
    if kind and kind.known.tells is not Tells.WRAPPER:
        return kind
    error = error_in(line)
    if error is None:
        return kind or (None if is_calm(line) or is_frame(line) else _kind_of(line, fallback=True, alone=alone))
    known, match = error
    fault = known.tells is Tells.FAULT
    if kind and fault and kind.explanation.explain:
        # The line itself has the exception that it refers to.
        return LineMatch(replace(known, borrowed=False), peer_of(match, known.role), match.end())
    if kind and not kind.calm and (known.borrowed or not fault):
        return kind
    calm = not fault and is_calm(line)
    if calm and known.tells is Tells.WRAPPER:
        return kind
    return LineMatch(known, peer_of(match, known.role), match.end(), calm)


def is_calm(line: str) -> bool:
    """Whether the line's level is INFO or lower."""
    return bool(_CALM.search(line, 0, _HEAD) or _CALM_JSON.search(line))


def match_step(line: str) -> LineMatch | None:
    """The fallback kind of a line without a kind or an error: a step of a program's ordinary work."""
    steps = (known for known in known_lines() if known.fallback and known.calm)
    return _first_of((known for known in steps if any(text in line for text in known.holds)), line)


def _kind_of(line: str, *, fallback: bool = False, alone: bool = False) -> LineMatch | None:
    kinds = _kinds_in(line)
    suited = (known for known in kinds if known.fallback is fallback and not (alone and known.under))
    return _first_of(suited, line) if kinds else None


def _first_of(kinds: Iterable[KnownLine], line: str) -> LineMatch | None:
    long = len(line) > LONG
    for known in kinds:
        for start, part in _around(known, line) if long else ((0, line),):
            match = known.compiled.search(part)
            if match:
                return LineMatch(known, peer_of(match, known.role), start + match.end(), known.calm)
    return None


def _around(known: KnownLine, line: str) -> Iterator[tuple[int, str]]:
    """The parts of a long line around a kind's texts: no pattern searches more than `2 * LONG` characters."""
    for text in known.holds:
        at = line.find(text)
        while at >= 0:
            start = max(0, at - LONG)
            yield start, line[start : at + LONG]
            at = line.find(text, at + LONG)


@cached_by_wording
def _kinds_in(wording: str) -> tuple[KnownLine, ...]:
    """The kinds with a text in the line's wording; more informative ones first, then in the order of the tables."""
    groups, kinds = _groups(), known_lines()
    held = {
        place for letters in filter(wording.__contains__, groups) for text, place in groups[letters] if text in wording
    }
    return tuple(sorted((kinds[place] for place in sorted(held)), key=lambda known: known.tells))


@cache
def _groups() -> dict[str, tuple[tuple[str, int], ...]]:
    """The wordings of all kinds' texts with the kinds' indexes, grouped by shared letters."""
    groups = {}
    members = [(wording_of(text), place) for place, known in enumerate(known_lines()) for text in known.holds]
    sharing: dict[str, set[int]] = defaultdict(set)
    for number, (text, _) in enumerate(members):
        for start in range(max(1, min(len(text), _BEGINNING) - _LETTERS + 1)):
            sharing[text[start : start + _LETTERS]].add(number)
    heap = [(-len(numbers), letters) for letters, numbers in sharing.items()]
    heapify(heap)
    left = set(range(len(members)))
    while left:
        count, letters = heappop(heap)
        numbers = sharing[letters] & left
        if len(numbers) == -count:
            groups[letters] = tuple(members[number] for number in sorted(numbers))
            left -= numbers
        elif numbers:
            # Another group took some of them.
            heappush(heap, (-len(numbers), letters))
    return groups
