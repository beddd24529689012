"""Evidence to a diagnosis: every check is run or skipped with the reason, then one root cause is named; pure.

The root is the first error, in the order of the registry, that does not follow from another one that was found. A check
that breaks is a bug, not a finding: it is not caught here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Severity
from brokernat.doctor.registry import CHECKS
from brokernat.doctor.suppressing import Suppression

_SHOWN = 3
_ELSEWHERE = {Need.FILES, Need.EXECUTORS}
_ORDER = tuple(Severity)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A check that could not be run, and why."""

    code: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cause:
    """What everything else follows from, in one sentence."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Findings are in the order of severity, then of the registry. `passed` are checks that found nothing.

    `suppressed` are findings that nobody wants to hear about: they are no root cause and decide nothing.
    """

    evidence: Evidence
    cause: Cause | None
    findings: tuple[Finding, ...]
    passed: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    suppressed: tuple[Finding, ...] = ()


def diagnose(
    evidence: Evidence, checks: Sequence[Check] = CHECKS, suppressions: Sequence[Suppression] = ()
) -> Diagnosis:
    """What the evidence means."""
    findings: list[Finding] = []
    passed: list[str] = []
    skipped: list[Skipped] = []
    for check in checks:
        # What judges neither files nor executors judges what the network showed.
        needs = check.needs if _ELSEWHERE & set(check.needs) else (Need.NETWORK, *check.needs)
        missing = [need for need in needs if not _met(need, evidence)]
        if missing:
            skipped.append(Skipped(check.code, check.title, missing[0].value))
            continue
        found = list(check.find(evidence))
        findings += found
        if not found:
            passed.append(check.code)
    findings.sort(key=lambda finding: _ORDER.index(finding.severity))
    told: list[Finding] = []
    suppressed: list[Finding] = []
    for finding in findings:
        (suppressed if any(one.covers(finding) for one in suppressions) else told).append(finding)
    cause = _cause(told, checks)
    return Diagnosis(evidence, cause, tuple(told), tuple(passed), tuple(skipped), tuple(suppressed))


def _met(need: Need, evidence: Evidence) -> bool:
    match need:
        case Need.NETWORK:
            return bool(evidence.bootstraps)
        case Need.FILES:
            return bool(evidence.files)
        case Need.METADATA:
            return any(look.answers for look in evidence.bootstraps)
        case Need.MAP:
            return evidence.rules is not None
        case Need.PARTITIONS:
            return evidence.replicas is not None
        case Need.COORDINATORS:
            return bool(evidence.coordinators)
        case Need.GROUPS:
            return _asked(evidence, "group")
        case Need.OFFSETS_TOPIC:
            return _asked(evidence, "group", really=True)
        case Need.TRANSACTIONS:
            return _asked(evidence, "transaction")
        case Need.TRANSACTIONS_TOPIC:
            return _asked(evidence, "transaction", really=True)
        case Need.EXECUTORS:
            return bool(evidence.executors)


def _asked(evidence: Evidence, kind: str, *, really: bool = False) -> bool:
    """Whether a coordinator of this kind was wanted; and `really`, whether the question was put."""
    return any(each.kind == kind and not (really and each.error == "not-asked") for each in evidence.coordinators)


def _cause(findings: Sequence[Finding], checks: Sequence[Check]) -> Cause | None:
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    codes = {finding.code for finding in errors}
    roots = {finding.code for finding in errors if not codes & set(finding.because)}
    for check in checks:
        if check.code in roots:
            subjects = list(dict.fromkeys(finding.subject for finding in errors if finding.code == check.code))
            more = f" and {len(subjects) - _SHOWN} more" if len(subjects) > _SHOWN else ""
            reasons = {finding.message for finding in errors if finding.code == check.code}
            reason = f": {reasons.pop()}" if len(reasons) == 1 else ""
            sentence = check.cause.format(subjects=", ".join(subjects[:_SHOWN]) + more, reason=reason)
            return Cause(check.code, sentence[0].upper() + sentence[1:])
    return None
