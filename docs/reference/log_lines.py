"""The page of log lines: each kind with a line as a client wrote it, and what is reported about it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from brokernat.doctor.explain.known_lines import KnownLine, known_lines
from brokernat.doctor.explain.matching import match_line

_HEAD = """\
# Log lines

`brokernat explain` knows {count} kinds of lines. Each has an example as it was written, with who wrote it and what
provoked it. [The guide](../guides/explain.md) shows how to ask.
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD.format(count=len(known_lines()))]
    for client, kinds in groupby(known_lines(), key=lambda known: known.client):
        parts.append(f"\n## {client}\n")
        parts += ["\n" + "\n".join(_kind(known)) + "\n" for known in kinds]
    return "".join(parts)


def _kind(known: KnownLine) -> Iterator[str]:
    match = match_line(known.example)
    if match is None or match.known is not known:
        raise ValueError(f"the example of {known.key} is of another kind")
    yield f"### {known.title[0].upper()}{known.title[1:]}\n"
    yield f"```text\n{known.example}\n```\n"
    wordings = f" Wordings: {known.wordings}." if known.wordings else ""
    yield f"`{known.key}`, {known.seen}.{wordings}\n"
    codes = ", ".join(f"[{code}](codes/{code}.md)" for code in match.codes) or "no check"
    yield f"{match.means} To do: {match.do}. Proved by: {codes}."
