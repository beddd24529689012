"""The reference page of log lines, as Markdown: each row with a line that a client really wrote, and what is said about
it; pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from brokernat.doctor.explaining.recognising import recognise
from brokernat.doctor.explaining.symptom import Family, Symptom
from brokernat.doctor.explaining.table import SYMPTOMS

_HEAD = """\
# Log lines

What `brokernat explain` knows: {count} kinds of lines. Each example was written by the client that stands below it
and provoked as it says there. [The guide](../guides/explain.md) shows how to ask.
"""


@dataclass(frozen=True, slots=True)
class Example:
    """A line, the client and version that wrote it, and what provoked it."""

    client: str
    how: str
    line: str


def log_lines_page(examples: Mapping[str, Example]) -> str:
    """The page; an example for each row, by the row's key."""
    parts = [_HEAD.format(count=len(SYMPTOMS))]
    for family in Family:
        parts.append(f"\n## {family.value}\n")
        rows = (_row(symptom, examples[symptom.key]) for symptom in SYMPTOMS if symptom.family is family)
        parts += ["\n" + "\n".join(row) + "\n" for row in rows]
    return "".join(parts)


def _row(symptom: Symptom, example: Example) -> Iterator[str]:
    found = recognise(example.line)
    if found is None or found.symptom is not symptom:
        raise ValueError(f"the example of {symptom.key} belongs to another row")
    yield f"### {symptom.title[0].upper()}{symptom.title[1:]}\n"
    yield f"```text\n{example.line}\n```\n"
    wordings = f" Wordings: {symptom.wordings}." if symptom.wordings else ""
    yield f"Row `{symptom.key}`, {example.client}: {example.how}.{wordings}\n"
    codes = ", ".join(f"[{code}](codes/{code}.md)" for code in found.codes) or "no check"
    yield f"{found.means} To do: {found.do}. Proved by: {codes}."
