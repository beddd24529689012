"""What an expert demands of a report, as data, and how a report is held against it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tests.netns.doctor_worlds.report import Report, remedies_of, words_of


class Grade(StrEnum):
    """How a report stands against the demand; the gravest first."""

    FALSE_ALL_CLEAR = "false all-clear"
    FALSE_ACCUSATION = "false accusation"
    MISLEADING = "misleading"
    WRONG = "wrong"
    PARTLY = "partly"
    RIGHT = "right"


_NEVER = (r"listener (ONE|HALF|LOCALS?|BOX|SVC|CLOUD) works",)
"""What some node advertises where nobody reaches it is no way in, in no world."""


@dataclass(frozen=True, slots=True)
class Demand:
    """Regular expressions, without regard to case, over the report of one world."""

    headline: tuple[str, ...] = ()
    """Each is found in the sentences of the root causes."""
    said: tuple[str, ...] = ()
    """Each is found somewhere in the findings, whatever their severity."""
    fix: tuple[str, ...] = ()
    """Each is found in what errors and warnings advise."""
    never: tuple[str, ...] = ()
    """None is found in the sentences of the root causes, or in what errors and warnings advise."""
    codes: frozenset[str] = frozenset()
    """One of them is the code of a root cause; empty for any."""
    harmless: bool = False
    """No error is found, and the exit code is 0."""
    exits: frozenset[int] = frozenset({3, 5})
    rules: frozenset[str] | None = None
    """Of `discover`: these may be written as proven, and no other."""
    whole: bool = False
    """Of `discover`: all of `rules` are written."""

    def grade(self, report: Report) -> tuple[Grade, list[str]]:
        """How right a report is, and what is wrong with it."""
        faults: list[tuple[Grade, str]] = []
        if not report.said:
            return Grade.WRONG, [f"no report, exit {report.exit_code}: {report.stderr.strip()[-300:]}"]
        if self.rules is not None:
            return self._grade_rules(report, self.rules)
        advice = "\n".join(remedies_of(report.errors + report.warnings))
        if self.harmless:
            faults += [
                (Grade.FALSE_ACCUSATION, f"error {each['code']} {each['subject']}: {each['message']}")
                for each in report.errors
            ]
            if report.exit_code:
                faults.append((Grade.FALSE_ACCUSATION, f"exit {report.exit_code}"))
        elif report.exit_code == 0:
            faults.append((Grade.FALSE_ALL_CLEAR, f"exit 0: {report.said['verdict']}"))
        elif report.exit_code not in self.exits:
            faults.append((Grade.WRONG, f"exit {report.exit_code}"))
        if self.codes and not self.codes & report.codes:
            named = ", ".join(sorted(report.codes)) or "none"
            faults.append((Grade.WRONG, f"root cause {named}, not {' or '.join(sorted(self.codes))}"))
        faults += [(Grade.WRONG, f"headline without /{each}/") for each in missing(self.headline, report.headline)]
        everything = report.headline + "\n" + words_of(report.said.get("findings", ()))
        faults += [(Grade.PARTLY, f"nowhere /{each}/") for each in missing(self.said, everything)]
        faults += [(Grade.PARTLY, f"no fix with /{each}/") for each in missing(self.fix, advice)]
        for each in (*self.never, *_NEVER):
            for where, text in (("headline", report.headline), ("advice", advice)):
                if found := re.search(each, text, re.IGNORECASE):
                    line = next(line for line in text.splitlines() if found[0] in line)
                    faults.append((Grade.MISLEADING, f"{where} has /{each}/: {line}"))
        gravest = min((grade for grade, _ in faults), key=list(Grade).index, default=Grade.RIGHT)
        return gravest, [fault for _, fault in faults]

    def _grade_rules(self, report: Report, right: frozenset[str]) -> tuple[Grade, list[str]]:
        written = {each["rule"] for each in report.said["rules"]}
        text = f"{json.dumps(report.said, indent=1)}\n{report.stderr}"
        faults = [(Grade.MISLEADING, f"rule {each} is not so") for each in sorted(written - right)]
        faults += [(Grade.MISLEADING, f"it has /{each}/") for each in self.never if not missing([each], text)]
        faults += [(Grade.WRONG, f"no rule {each}") for each in sorted(right - written) if self.whole]
        faults += [(Grade.PARTLY, f"nowhere /{each}/") for each in missing(self.said, text)]
        gravest = min((grade for grade, _ in faults), key=list(Grade).index, default=Grade.RIGHT)
        return gravest, [fault for _, fault in faults]


def missing(wanted: Iterable[str], text: str) -> list[str]:
    """The expressions that are not found."""
    return [each for each in wanted if not re.search(each, text, re.IGNORECASE)]
