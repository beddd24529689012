"""Prints the recognised lines and codes as text and as JSON; computes nothing.

The text has the original line, its meaning, the checks that prove it, and the fix. A log is untrusted text;
`log.explain_log` and `text.folded` remove terminal control characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from brokernat.doctor.checks import Check, catalogue
from brokernat.doctor.explain.explained import ExplainedLine
from brokernat.doctor.explain.log import LogReport
from brokernat.doctor.explain.near_miss import UnknownLine
from brokernat.doctor.explain.peers import UNNAMED
from brokernat.text import folded

_LONGEST: Final = 400
# The values of a line that show where, and not what.
_PLACE: Final = frozenset({"endpoint", "host", "ip", "port", "node", "of_node"})


def codes_text(codes: Iterable[Check], width: int) -> str:
    """Title and paragraphs of each code, separated by blank lines."""
    return _blocks(_code(code, width) for code in codes)


def codes_json(codes: Iterable[Check]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "code": code.code,
            "title": code.title,
            "what": code.what,
            "why": code.why,
            "remedy": code.remedy,
            "needs": [need.name.lower() for need in code.needs],
        }
        for code in codes
    ]


def log_text(report: LogReport, width: int) -> str:
    """A block for each explanation, at the end the next commands; empty if nothing was recognised.

    Lines that differ only in the endpoint have one block. A line that only says that something failed has none if the
    fault below it is the reason, unless something remains to be done.
    """
    blocks = [_explained(each, width) for each in _by_explanation(report.shown)]
    commands = dict.fromkeys(f"  {each.run}" for each in report.explained if each.run)
    return _blocks([*blocks, ("run next", *commands)] if commands else blocks)


def unknown_text(report: LogReport, width: int) -> str:
    """A block for each line of no known kind that is similar to a known one."""
    return _blocks(_unknown(each, width) for each in report.unknown)


def log_json(report: LogReport) -> dict[str, Any]:
    """The same as JSON; None where the log names no node, endpoint or cause, and where no command helps."""
    return {
        "version": 1,
        "lines": report.lines,
        "recognised": report.recognised,
        "explanations": [_explained_json(each) for each in report.explained],
        "unknown": [{"line": each.line, "count": each.count, "like": each.like.key} for each in report.unknown],
    }


def _explained_json(explained: ExplainedLine) -> dict[str, Any]:
    match = explained.match
    return {
        "row": match.known.key,
        "client": match.known.client,
        "title": match.known.title,
        "tells": match.known.tells.name.lower(),
        "role": match.peer.role.value,
        "node": match.peer.node,
        "endpoint": match.peer.endpoint,
        "means": explained.means,
        "cause": explained.cause or None,
        "codes": list(explained.codes),
        "do": explained.do,
        "rule": match.rule,
        "run": explained.run or None,
        "count": explained.count,
        "first_seen": explained.first_seen,
        "last_seen": explained.last_seen,
        "line": _cut(explained.line, match.end),
    }


def _by_explanation(explained: Iterable[ExplainedLine]) -> list[list[ExplainedLine]]:
    groups: dict[object, list[ExplainedLine]] = {}
    for each in explained:
        peer = each.match.peer
        words = frozenset((name, text) for name, text in peer.words.items() if name not in _PLACE)
        alike = (
            each.match.known.key,
            id(each.match.explanation),
            peer.role,
            each.codes,
            words,
            each.cause,
            each.settled,
            each.decided,
        )
        # An address map is in force for some of them only.
        groups.setdefault((alike, peer.host_kind, peer.dialled), []).append(each)
    # Lines of several kinds may have the same explanation: a client logs one failure in several places.
    merged: dict[object, list[ExplainedLine]] = {}
    for group in groups.values():
        merged.setdefault((group[0].means, group[0].do, group[0].cause), []).extend(group)
    return list(merged.values())


def _explained(group: list[ExplainedLine], width: int) -> Iterator[str]:
    explained, *others = group
    match = explained.match
    yield from folded(f"{match.known.client}: {match.known.title}", width, "", "  ")
    # A line is not folded, because users search for it.
    yield f"  {_cut(explained.line, match.end)}"
    if explained.count > 1:
        span = f", {explained.first_seen} to {explained.last_seen}" if explained.first_seen else ""
        yield from _field("seen", f"{explained.count} times{span}", width)
    yield from _field("means", explained.means, width)
    if others:
        yield from _field("also", ", ".join(filter(None, map(_place, others))), width)
    if explained.cause and not explained.settled:
        yield from _field("cause", explained.cause, width)
    for code in explained.codes:
        yield from _field("check", f"{code} {catalogue()[code].title}", width)
    yield from _field("do", explained.do, width)
    for rule in filter(None, (each.match.rule for each in group)):
        yield f"  rule   {rule}"


def _place(explained: ExplainedLine) -> str:
    """The endpoint and node of a line whose explanation is that of another one, and how often it occurred."""
    peer = explained.match.peer
    place = peer.endpoint or ("" if peer.words["host"] == UNNAMED["host"] else peer.words["host"])
    if peer.node is not None:
        place = f"{place} (node {peer.node})" if place else f"node {peer.node}"
    return f"{place}, {explained.count} times" if place and explained.count > 1 else place


def _unknown(unknown: UnknownLine, width: int) -> Iterator[str]:
    yield "not a known line"
    yield f"  {_cut(unknown.line, 0)}"
    if unknown.count > 1:
        yield from _field("seen", f"{unknown.count} times", width)
    like = unknown.like
    text = f'What it means is not known. The known line that is most like it is "{like.title}" ({like.client}):'
    yield from _field("like", text, width)
    yield f"         {_cut(like.example, 0)}"


def _code(code: Check, width: int) -> Iterator[str]:
    yield from folded(f"{code.code}: {code.title}", width, "", "  ")
    for name, text in (("what", code.what), ("why", code.why), ("do", code.remedy)):
        yield from _field(name, text, width)
    for need in code.needs:
        yield from _field("skips", f"when {need.value}", width)


def _blocks(blocks: Iterable[Iterable[str]]) -> str:
    return "\n\n".join(map("\n".join, blocks))


def _field(name: str, text: str, width: int) -> list[str]:
    return folded(text, width, f"  {name:<6} ", " " * 9)


def _cut(line: str, end: int) -> str:
    """The line; if it is very long, the part before `end`, which may not be its start."""
    start = max(0, end - _LONGEST)
    cut = line[start : start + _LONGEST]
    return f"{'… ' if start else ''}{cut}{' …' if start + _LONGEST < len(line) else ''}"
