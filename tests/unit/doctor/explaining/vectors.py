"""The captured lines of `tests/vectors/log_lines`: who wrote them, how that was provoked, which row they belong to."""

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "vectors" / "log_lines"


@dataclass(frozen=True)
class Vector:
    """`row` is the key in the table. `origin` is where the text was read, for the few lines that were not captured."""

    row: str
    client: str
    how: str
    line: str
    origin: str = ""


def vectors() -> list[Vector]:
    return [Vector(**each) for file in sorted(FOLDER.glob("*.json")) for each in json.loads(file.read_text("utf-8"))]


def healthy() -> list[str]:
    return [line for file in sorted((FOLDER / "healthy").iterdir()) for line in file.read_text("utf-8").splitlines()]
