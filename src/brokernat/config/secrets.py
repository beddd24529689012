"""Values from outside the file, and values that must not be seen.

`${env:NAME}` and `${file:PATH}` stand for a whole value or for a part of one; `$${` writes a plain `${`. What was put
in makes the value a Secret: its text leaves only through `reveal()`. A Secret cannot be pickled, so it travels to no
worker inside a closure by accident. A file loses one line end at its end, as `echo` and editors put it there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from brokernat.config.problems import did_you_mean
from brokernat.errors import ConfigError, Problem

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}|\$\{")
_SOURCES = ("env", "file")


class Secret:
    """A text that repr, str, format and pickle do not give away; equal texts are equal secrets."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(***)"

    def __str__(self) -> str:
        return "***"

    def __format__(self, spec: str) -> str:
        return format("***", spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not pickled: reveal it where it is used")


@dataclass(frozen=True, slots=True)
class References:
    """Where references are looked up.

    Paths are relative to `folder`. With `resolve=False` references stay as they are written, as Secrets, for commands
    that open no connection.
    """

    folder: Path = field(default_factory=Path)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    resolve: bool = True

    def expand(self, text: str) -> str | Secret:
        """The value that a text of the file stands for.

        Raises:
            ConfigError: with one problem for each reference that has no value.
        """
        problems: list[Problem] = []
        used = False

        def replacement(found: re.Match[str]) -> str:
            nonlocal used
            if found[0] == "$${":
                return "${"
            used = True
            try:
                return self._look_up(found[1]) if self.resolve else found[0]
            except ConfigError as error:
                problems.extend(error.problems)
                return ""

        expanded = _REFERENCE.sub(replacement, text)
        if problems:
            raise ConfigError(*problems)
        return Secret(expanded) if used else expanded

    def _look_up(self, reference: str | None) -> str:
        source, _, name = (reference or "").partition(":")
        match source:
            case "env" if name:
                return self._from_environment(name)
            case "file" if name:
                return self._from_file(name)
            case _:
                hint = did_you_mean(source, _SOURCES) if name else None
                hint = hint or "write `${env:NAME}` or `${file:PATH}`; a plain `${` is written `$${`"
                raise _problem("reference-unknown", f"`${{{source}…` is no reference", hint)

    def _from_environment(self, name: str) -> str:
        try:
            return self.environ[name]
        except KeyError:
            hint = did_you_mean(name, self.environ) or f"set it: `export {name}=…`"
            raise _problem("env-missing", f"the environment variable `{name}` is not set", hint) from None

    def _from_file(self, name: str) -> str:
        path = self.folder / Path(name).expanduser()
        try:
            return path.read_bytes().decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise _problem("file-unreadable", f"the file `{path}` cannot be read: {reason}", None) from None
        except UnicodeDecodeError:
            raise _problem("file-not-text", f"the file `{path}` is not UTF-8 text", None) from None


def _problem(kind: str, message: str, hint: str | None) -> ConfigError:
    return ConfigError(Problem(kind, message, hint))
