r"""The known kinds of log lines, read from `lines/*.toml`: how to recognise each, and its meaning.

A kind has texts (`holds`), one of which is in each of its lines, and a pattern for the stable part of the line. The
text is searched first: most lines of a log match no kind, and `in` is the cheapest test. Patterns never start at the
line's start, because each logger writes another prefix.

A file belongs to one client (`client`, which a kind may override). A kind is a `[[line]]` with the fields of
`KnownLine`. Its meaning is the fields of `Explanation`, or several `[[line.explanation]]` of these with conditions
(`if`), or the name of an explanation in `shared.toml`; those of `first` come before it. `<<name>>` stands for a text or
a pattern of `shared.toml`; a file may have `texts` of its own for such a name, where its client calls the settings
otherwise.
Blanks and line ends in a text are one blank.
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
_TEXTS = ("means", "do", "explain", "refers", "run")
# What `explain` of a kind names, if the reason stands beside an error.
_BESIDE = "the text beside it"


class Role(StrEnum):
    """The role of the line's node for the client."""

    BOOTSTRAP = "bootstrap server"
    ADVERTISED = "advertised"
    COORDINATOR = "coordinator"
    UNNAMED = "unnamed"


class Tells(IntEnum):
    """What a line shows: the fault, its place, only that there is a fault, the step, or a reference to another line."""

    FAULT = 1
    PLACE = 2
    EFFECT = 3
    STEP = 4
    WRAPPER = 5


@dataclass(frozen=True, slots=True)
class Explanation:
    """`means` and `do` are format strings with the line's values: `{endpoint}`, `{node}` and the pattern's groups.

    `explain` is where the reason is, if not in the line ("the exception below it"), and `refers` the sentence about it;
    neither is shown where the reason is. `codes` are the checks that prove it, the most likely first; `run` is the
    command to run next, by default the one that runs them, or empty. `as_before`: the line only sums up others of its
    kind, so the explanation of one above it about the same endpoint counts. `conditions` are patterns by name: of the
    pattern's groups, of `role` (a `Role`) and of `host_kind` (`Peer.host_kind`).
    """

    means: str
    do: str
    explain: str = ""
    refers: str = ""
    codes: tuple[str, ...] = ()
    run: str = ""
    as_before: bool = False
    conditions: Mapping[str, str] = field(default_factory=dict)

    @property
    def sentences(self) -> str:
        """The meaning, and where the reason is."""
        return f"{self.means} {self.refers}".strip()

    @property
    def steps(self) -> str:
        """The fix: first find the reason."""
        return "; ".join(filter(None, (self.explain and f"explain {self.explain}", self.do)))


