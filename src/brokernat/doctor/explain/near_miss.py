"""Lines of no known kind that are similar to known ones: another version's wording, or an unknown fault.

The report shows such a line beside the similar kind and claims no meaning. Similarity is the share of a known line's
words that the line has; rare words count more, and the shared words must be half of the line, too. A line that shares
only names of components with a known one is not similar.
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
"""The limit of distinct unknown lines in a report."""

_WORDINGS = 200
_LIKE, _LEAST_WORDS = 0.6, 3
# The share of the line itself, so that a long line with some common words is not similar.
_LIKE_IN_LINE, _UNKNOWN_WORD = 0.5, 3.0
_CALM = re.compile(r"\b(?:INFO|DEBUG|TRACE|info|debug|trace)\b")
_KAFKA = re.compile(r"(?i)kafka|sarama|franz|\bo\.a\.k\.|clientId=")
_WORD = re.compile(r"[A-Za-z][A-Za-z_]{2,}")
_VARIES = re.compile(r"[0-9a-f-]{20,}|\d+")


@dataclass(slots=True)
class UnknownLine:
    """`line` is the first one of its wording, `like` the similar kind."""

    line: str
    like: KnownLine
    count: int = 0


class UnknownLines:
    """Collects lines of no known kind that report an error and are similar to known ones; in bounded memory."""

    def __init__(self) -> None:
        self._by_wording: dict[str, UnknownLine | None] = {}

    def read(self, line: str) -> None:
        if not ("WARN" in line or "ERROR" in line or "FAIL" in line or "xception" in line or "rror" in line):
            return
        if _CALM.search(line) or not _KAFKA.search(line):
            return
        wording = _VARIES.sub("#", line)
        if wording not in self._by_wording and len(self._by_wording) < _WORDINGS:
            like = most_like(line)
            self._by_wording[wording] = UnknownLine(printable(line), like) if like else None
        if unknown := self._by_wording.get(wording):
            unknown.count += 1

    def found(self) -> tuple[UnknownLine, ...]:
        """The first `MOST` of them, in the order of the log."""
        return tuple(unknown for unknown in self._by_wording.values() if unknown)[:MOST]


def most_like(line: str) -> KnownLine | None:
    """The kind with the most similar lines; None if no kind is similar."""
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
    # Only the part of the example that the pattern matches: every line has a logger's prefix.
    matched = ((known, known.compiled.search(known.example)) for known in known_lines())
    return tuple((known, _words(match[0] if match else "")) for known, match in matched)


@cache
def _weights() -> dict[str, float]:
    kinds = Counter(word for _, words in _words_of_kinds() for word in words)
    return {word: math.log(1 + len(known_lines()) / count) for word, count in kinds.items()}
