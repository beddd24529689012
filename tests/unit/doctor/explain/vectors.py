"""The lines of `tests/vectors/log_lines`: captured ones with who wrote them, how that was provoked and the row they
belong to; and those that people pasted, with what stood around them and all rows they speak of.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from brokernat.doctor.explain.known_lines import KnownLine

FOLDER = Path(__file__).parents[3] / "vectors" / "log_lines"
_Entry = TypeVar("_Entry")


@dataclass(frozen=True)
class Vector:
    """`row` is the key in the table."""

    row: str
    client: str
    how: str
    line: str


@dataclass(frozen=True)
class Pasted:
    """Lines as they were found in public, names and addresses exchanged."""

    how: str
    rows: frozenset[str]
    lines: tuple[str, ...]


def vectors() -> list[Vector]:
    return [Vector(**each) for file in sorted(FOLDER.glob("*.json")) for each in json.loads(file.read_text("utf-8"))]


def healthy() -> list[str]:
    return [line for file in sorted((FOLDER / "healthy").iterdir()) for line in file.read_text("utf-8").splitlines()]


def pasted() -> list[Pasted]:
    return [each for file in sorted((FOLDER / "pasted").glob("*.txt")) for each in _blocks(file)]


def other_programs() -> list[Pasted]:
    """Lines of programs that are not Kafka clients; `how` has where they come from."""
    return _blocks(FOLDER / "other_programs.txt")


def _blocks(file: Path) -> list[Pasted]:
    found = []
    for block in file.read_text("utf-8").split("=== ")[1:]:
        head, *lines = block.split("\n")[:-1]
        rows, _, how = head.partition("| ")
        found.append(Pasted(how, frozenset(rows.replace(",", " ").split()), tuple(lines)))
    return found


def key_of(known: KnownLine) -> str:
    return known.key


def holds_for_each(entries: Iterable[_Entry], holds: Callable[[_Entry], None], name: Callable[[_Entry], str]) -> None:
    """One test for thousands of entries, because pytest takes longer for a test than for its line. It tells all
    entries that fail.
    """
    failed = {}
    for entry in entries:
        try:
            holds(entry)
        except AssertionError as error:
            failed[name(entry)] = str(error)
    assert failed == {}
