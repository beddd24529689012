"""The results of the checks before a run; pure."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from brokernat.config.fields import Profile
from brokernat.errors import BrokernatError, ConfigError


class Level(enum.StrEnum):
    """Severity of a result; with an ERROR a run does not start."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check. `code` is the exit code of the command if the result is an error."""

    subject: str
    level: Level
    message: str
    hint: str | None = None
    code: int = 5


@dataclass(frozen=True, slots=True)
class Preflight:
    """All results; topics that exist and measured profiles by cluster name; the partitions of the source's topics."""

    results: tuple[CheckResult, ...]
    topics: dict[str, tuple[str, ...]]
    partitions: int = 0
    profiles: Mapping[str, Profile] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """The smallest code of all errors; 0 without an error."""
        return min((result.code for result in self.results if result.level is Level.ERROR), default=0)

    def and_then(self, results: Iterable[CheckResult]) -> Preflight:
        """A copy with further results."""
        return replace(self, results=(*self.results, *results))


def from_error(subject: str, error: BrokernatError) -> CheckResult:
    """The result for an exception; the hint of a ConfigError joins the hints of all its problems."""
    hint = error.hint
    if isinstance(error, ConfigError):
        hint = "; ".join(problem.hint for problem in error.problems if problem.hint) or None
    return CheckResult(subject, Level.ERROR, error.message, hint, code=error.exit_code)


def as_rows(results: Iterable[CheckResult]) -> list[dict[str, Any]]:
    """The results as JSON objects: subject, level, message, hint."""
    return [{"subject": r.subject, "level": r.level.value, "message": r.message, "hint": r.hint} for r in results]
