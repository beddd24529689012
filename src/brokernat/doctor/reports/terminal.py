"""The diagnosis for a person: the root cause first, then what to do, what was seen, and each finding.

Plain text that needs no colour, folded to the width; lines to copy are never folded. The same remedy for several nodes
is said once, above the findings.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from brokernat.doctor.finding import Severity
from brokernat.doctor.reports.executors import executor_line
from brokernat.doctor.reports.words import listener_line, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brokernat.doctor.evidence import Path
    from brokernat.doctor.finding import Finding
    from brokernat.doctor.runner import Diagnosis

_SIGNS = {Severity.ERROR: "x", Severity.WARNING: "!", Severity.INFO: "i"}


def terminal(diagnosis: Diagnosis, width: int = 80) -> str:
    """The whole report; no line end at its end."""
    return "\n".join(_lines(diagnosis, width))


def _lines(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    if diagnosis.cause is not None:
        yield from _folded(f"{diagnosis.cause.sentence} [{diagnosis.cause.code}]", width, "root cause: ", "  ")
        yield ""
        yield from _what_to_do([each for each in diagnosis.findings if each.code == diagnosis.cause.code], width)
    yield "seen"
    for look in diagnosis.evidence.bootstraps:
        yield from _folded(f"bootstrap {look.endpoint}: {told(look)}", width, "  ", "    ")
    for path in diagnosis.evidence.paths:
        yield from _folded(_path(path), width, "  ", "    ")
    if diagnosis.cause is not None and not all(each.entered for each in diagnosis.evidence.listeners):
        for listener in diagnosis.evidence.listeners:
            yield from _folded(listener_line(listener), width, "  ", "    ")
    for executor in diagnosis.evidence.executors:
        yield from _folded(executor_line(executor), width, "  ", "    ")
    yield ""
    if diagnosis.findings:
        yield "findings"
    for finding in diagnosis.findings:
        yield from _finding(finding, width)
    if diagnosis.findings:
        yield ""
    if diagnosis.skipped:
        yield "skipped"
        for reason in dict.fromkeys(each.reason for each in diagnosis.skipped):
            codes = ", ".join(sorted(each.code for each in diagnosis.skipped if each.reason == reason))
            yield from _folded(f"{codes}: {reason}", width, "  ", "    ")
        yield ""
    counted = [f"{_count(diagnosis, severity)} {severity}" for severity in Severity]
    yield f"{', '.join(counted)}; {len(diagnosis.passed)} checks passed, {len(diagnosis.skipped)} skipped"


def _what_to_do(findings: Iterable[Finding], width: int) -> Iterator[str]:
    found = list(findings)
    for side, lines in (
        ("rules for the client's address map", [line for each in found for line in each.remedy.rules]),
        ("on the client's side", [line for each in found for line in each.remedy.client]),
        ("or on the brokers' side", [line for each in found for line in each.remedy.broker]),
    ):
        if lines:
            yield side
            for line in dict.fromkeys(lines):
                yield from _folded(line, width, "  ", "    ")
            yield ""


def _finding(finding: Finding, width: int) -> Iterator[str]:
    sign = f"  {_SIGNS[finding.severity]} {finding.code} "
    sure = "" if finding.confidence == "proven" else f" ({finding.confidence})"
    yield from _folded(f"{finding.severity}: {finding.subject}: {finding.message}{sure}", width, sign, " " * 10)
    for line in finding.evidence:
        yield from _folded(line, width, " " * 10, " " * 12)


def _path(path: Path) -> str:
    start = f"node {path.broker.node_id} advertises {path.broker.endpoint}"
    if path.look is None:
        return f"{start}: not dialled"
    way = f", dialled at {path.look.endpoint}" if path.rule else ""
    return f"{start}{way}: {told(path.look)}"


def _count(diagnosis: Diagnosis, severity: Severity) -> int:
    return sum(finding.severity is severity for finding in diagnosis.findings)


def _folded(text: str, width: int, first: str, then: str) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=then, break_long_words=False, break_on_hyphens=False
    )
