"""The root causes: the smallest set of findings that explains every failure, more specific ones first; pure.

A finding follows from another one in two cases: the other check declares the code as more general than itself
(`explains` of the check) and explains the same failures; or the finding depends on a failure (`follows`) that the other
one explains. The rest are candidates. The code that explains most failures is chosen until every failure is explained.
A candidate that explains no failure is a separate cause, and so is one of an `independent` check (two listeners in one
list).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from brokernat.doctor.checks import Check
from brokernat.doctor.diagnosis.model import Cause
from brokernat.doctor.finding import CheckFinding, Confidence, Failure, Remedy, Severity
from brokernat.text import inside_sentence, listed

GRAVEST_FIRST = tuple(Severity)


def failures_of(findings: Iterable[CheckFinding]) -> set[Failure]:
    """All failures that the findings explain."""
    return {failure for each in findings for failure in each.explains}


def with_reasons(findings: Sequence[CheckFinding], checks: Mapping[str, Check]) -> list[CheckFinding]:
    """The same findings, each with the codes that it follows from."""
    explaining: dict[Failure, list[CheckFinding]] = defaultdict(list)
    general: dict[str, list[CheckFinding]] = defaultdict(list)
    for each in findings:
        for failure in each.explains:
            explaining[failure].append(each)
        for code in checks[each.code].explains:
            general[code].append(each)
    return [_following(each, _because(each, explaining, general)) for each in findings]


def roots(findings: Sequence[CheckFinding], checks: Mapping[str, Check]) -> dict[str, list[CheckFinding]]:
    """The errors that are root causes, by code: specific before general, then by the number of explained failures."""
    candidates: dict[str, list[CheckFinding]] = defaultdict(list)
    for each in findings:
        if each.severity is Severity.ERROR and not each.because:
            candidates[each.code].append(each)
    explained = {code: failures_of(of_code) for code, of_code in candidates.items()}
    chosen = [code for code, failures in explained.items() if checks[code].independent or not failures]
    explaining = {code: failures for code, failures in explained.items() if code not in chosen}
    left = set().union(*explaining.values())
    while left:
        best = min(sorted(explaining), key=lambda code: -len(explaining[code] & left))
        chosen.append(best)
        left -= explaining[best]
    ordered: list[str] = []
    while chosen:
        general = {code for each in chosen for code in checks[each].explains}
        first = min(set(chosen) - general or chosen, key=lambda code: (-len(explained[code]), code))
        ordered.append(first)
        chosen.remove(first)
    return {code: candidates[code] for code in ordered}


def settled(findings: Sequence[CheckFinding], chosen: Mapping[str, Sequence[CheckFinding]]) -> list[CheckFinding]:
    """The same findings; a candidate that was not chosen follows from the causes that explain its failures."""
    explained = {code: failures_of(of_code) for code, of_code in chosen.items()}
    return [
        each
        if each.because or each.severity is not Severity.ERROR or each.code in chosen
        else _following(each, tuple(code for code, failures in explained.items() if failures & set(each.explains)))
        for each in findings
    ]


def cause(check: Check, findings: Sequence[CheckFinding]) -> Cause:
    """The root cause of these findings, in one sentence."""
    subjects = list(dict.fromkeys(finding.subject for finding in findings))
    by_message: dict[str, dict[str, None]] = defaultdict(dict)
    for finding in findings:
        by_message[finding.message][finding.subject.partition(" at ")[0]] = None
    messages = listed([*by_message], separator="; ")
    reason = messages
    if len(by_message) > 1 and not any(subject in messages for subject in subjects):
        reason = listed([f"{listed([*about])}: {message}" for message, about in by_message.items()], separator="; ")
    sentence = check.cause.format(subjects=listed(subjects), reason=f": {reason}", messages=messages)
    if all(finding.confidence is Confidence.LIKELY for finding in findings):
        return Cause(check.code, f"Probably {inside_sentence(sentence)}")
    return Cause(check.code, f"{sentence[0].upper()}{sentence[1:]}")


def _following(finding: CheckFinding, because: tuple[str, ...]) -> CheckFinding:
    """The finding without its remedy: it follows from another one, so its own remedy may be wrong."""
    return replace(finding, because=because, hint=None, remedy=Remedy()) if because else finding


def _because(
    finding: CheckFinding,
    explaining: Mapping[Failure, Sequence[CheckFinding]],
    general: Mapping[str, Sequence[CheckFinding]],
) -> tuple[str, ...]:
    own = set(finding.explains)
    found = {each.code for each in general[finding.code] if own <= set(each.explains) and _grave(each, finding)}
    for failure in finding.follows:
        found |= {each.code for each in explaining[failure] if _grave(each, finding)}
    return tuple(sorted(found - {finding.code}))


def _grave(reason: CheckFinding, finding: CheckFinding) -> bool:
    """Whether the reason is severe enough: a warning does not explain an error."""
    return GRAVEST_FIRST.index(reason.severity) <= GRAVEST_FIRST.index(finding.severity)
