"""Findings as people read them: by code, and what is said of several subjects in the same words is said once.

Two hundred brokers that share a fault are one paragraph. The root cause's remedy leads the report, so it is not said
again; what follows from another finding names it, and needs no remedy of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brokernat.doctor.checks import catalogue
from brokernat.doctor.diagnosis import Cause
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy, Severity


@dataclass(frozen=True, slots=True)
class Statement:
    """The same words about one subject or more."""

    subjects: tuple[str, ...]
    message: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeGroup:
    """All findings of a code and a severity.

    `remedy` is what has not been said before. `follows` are the codes found that they follow from.
    """

    code: str
    title: str
    severity: Severity
    confidence: Confidence
    statements: tuple[Statement, ...]
    remedy: Remedy
    follows: tuple[str, ...]


def by_code(findings: Sequence[CheckFinding], causes: Sequence[Cause] = ()) -> tuple[CodeGroup, ...]:
    """The groups in the order of their first findings; what `causes` say above is not repeated."""
    found: dict[tuple[str, Severity], list[CheckFinding]] = {}
    for finding in findings:
        found.setdefault((finding.code, finding.severity), []).append(finding)
    roots = {cause.code for cause in causes}
    said = remedy_of(finding for finding in findings if finding.code in roots and not finding.because)
    groups = []
    for members in found.values():
        group = _group(members, said)
        said = said.and_also([group.remedy])
        groups.append(group)
    return tuple(groups)


def remedy_of(findings: Iterable[CheckFinding]) -> Remedy:
    """What helps against all of them, each line once."""
    return Remedy().and_also(finding.remedy for finding in findings)


def _group(findings: list[CheckFinding], said: Remedy) -> CodeGroup:
    statements: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for finding in findings:
        # Nothing is wrong with an info, so nobody needs the proof of it; the JSON has it.
        seen = () if finding.severity is Severity.INFO else finding.details
        statements.setdefault((finding.message, seen), []).append(finding.subject)
    sure = all(finding.confidence is Confidence.PROVEN for finding in findings)
    follows = tuple(sorted(set(findings[0].because).intersection(*(finding.because for finding in findings))))
    return CodeGroup(
        findings[0].code,
        catalogue()[findings[0].code].title,
        findings[0].severity,
        Confidence.PROVEN if sure else Confidence.LIKELY,
        tuple(Statement(tuple(subjects), message, seen) for (message, seen), subjects in statements.items()),
        Remedy() if follows else remedy_of(findings).without(said),
        follows,
    )
