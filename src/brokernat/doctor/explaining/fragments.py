"""The rows that a line may belong to, asked for as cheaply as can be; pure.

Nine lines of ten belong to no row, and the table has hundreds of fragments. Those that share a few letters are asked
for together: a line without the letters has none of them. Which letters is computed, the most shared first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from brokernat.doctor.explaining.symptom import Symptom

_LETTERS = 5


class Fragments:
    """The fragments of some rows."""

    def __init__(self, symptoms: Iterable[Symptom]) -> None:
        """`symptoms`: the rows, whose fragments need not be distinct."""
        self._groups = tuple(_grouped([(fragment, each) for each in symptoms for fragment in each.holds]))

    def rows(self, line: str) -> Iterator[Symptom]:
        """Each row of which the line holds a fragment; once for each fragment."""
        for letters, members in self._groups:
            if letters in line:
                for fragment, symptom in members:
                    if fragment in line:
                        yield symptom


def _grouped(members: list[tuple[str, Symptom]]) -> Iterator[tuple[str, list[tuple[str, Symptom]]]]:
    while members:
        shared = Counter(letters for fragment, _ in members for letters in _parts(fragment))
        letters = max(shared, key=lambda each: (shared[each], each))
        yield letters, [member for member in members if letters in member[0]]
        members = [member for member in members if letters not in member[0]]


def _parts(fragment: str) -> set[str]:
    return {fragment[start : start + _LETTERS] for start in range(max(1, len(fragment) - _LETTERS + 1))}
