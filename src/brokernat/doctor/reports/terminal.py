"""The diagnosis as text: the root cause first, then the fix, the probe results, and the findings by code.

Plain text without colours, folded to the width; words are never cut, so endpoints and lines to copy stay whole. No
text, above all no remedy, is printed twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from brokernat.doctor.diagnosis import Diagnosis
from brokernat.doctor.diagnosis.model import State
from brokernat.doctor.finding import Severity
from brokernat.doctor.reports.summary import (
    CodeGroup,
    by_code,
    count,
    endpoints_by_listener,
    errors_and_warnings,
    named_and_counted,
    probe_results,
    remedies_of_causes,
    verdict,
    worst,
)
from brokernat.text import counted, folded

_SIGNS = {Severity.ERROR: "x", Severity.WARNING: "!", Severity.INFO: "i"}
_STATES = {State.OK: "ok", State.DOUBTFUL: "! ", State.BROKEN: "x "}
_CODES = 6
_SUBJECTS = 4
_STATEMENTS = 12


def terminal(diagnosis: Diagnosis, width: int = 80) -> str:
    """The whole report, without a line end."""
    sections = (
        ("", _head),
        ("", _causes),
        ("probe results\n", _probe_results),
        ("advertised endpoints by listener\n", _listeners),
        ("findings\n", _findings),
        ("suppressed\n", _suppressed),
        ("skipped\n", _skipped),
        ("", _closing),
    )
    written = ((heading, "\n".join(section(diagnosis, width))) for heading, section in sections)
    return "\n\n".join(f"{heading}{text}" for heading, text in written if text)


def _head(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    yield from folded(f"{diagnosis.evidence.cluster}: {verdict(diagnosis)}", width, "", "  ")


def _causes(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    """The root causes in one sentence each, then what to change, cause by cause."""
    several = len(diagnosis.causes) > 1
    for number, cause in enumerate(diagnosis.causes, 1):
        name = f"root cause {number} of {len(diagnosis.causes)}: " if several else "root cause: "
        yield from folded(f"{cause.sentence} [{cause.code}]", width, name, "  ")
    for cause, remedy in remedies_of_causes(diagnosis):
        sides = (
            ("on the client's side", remedy.client),
            ("rules for the client's address map", remedy.rules),
            ("on the brokers' side", remedy.broker),
        )
        for number, (side, lines) in enumerate((side, lines) for side, lines in sides if lines):
            if number:
                yield f"or {side}"
            else:
                yield from ("", f"{cause.code}, {side}" if several else side)
            for line in lines:
                yield from folded(line, width, "  ", "    ")


def _probe_results(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    for state, line in probe_results(diagnosis):
        yield from folded(line, width, f"  {_STATES[state]} ", " " * 7)


def _listeners(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    for depth, line in endpoints_by_listener(diagnosis):
        indent = "  " * (depth + 1)
        yield from folded(line, width, indent, f"{indent}    ")


def _findings(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    for group in by_code(diagnosis.findings, diagnosis.causes):
        yield from _group(group, width)
        rules = (f"rule {rule}" for rule in group.remedy.rules)
        for line in (*rules, *group.remedy.client, *group.remedy.broker):
            yield from folded(line, width, " " * 6 + "> ", " " * 8)


def _group(group: CodeGroup, width: int) -> Iterator[str]:
    sure = "" if group.confidence == "proven" else f", {group.confidence}"
    why = f" (follows from {', '.join(group.follows)})" if group.follows else ""
    title = f"{group.severity}{sure}: {group.title}{why}"
    yield from folded(title, width, f"  {_SIGNS[group.severity]} {group.code} ", " " * 10)
    for statement in group.statements[:_STATEMENTS]:
        named, others = named_and_counted(statement.subjects, _SUBJECTS)
        subjects = f"{', '.join(named)}{f' and {len(others)} more' if others else ''}"
        yield from folded(f"{subjects}: {statement.message}", width, " " * 6, " " * 8)
        for line in statement.evidence:
            yield from folded(line, width, " " * 8, " " * 10)
    if len(group.statements) > _STATEMENTS:
        yield f"      and {len(group.statements) - _STATEMENTS} more (all of them: --format json)"


def _suppressed(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    for code, members in groupby(diagnosis.suppressed, lambda finding: finding.code):
        subjects = ", ".join(finding.subject for finding in members)
        yield from folded(f"{code}: {subjects}", width, "  ", "    ")


def _skipped(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    for reason in dict.fromkeys(each.reason for each in diagnosis.skipped if not each.options):
        codes = sorted(each.code for each in diagnosis.skipped if each.reason == reason)
        named = ", ".join(codes) if len(codes) <= _CODES else f"{len(codes)} checks, {codes[0]} to {codes[-1]}"
        yield from folded(f"{named}: {reason}", width, "  ", "    ")
    if unasked := [each for each in diagnosis.skipped if each.options]:
        options = ", ".join(sorted({option for each in unasked for option in each.options}))
        yield from folded(f"not requested: {count(len(unasked), 'check')} ({options})", width, "  ", "    ")


def _closing(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    checks = f"{counted(len(diagnosis.passed), 'check')} passed, {len(diagnosis.skipped)} skipped"
    hidden = f", {count(len(diagnosis.suppressed), 'finding')} suppressed" if diagnosis.suppressed else ""
    yield from folded(f"{errors_and_warnings(diagnosis)}; {checks}{hidden}", width, "", "  ")
    if worst(diagnosis) is not None:
        code = (diagnosis.cause or diagnosis.findings[0]).code
        yield from folded(f"`brokernat explain {code}` explains it", width, "", "  ")
