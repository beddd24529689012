"""What a check before the start has found, and all of it together; pure."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from brokernat.errors import BrokernatError, ConfigError


class Level(enum.StrEnum):
    """An error keeps a run from starting."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found. `code` is the exit code that an error of this kind asks for."""

    subject: str
    level: Level
    message: str
    hint: str | None = None
    code: int = 5


@dataclass(frozen=True, slots=True)
class Preflight:
    """All results, and the topics that are there, by cluster name: those that a proof can ask about."""

    results: tuple[CheckResult, ...]
    topics: dict[str, tuple[str, ...]]

    @property
    def exit_code(self) -> int:
        """The smallest code that an error asks for: what comes first has to be put right first."""
        return min((result.code for result in self.results if result.level is Level.ERROR), default=0)

    def and_then(self, results: Iterable[CheckResult]) -> Preflight:
        """These results and further ones."""
        return replace(self, results=(*self.results, *results))


def from_error(subject: str, error: BrokernatError) -> CheckResult:
    """An error that was raised instead of a finding; every hint of a ConfigError."""
    hint = error.hint
    if isinstance(error, ConfigError):
        hint = "; ".join(problem.hint for problem in error.problems if problem.hint) or None
    return CheckResult(subject, Level.ERROR, error.message, hint, code=error.exit_code)


def as_rows(results: Iterable[CheckResult]) -> list[dict[str, Any]]:
    """For JSON."""
    return [{"subject": r.subject, "level": r.level.value, "message": r.message, "hint": r.hint} for r in results]
