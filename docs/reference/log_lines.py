"""The page of log lines: each kind with a line as a client wrote it, and what is reported about it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from brokernat.doctor.explain.known_errors import known_errors
from brokernat.doctor.explain.known_lines import KnownLine, known_lines
from brokernat.doctor.explain.matching import match_line, match_step

_HEAD = """\
# Log lines

`brokernat explain` knows {count} kinds of lines. Each has an example as it was written, with who wrote it and what
provoked it. [The guide](../guides/explain.md) shows how to ask. A line of none of these kinds is searched for the
[{errors} errors](#errors-that-any-line-may-name) at the end of this page.
"""
_ERRORS = """
## Errors that any line may name

What clients, brokers, sockets and TLS report, by the errors of Kafka's protocol and of librdkafka, and by the texts of
programs. Each name stands for all its spellings: `UNKNOWN_MEMBER_ID` is `UnknownMemberIdException` in Java,
`[Error 25] UnknownMemberIdError` in Python, `Broker: Unknown member` in librdkafka. What every program says (network,
TLS, Kerberos) counts only beside what shows Kafka.
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD.format(count=len(known_lines()), errors=len(known_errors()))]
    for client, kinds in groupby(known_lines(), key=lambda known: known.client):
        parts.append(f"\n## {client}\n")
        parts += ["\n" + "\n".join(_kind(known)) + "\n" for known in kinds]
    parts.append(_ERRORS)
    for client, errors in groupby(known_errors(), key=lambda known: known.client):
        parts.append(f"\n### {client[0].upper()}{client[1:]}\n")
        parts += ["\n" + "\n".join(_error(known)) + "\n" for known in errors]
    return "".join(parts)


def _error(known: KnownLine) -> Iterator[str]:
    (explanation,) = known.explanations
    yield f"#### {known.title[0].upper()}{known.title[1:]}\n"
    yield f"`{known.key}`: {known.wordings}.\n"
    yield f"{explanation.sentences} To do: {explanation.steps}. Proved by: {_codes(explanation.codes)}."


def _codes(codes: tuple[str, ...]) -> str:
    return ", ".join(f"[{code}](codes/{code}.md)" for code in codes) or "no check"


def _kind(known: KnownLine) -> Iterator[str]:
    match = match_line(known.example) or match_step(known.example)
    if match is None or match.known is not known:
        raise ValueError(f"the example of {known.key} is of another kind")
    yield f"### {known.title[0].upper()}{known.title[1:]}\n"
    yield f"```text\n{known.example}\n```\n"
    wordings = f" Wordings: {known.wordings}." if known.wordings else ""
    yield f"`{known.key}`, {known.seen}.{wordings}\n"
    yield f"{match.means} To do: {match.do}. Proved by: {_codes(match.codes)}."
