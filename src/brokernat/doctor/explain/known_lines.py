r"""The kinds of log lines that are known, read from `lines/*.toml`: how each is recognised, and what it means.

A kind has text that each of its lines holds (`holds`, one of several) and a pattern for what is stable in the line. The
text is looked for first: most lines of a log are about something else, and `in` is the cheapest way to find that out.
Patterns never start at the line's start, because every logger puts something else in front.

A file is one client's (`client`, which a kind may give itself). A kind is a `[[line]]` with the fields of `KnownLine`.
Its meaning is `means`, `do`, `codes` and `run`, or several `[[line.explanation]]` of these with conditions (`if`), or
the name of an explanation in `shared.toml`. `<<name>>` stands for a text or a pattern of `shared.toml`. Blanks and line
ends in a text are one blank.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

DOCTOR = "brokernat doctor --bootstrap-server HOST:PORT"
_NAME = re.compile(r"<<(\w+)>>")
_SHARED = "shared.toml"


class Role(StrEnum):
    """What the line's node is to the client."""

    BOOTSTRAP = "bootstrap server"
    ADVERTISED = "advertised"
    COORDINATOR = "coordinator"
    UNNAMED = "unnamed"


class Tells(IntEnum):
    """How much a line tells: what is wrong, where, that something went wrong, at which step, or only that another line
    says so.
    """

    FAULT = 1
    PLACE = 2
    EFFECT = 3
    STEP = 4
    WRAPPER = 5


@dataclass(frozen=True, slots=True)
class Explanation:
    """`means` and `do` are format strings over what the line names: `{endpoint}`, `{node}` and the pattern's groups.

    `codes` are the checks that prove it, the likeliest first; `run` is the command that runs them. `conditions` are
    patterns by name: of the pattern's groups, of `role` (a `Role`) and of `host_kind` (`peers.host_kind`).
    """

    means: str
    do: str
    codes: tuple[str, ...] = ()
    run: str = DOCTOR
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KnownLine:
    """One kind of lines. The first of `explanations` whose conditions hold is meant.

    Groups of the pattern: `node` (Kafka's id, or a client's name of the broker), `endpoint` or `host` and `port`; any
    others are for the sentences. `role` is the node's where no group can show it. `borrowed`: the words are those of
    the JVM, Python or OpenSSL, so that other programs print them, too. `wordings` shows which versions write it how,
    `example` is a line as it was written, `seen` who wrote it and what provoked it. `by_error`: it is not a whole line,
    but an error that any line may name (`known_errors`). `calm`: healthy programs print such lines, too; they are
    explained only where somebody pastes them and nothing else. `fallback`: looked at where the line is of no other kind
    and names no error.
    """

    key: str
    client: str
    title: str
    holds: tuple[str, ...]
    pattern: str
    explanations: tuple[Explanation, ...]
    example: str
    seen: str
    tells: Tells = Tells.PLACE
    role: Role = Role.UNNAMED
    borrowed: bool = False
    by_error: bool = False
    calm: bool = False
    fallback: bool = False
    wordings: str = ""

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern; compiled when the first line holds the text."""
        return re.compile(self.pattern)


@dataclass(frozen=True, slots=True)
class HostHint:
    """What the kind of an advertised host gives away: the check about it, and a sentence."""

    kind: str
    code: str
    means: str


@cache
def known_lines() -> tuple[KnownLine, ...]:
    """All kinds of lines; those of one client stand together, and no line belongs to two kinds."""
    names = sorted(file.name for file in (files(__package__) / "lines").iterdir())
    clients = [_parsed(name) for name in names if name.endswith(".toml") and name != _SHARED]
    return tuple(known_line(client["client"], fields) for client in clients for fields in client["line"])


@cache
def host_hints() -> tuple[HostHint, ...]:
    """The hints of `shared.toml`; a host is of one kind."""
    return tuple(HostHint(each["kind"], each["code"], _text(each["means"])) for each in _shared()["hosts"])


@cache
def _shared() -> dict[str, Any]:
    return _parsed(_SHARED)


def _parsed(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "lines" / name).read_text("utf-8"))


def known_line(client: str, fields: dict[str, Any]) -> KnownLine:
    """A kind of lines as a file has it."""
    given = fields.pop("explanation", None)
    if isinstance(given, str):
        given = _shared()["explanations"][given]
    if given is None:
        given = [{name: fields.pop(name) for name in ("means", "do", "codes", "run") if name in fields}]
    fields["holds"] = tuple(fields["holds"])
    fields["pattern"] = _NAME.sub(lambda name: _shared()["patterns"][name[1]], fields["pattern"])
    fields["tells"] = Tells[fields.get("tells", "place").upper()]
    fields["role"] = Role(fields.get("role", Role.UNNAMED))
    return KnownLine(client=fields.pop("client", client), explanations=tuple(map(_explanation, given)), **fields)


def _explanation(fields: dict[str, Any]) -> Explanation:
    fields = dict(fields)
    means, do, run = (_text(fields.pop(name, "")) for name in ("means", "do", "run"))
    conditions = fields.pop("if", {})
    return Explanation(means, do, tuple(fields.pop("codes", ())), run or DOCTOR, conditions, **fields)


def _text(text: str) -> str:
    return " ".join(_NAME.sub(lambda name: _shared()["texts"][name[1]].strip(), text).split())
