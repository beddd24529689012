"""All errors that brokernat raises, with the exit code of the command::

    BrokernatError              1   base class, never raised
    ├── ConfigError             2   all problems of a file or a text
    ├── MissingToolError        2   names what is missing and the package to install
    ├── WorldError              2   a testbed cannot be started, or does not run
    ├── NothingReachableError   3
    ├── UnmappedEndpointError   5   carries the rule to add
    ├── ProofFailedError        5
    ├── DamagedBundleError      5   names every file that differs from the bundle's list
    ├── AlteredFileError        5   names the jar with a wrong SHA-256
    ├── NotExpressibleError     5   names every rule that a target cannot express
    ├── IncompleteError         6
    ├── NotExecutableError    126   of `exec`
    └── ProgramNotFoundError  127   of `exec`

`error.message` is the problem and `error.hint` the fix. `str(error)` contains both, because notebooks and tracebacks
show only that; `error.report()` formats both for a terminal. A message never contains a secret: it quotes names and
places, never values from `${env:}` or `${file:}`.

Every error can be pickled and copied, because Spark and multiprocessing pass errors between processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class BrokernatError(Exception):
    """The base class: a message, an optional hint, and the exit code of a command that ends with this error."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return _with_hint(self.message, self.hint)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the state, because subclasses have constructors with other arguments."""
        return _restored, (type(self), self.args), self.__dict__

    def report(self) -> str:
        """`error: …`, a blank line, `hint: …`; without a line end."""
        return _block(self.message, self.hint)


class Severity(StrEnum):
    """The severity of a finding in a file or a map, or by the doctor."""

    ERROR = "error"
    """It cannot work as written, or stops clients."""
    WARNING = "warning"
    """It may be intended, or may stop clients."""
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Location:
    """The origin of a value; every part may be None. Lines and columns count from 1."""

    source: str | None = None
    line: int | None = None
    column: int | None = None
    path: str | None = None

    def __str__(self) -> str:
        place = self.source or ""
        if self.line is not None:
            place += f"{' ' if place else ''}line {self.line}"
            if self.column is not None:
                place += f", column {self.column}"
        return ", ".join(part for part in (place, self.path) if part)


@dataclass(frozen=True, slots=True)
class Finding:
    """One certain or possible problem of a file, a text or an address map, or from a check of the doctor.

    `code` is stable and never reused: words in kebab case, the same as in the Java agent, or `BN` and a number for the
    doctor's checks. `details` are lines below the message, such as the affected entries. `rules` are indexes into the
    checked address map; the last one is the rule to change.
    """

    code: str
    message: str
    hint: str | None = None
    location: Location = Location()
    details: tuple[str, ...] = ()
    severity: Severity = Severity.ERROR
    rules: tuple[int, ...] = ()

    def at(self, location: Location) -> Finding:
        """The same finding at another location, for example in the file that holds the text."""
        return replace(self, location=location)

    def __str__(self) -> str:
        place = str(self.location)
        return "\n".join((f"{self.message}: {place}" if place else self.message, *self.details))

    def report(self) -> str:
        """The finding and its hint, as a terminal shows them."""
        return _block(str(self), self.hint, self.severity)


class ConfigError(BrokernatError):
    """All problems of a file, a property or an argument."""

    exit_code = 2

    def __init__(self, *problems: Finding) -> None:
        self.problems = problems
        if not self.problems:
            raise ValueError("a ConfigError needs at least one problem")
        only = self.problems[0] if len(self.problems) == 1 else None
        super().__init__("\n".join(map(str, self.problems)), hint=only.hint if only else None)

    def __str__(self) -> str:
        return "\n".join(_with_hint(str(problem), problem.hint) for problem in self.problems)

    def report(self) -> str:
        """One block per problem, in the order of the file, and the number of problems if there are several."""
        blocks = [problem.report() for problem in self.problems]
        if len(blocks) > 1:
            blocks.append(f"{len(blocks)} problems")
        return "\n\n".join(blocks)


def read_all(read: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The result of each item.

    Raises:
        ConfigError: with the problems of all items.
    """
    found: list[Result] = []
    problems: list[Finding] = []
    for item in items:
        try:
            found.append(read(item))
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(*problems)
    return found


class MissingToolError(BrokernatError):
    """A program, a jar or a library that this machine lacks; the hint names the package to install."""

    exit_code = 2


class WorldError(BrokernatError):
    """A testbed that cannot be started on this machine, or that does not run."""

    exit_code = 2


class NothingReachableError(BrokernatError):
    """No bootstrap server answered."""

    exit_code = 3


class UnmappedEndpointError(BrokernatError):
    """An advertised endpoint without a rule, in a map with `unmapped: fail`.

    `endpoint` is its text, `rule_to_add` a rule with a placeholder for the reachable side.
    """

    exit_code = 5

    def __init__(self, endpoint: str, rule_to_add: str) -> None:
        super().__init__(
            f"no rule of the address map names the advertised endpoint {endpoint}",
            hint=f"add a rule with the endpoint that can be dialled from here: `{rule_to_add}`; "
            "or set `unmapped: pass` to dial such endpoints as they are",
        )
        self.endpoint = endpoint
        self.rule_to_add = rule_to_add


class ProofFailedError(BrokernatError):
    """A driver or an executor does not have the map, or cannot reach a leader."""

    exit_code = 5


class DamagedBundleError(BrokernatError):
    """Files of a bundle differ from its list, so nothing is installed."""

    exit_code = 5


class AlteredFileError(BrokernatError):
    """A downloaded jar does not have the SHA-256 that is known for its name."""

    exit_code = 5


class NotExpressibleError(BrokernatError):
    """Rules of an address map that the configuration of another program cannot express."""

    exit_code = 5


class IncompleteError(BrokernatError):
    """Records are missing, or undelivered after a stop."""

    exit_code = 6


class NotExecutableError(BrokernatError):
    """The program of `exec` exists but cannot be started."""

    exit_code = 126


class ProgramNotFoundError(BrokernatError):
    """The program of `exec` does not exist."""

    exit_code = 127


def _restored(kind: type[BrokernatError], arguments: tuple[Any, ...]) -> BrokernatError:
    return kind.__new__(kind, *arguments)


def _with_hint(message: str, hint: str | None) -> str:
    return f"{message}\nhint: {hint}" if hint else message


def _block(message: str, hint: str | None, severity: str = "error") -> str:
    return f"{severity}: {message}" + (f"\n\nhint: {hint}" if hint else "")
