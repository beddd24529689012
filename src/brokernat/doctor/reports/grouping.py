"""Findings as people read them: by code, and what is said of several subjects in the same words is said once.

Two hundred brokers that share a fault are one paragraph. What follows from another finding names it, and needs no
remedy of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokernat.doctor.catalogue import catalogue
from brokernat.doctor.finding import Confidence, Remedy, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brokernat.doctor.finding import Finding


@dataclass(frozen=True, slots=True)
class Statement:
    """The same words about one subject or more."""

    subjects: tuple[str, ...]
    message: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeGroup:
    """All findings of a code and a severity. `follows` are the codes found that they follow from."""

    code: str
    title: str
    severity: Severity
    confidence: Confidence
    statements: tuple[Statement, ...]
    remedy: Remedy
    follows: tuple[str, ...]


def by_code(findings: Sequence[Finding]) -> tuple[CodeGroup, ...]:
    """The groups in the order of their first findings."""
    errors = {finding.code for finding in findings if finding.severity is Severity.ERROR}
    found: dict[tuple[str, Severity], list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.code, finding.severity), []).append(finding)
    return tuple(_group(code, severity, members, errors) for (code, severity), members in found.items())


def remedy_of(findings: Iterable[Finding]) -> Remedy:
    """What helps against all of them, each line once."""
    remedies = [finding.remedy for finding in findings]
    return Remedy(
        tuple(dict.fromkeys(line for each in remedies for line in each.client)),
        tuple(dict.fromkeys(line for each in remedies for line in each.broker)),
        tuple(dict.fromkeys(line for each in remedies for line in each.rules)),
    )


def _group(code: str, severity: Severity, findings: list[Finding], errors: set[str]) -> CodeGroup:
    said: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for finding in findings:
        said.setdefault((finding.message, finding.evidence), []).append(finding.subject)
    sure = all(finding.confidence is Confidence.PROVEN for finding in findings)
    return CodeGroup(
        code,
        catalogue()[code].title,
        severity,
        Confidence.PROVEN if sure else Confidence.LIKELY,
        tuple(Statement(tuple(subjects), message, seen) for (message, seen), subjects in said.items()),
        remedy_of(findings),
        tuple(sorted(errors.intersection(*(finding.because for finding in findings)))),
    )
