"""Turns evidence into a diagnosis: runs or skips every check, chooses the root causes, and builds the client's path for
the picture; pure.

A failure that no other finding explains is reported by a residual check (BN005), so every failure has a finding. An
exception in a check is a bug and not a finding: it is not caught here.

`--suppress CODE[=SUBJECT]` hides known findings. `*` matches any text in both parts, as in `BN202`, `BN2*` and
`BN302=node 2 *`. There is no other wildcard, because subjects contain the brackets of IPv6 addresses. An unknown code
is an error, because it would hide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from brokernat.doctor.checks import CHECKS, Check, Need
from brokernat.doctor.diagnosis.causes import GRAVEST_FIRST, cause, failures_of, roots, settled, with_reasons
from brokernat.doctor.diagnosis.model import Cause, Diagnosis, Skipped
from brokernat.doctor.diagnosis.ways import entrances, groups, listeners, routes
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding
from brokernat.errors import ConfigError, Finding

__all__ = ["Cause", "Diagnosis", "Skipped", "Suppression", "diagnose"]

_ELSEWHERE = {Need.FILES, Need.EXECUTORS}


@dataclass(frozen=True, slots=True)
class Suppression:
    """A pattern of codes and subjects of findings to hide."""

    code: str
    subject: str = "*"

    @classmethod
    def parse(cls, text: str) -> Suppression:
        """`CODE` or `CODE=SUBJECT`; codes may be written in lower case.

        Raises:
            ConfigError: no check has such a code, or the text after `=` is empty.
        """
        code, equals, subject = (part.strip() for part in text.partition("="))
        suppression = cls(code.upper(), subject if equals else "*")
        if not suppression.subject:
            hint = f"write `{code}` for every subject, or `{code}=node 2 *`"
            raise ConfigError(Finding("suppression", f"`--suppress {text}` names no subject", hint))
        if not any(_matches(suppression.code, check.code) for check in CHECKS):
            hint = "`brokernat doctor --list-checks` shows the codes"
            raise ConfigError(Finding("suppression", f"`--suppress {text}` matches the code of no check", hint))
        return suppression

    def __str__(self) -> str:
        return self.code if self.subject == "*" else f"{self.code}={self.subject}"

    def covers(self, finding: CheckFinding) -> bool:
        """Whether the pattern matches this finding."""
        return _matches(self.code, finding.code) and _matches(self.subject, finding.subject)


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def diagnose(
    evidence: Evidence, checks: Iterable[Check] = CHECKS, suppressions: Sequence[Suppression] = ()
) -> Diagnosis:
    """The diagnosis of the evidence by these checks, without the findings to hide."""
    wanted = {check.code: check for check in checks}
    results: dict[str, list[CheckFinding]] = {}
    skipped: list[Skipped] = []
    for check in wanted.values():
        # All checks except those of files and executors judge the network's evidence.
        needs = check.needs if _ELSEWHERE & set(check.needs) else (Need.NETWORK, *check.needs)
        missing = next((need for need in needs if not need.met(evidence)), None)
        if missing is None:
            results[check.code] = list(check.findings(evidence))
        else:
            skipped.append(Skipped(check.code, check.title, missing.value, missing.options))
    _without_explained(results, wanted)
    kept: list[CheckFinding] = []
    suppressed: list[CheckFinding] = []
    for each in chain.from_iterable(results.values()):
        (suppressed if any(one.covers(each) for one in suppressions) else kept).append(each)
    kept = with_reasons(kept, wanted)
    chosen = roots(kept, wanted)
    kept = settled(kept, chosen)
    ranks = {code: number for number, code in enumerate(chosen)}
    for listed in (kept, suppressed):
        listed.sort(key=lambda each: (GRAVEST_FIRST.index(each.severity), ranks.get(each.code, len(ranks)), each.code))
    servers, ways = entrances(evidence, kept), routes(evidence, kept)
    return Diagnosis(
        evidence,
        tuple(cause(wanted[code], of_code) for code, of_code in chosen.items()),
        tuple(kept),
        tuple(code for code, of_code in results.items() if not of_code),
        tuple(skipped),
        tuple(suppressed),
        servers,
        ways,
        groups(evidence, servers, ways),
        listeners(evidence),
    )


def _without_explained(results: dict[str, list[CheckFinding]], checks: dict[str, Check]) -> None:
    """Keeps only those findings of residual checks that no other finding explains."""
    explained = failures_of(
        chain.from_iterable(of_code for code, of_code in results.items() if not checks[code].residual)
    )
    for code, of_code in results.items():
        if checks[code].residual:
            results[code] = [each for each in of_code if not explained.issuperset(each.explains)]