@dataclass(frozen=True)
class KnownLine:
    """One kind of lines. The first of `explanations` whose conditions hold applies.

    Groups of the pattern: `node` (Kafka's id, or a client's name of the broker), `endpoint` or `host` and `port`; other
    groups are for the sentences. `role` is the node's role if no group shows it. `borrowed`: the text comes from the
    JVM, Python or OpenSSL, so other programs print it, too; `everyones`: so many do that it counts beside Kafka's lines
    alone, however short the input is. `streaming`: a failure that any program of its runtime may report; a short input
    explains it if it names a program around Kafka (`names_streaming`). `wordings` has the texts by client version,
    `example` is a real line, `seen` its client and its trigger. `by_error`: not a whole line, but an error that any
    line may name (`known_errors`). `calm`: healthy programs print such lines, too; they are explained only if the input
    has nothing else. `fallback`: used if the line is of no other kind and names no error. `corrects`: the kind that a
    line above in the same stack seems to be, and is not. `follows`: the kinds that contain the reason if both name the
    same endpoint; the line is then left out. `decides`: the fault is the whole reason of the lines above in its stack.
    `under`: texts, one of which one of the next lines above must have; without it the line is not of this kind.
    `names_code`: code failed by itself; the meaning then names the first frame that is not the language's own.
    `remains`: what to do after the fault below a wrapper is mended; such a wrapper is shown beside its fault.
    `system`: the only server that the kind is about, a format string; `setting`: the setting with its
    address. If the line or its stack shows how the connection failed, that `Cause` explains the line in place of the
    kind's list of reasons.
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
    everyones: bool = False
    streaming: bool = False
    by_error: bool = False
    calm: bool = False
    fallback: bool = False
    wordings: str = ""
    corrects: str = ""
    follows: tuple[str, ...] = ()
    decides: bool = False
    under: tuple[str, ...] = ()
    names_code: bool = False
    remains: str = ""
    system: str = ""
    setting: str = "the configured address"

    @property
    def reason_is_elsewhere(self) -> bool:
        """Whether the line's general explanation refers to the place of the reason."""
        return bool(self.explanations[-1].explain)

    @property
    def awaits_cause(self) -> bool:
        """Whether the exception in or below the line is the reason."""
        below = self.reason_is_elsewhere and not self.refers_beside
        return self.tells is Tells.WRAPPER or (self.tells >= Tells.EFFECT and below)

    @property
    def refers_beside(self) -> bool:
        """Whether the explanation of an error only refers to the text beside it."""
        return self.by_error and self.tells >= Tells.EFFECT and self.explanations[-1].explain.startswith(_BESIDE)

    @property
    def general(self) -> bool:
        """Whether other kinds of the same stack say more: an error by its name, or a failure of any program."""
        return self.by_error or (self.streaming and self.fallback)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern; it is compiled when a line first contains the text."""
        return re.compile(self.pattern)


@dataclass(frozen=True, slots=True)
class HostHint:
    """The check and the sentence for a kind of advertised host."""

    kind: str
    code: str
    means: str


@dataclass(frozen=True, slots=True)
class Cause:
    """How the connection to a server failed; `means` and `do` name it as `{system}` and its setting as `{setting}`.

    `codes` are those of the kind's checks that still may prove it.
    """

    pattern: str
    means: str
    do: str
    codes: tuple[str, ...]


@cache
def causes() -> tuple[Cause, ...]:
    """The causes of `shared.toml`; the first one that a text shows applies."""
    texts = _shared()["texts"]
    return tuple(
        Cause(each["pattern"], _text(each["means"], texts), _text(each["do"], texts), tuple(each["codes"]))
        for each in _shared()["causes"]
    )


def cause_in(text: str) -> Cause | None:
    """How a connection failed, as a line shows it."""
    return next((cause for cause in causes() if re.search(cause.pattern, text)), None)


@dataclass(frozen=True, slots=True)
class Reason:
    """What kind of failure an exception is that no kind explains, by its class; the first one that matches applies."""

    pattern: str
    means: str
    do: str


def reason_of(exception: str) -> Reason:
    """The kind of an exception; the last one of the table matches all."""
    return next(reason for reason in _reasons() if re.search(reason.pattern, exception))


@cache
def _reasons() -> tuple[Reason, ...]:
    return tuple(
        Reason(each["pattern"], _text(each["means"], {}), _text(each["do"], {})) for each in _shared()["reasons"]
    )


@cache
def known_lines() -> tuple[KnownLine, ...]:
    """All kinds of lines, grouped by client; no line belongs to two kinds."""
    clients = [table for name, table in tables("lines").items() if name != _SHARED]
    return tuple(
        known_line(client["client"], fields, client.get("texts", {})) for client in clients for fields in client["line"]
    )


@cache
def host_hints() -> tuple[HostHint, ...]:
    """The hints of `shared.toml`; each host has one kind."""
    return tuple(
        HostHint(each["kind"], each["code"], _text(each["means"], _shared()["texts"])) for each in _shared()["hosts"]
    )


@cache
def table(name: str) -> dict[str, Any]:
    """A TOML file of this package."""
    return tomllib.loads((files(__package__) / name).read_text("utf-8"))


@cache
def tables(folder: str) -> dict[str, dict[str, Any]]:
    """The TOML files in a folder of this package by name, sorted."""
    found = [file for file in (files(__package__) / folder).iterdir() if file.name.endswith(".toml")]
    return {file.name: tomllib.loads(file.read_text("utf-8")) for file in sorted(found, key=lambda file: file.name)}


def _shared() -> dict[str, Any]:
    return tables("lines")[_SHARED]


def known_line(client: str, fields: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> KnownLine:
    """A kind of lines from an entry of a file; `texts` take the place of the shared ones of their name."""
    fields = {"client": client, **fields}
    given = fields.pop("explanation", None)
    if isinstance(given, str):
        given = [*fields.pop("first", ()), *_shared()["explanations"][given]]
    if given is None:
        given = [{name: fields.pop(name) for name in (*_TEXTS, "codes") if name in fields}]
    for name in ("holds", "under", "follows"):
        texts_of = fields.get(name, ())
        fields[name] = (texts_of,) if isinstance(texts_of, str) else tuple(texts_of)
    if "<<" in fields["pattern"]:
        fields["pattern"] = _NAME.sub(lambda name: _shared()["patterns"][name[1]], fields["pattern"])
    fields["tells"] = Tells[fields.get("tells", "place").upper()]
    fields["role"] = Role(fields.get("role", Role.UNNAMED))
    all_texts = {**_shared()["texts"], **texts} if texts else _shared()["texts"]
    return KnownLine(explanations=tuple(_explanation(each, all_texts) for each in given), **fields)


def _explanation(fields: dict[str, Any], texts: Mapping[str, str]) -> Explanation:
    fields = dict(fields)
    means, do, explain, refers, run = (_text(fields.pop(name, ""), texts) for name in _TEXTS)
    codes, conditions = tuple(fields.pop("codes", ())), fields.pop("if", {})
    run = run or (DOCTOR if codes else "")
    return Explanation(means, do, explain, refers, codes, run, conditions=conditions, **fields)


def _text(text: str, texts: Mapping[str, str]) -> str:
    if "<<" in text:
        text = _NAME.sub(lambda name: texts[name[1]].strip(), text)
    return " ".join(text.split())
