"""`--suppress CODE[=SUBJECT]`: findings that somebody knows of and does not want to hear about; pure.

`*` stands for any text in both parts, so that `BN202`, `BN2*` and `BN302=node 2 *` are all of them. There is no other
wildcard: subjects hold IPv6 addresses, whose brackets must mean themselves. A code that no check has is refused, for
it would hide nothing and nobody would notice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from brokernat.doctor.checks import CHECKS
from brokernat.doctor.finding import CheckFinding
from brokernat.errors import ConfigError, Finding


@dataclass(frozen=True, slots=True)
class Suppression:
    """Findings of these codes about these subjects."""

    code: str
    subject: str = "*"

    @classmethod
    def parse(cls, text: str) -> Suppression:
        """`CODE` or `CODE=SUBJECT`; codes may be written in lower case.

        Raises:
            ConfigError: no check has such a code, or nothing stands behind the `=`.
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
        """Whether this finding is one of them."""
        return _matches(self.code, finding.code) and _matches(self.subject, finding.subject)


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None
