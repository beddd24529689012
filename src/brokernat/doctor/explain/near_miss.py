"""Lines that are like known ones and of no known kind: another version's wording, or a fault that is not known yet.

What such a line means is not claimed; it is shown beside the kind that it is like. Likeness is the share of a known
line's words that a line has, where a word counts the more the fewer kinds have it; they have to be half of the line,
too. A line that shares the names of parts with a known one and tells of something else is like nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Final

from brokernat.doctor.explain.known_lines import KnownLine, known_lines
from brokernat.text import printable

MOST: Final = 10
"""Unknown lines that are told apart; more of them help nobody."""

_WORDINGS = 200
_LIKE, _LEAST_WORDS = 0.6, 3
# Of the line itself, so that a long line with some common words is like nothing.
_LIKE_IN_LINE, _UNKNOWN_WORD = 0.5, 3.0
_CALM = re.compile(r"\b(?:INFO|DEBUG|TRACE|info|debug|trace)\b")
_KAFKA = re.compile(r"(?i)kafka|sarama|franz|\bo\.a\.k\.|clientId=")
_WORD = re.compile(r"[A-Za-z][A-Za-z_]{2,}")
_VARIES = re.compile(r"[0-9a-f-]{20,}|\d+")


@dataclass(slots=True)
class UnknownLine:
    """`line` is the first one of its wording, `like` the kind that it is like."""

    line: str
    like: KnownLine
    count: int = 1


class UnknownLines:
    """Collects lines that report an error, are like known ones, and are of no known kind; in bounded memory."""

    def __init__(self) -> None:
        self._by_wording: dict[str, UnknownLine | None] = {}

    def read(self, line: str) -> None:
        """Look at a line of no known kind."""
        if not ("WARN" in line or "ERROR" in line or "FAIL" in line or "xception" in line or "rror" in line):
            return
        if _CALM.search(line) or not _KAFKA.search(line):
            return
        wording = _VARIES.sub("#", line)
        if wording in self._by_wording:
            unknown = self._by_wording[wording]
            if unknown:
                unknown.count += 1
        elif len(self._by_wording) < _WORDINGS:
            like = most_like(line)
            self._by_wording[wording] = UnknownLine(printable(line), like) if like else None

    def found(self) -> tuple[UnknownLine, ...]:
        """The first `MOST` of them, in the order of the log."""
        return tuple(unknown for unknown in self._by_wording.values() if unknown)[:MOST]


def most_like(line: str) -> KnownLine | None:
    """The kind whose lines a line is like; None where it is like none."""
    words, weights = _words(line), _weights()
    least = _LIKE_IN_LINE * sum(weights.get(word, _UNKNOWN_WORD) for word in words)
    likest, most = None, 0.0
    for known, own in _words_of_kinds():
        shared = own & words
        weight = sum(weights[word] for word in shared)
        likeness = weight / sum(weights[word] for word in own) if shared else 0.0
        enough = len(shared) >= _LEAST_WORDS and weight >= least
        if enough and likeness >= _LIKE and likeness * weight > most:
            likest, most = known, likeness * weight
    return likest


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


@cache
def _words_of_kinds() -> tuple[tuple[KnownLine, frozenset[str]], ...]:
    # Of the example what the pattern matches: what loggers put in front is in every line.
    matched = ((known, known.compiled.search(known.example)) for known in known_lines())
    return tuple((known, _words(match[0] if match else "")) for known, match in matched)


@cache
def _weights() -> dict[str, float]:
    kinds = Counter(word for _, words in _words_of_kinds() for word in words)
    return {word: math.log(1 + len(known_lines()) / count) for word, count in kinds.items()}
