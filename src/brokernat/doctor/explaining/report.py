"""What was recognised, for a person and for programs; nothing is computed here.

For a person: the line as it was written, then what it means, which checks would prove it, what to do. What a log holds
is text of strangers; `log.account` and `reports.folding` leave nothing of it that a terminal obeys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from brokernat.doctor.catalogue import Entry as Code
from brokernat.doctor.catalogue import catalogue
from brokernat.doctor.explaining.log import Account, Entry
from brokernat.doctor.reports.folding import folded

_LONGEST: Final = 400


def codes_text(codes: Iterable[Code], width: int) -> str:
    """Title and paragraphs of each code, a blank line between."""
    return "\n\n".join("\n".join(_code(code, width)) for code in codes)


def codes_json(codes: Iterable[Code]) -> list[dict[str, Any]]:
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


def account_text(account: Account, width: int) -> str:
    """An entry for each thing that the lines say, what to run next at the end."""
    blocks = ["\n".join(_entry(entry, width)) for entry in account.entries]
    commands = dict.fromkeys(entry.found.then for entry in account.entries)
    blocks.append("\n".join(("run next", *(f"  {command}" for command in commands))))
    return "\n\n".join(blocks)


def account_json(account: Account) -> dict[str, Any]:
    """The same for programs; `node` and `endpoint` are None where the line names none."""
    return {
        "version": 1,
        "lines": account.lines,
        "recognised": account.recognised,
        "explanations": [_entry_json(entry) for entry in account.entries],
    }


def _entry_json(entry: Entry) -> dict[str, Any]:
    found = entry.found
    return {
        "row": found.symptom.key,
        "client": found.symptom.family.value,
        "title": found.symptom.title,
        "tells": found.symptom.telling.name.lower(),
        "role": found.named.role.value,
        "node": found.named.node,
        "endpoint": found.named.endpoint,
        "means": found.means,
        "codes": list(found.codes),
        "do": found.do,
        "rule": found.rule,
        "run": found.then,
        "count": entry.count,
        "first_seen": entry.first_seen,
        "last_seen": entry.last_seen,
        "line": _shown(entry),
    }


def _entry(entry: Entry, width: int) -> Iterator[str]:
    found = entry.found
    yield from folded(f"{found.symptom.family.value}: {found.symptom.title}", width, "", "  ")
    # A line is not folded: people search for it.
    yield f"  {_shown(entry)}"
    if entry.count > 1:
        span = f", {entry.first_seen} to {entry.last_seen}" if entry.first_seen else ""
        yield from _field("seen", f"{entry.count} times{span}", width)
    yield from _field("means", found.means, width)
    known = catalogue()
    for code in found.codes:
        yield from _field("check", f"{code} {known[code].title}" if code in known else code, width)
    yield from _field("do", found.do, width)
    if found.rule:
        yield f"  rule   {found.rule}"


def _code(code: Code, width: int) -> Iterator[str]:
    yield from folded(f"{code.code}: {code.title}", width, "", "  ")
    for name, text in (("what", code.what), ("why", code.why), ("do", code.remedy)):
        yield from _field(name, text, width)
    for need in code.needs:
        yield from _field("skips", f"when {need.value}", width)


def _field(name: str, text: str, width: int) -> list[str]:
    return folded(text, width, f"  {name:<6} ", " " * 9)


def _shown(entry: Entry) -> str:
    """The line; of a very long one the part that says it, which need not be its head."""
    line, start = entry.line, max(0, entry.found.end - _LONGEST)
    cut = line[start : start + _LONGEST]
    return f"{'… ' if start else ''}{cut}{' …' if start + _LONGEST < len(line) else ''}"
