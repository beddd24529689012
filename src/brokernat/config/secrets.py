"""References to values outside the file, and secrets.

`${env:NAME}` and `${file:PATH}` are a whole value or a part of one; `$${` is a literal `${`. A value with a reference
becomes a Secret: only `reveal()` returns its text. A Secret cannot be pickled, so no closure sends it to a worker by
accident. One line end at the end of a file is removed, because `echo` and editors add it.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.entities import codepoint2name
from pathlib import Path
from typing import NoReturn

from brokernat.config.problems import did_you_mean
from brokernat.errors import ConfigError, Finding
from brokernat.paths import expanded_home, reading

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}|\$\{")
_SOURCES = ("env", "file")
# The similarity (difflib) of a name to a misspelled one; names of variables are short.
_ALIKE = 0.85
_BASE64 = {"+": r"(?:[+-]|%2[Bb])", "/": r"(?:[/_]|%2[Ff])"}
_BASE64_TEXT = re.compile(r"(?:[A-Za-z0-9+/_=-]|%2[BbFf]|%3[Dd])*")
_BASE64_REVERSED = re.compile(r"(?:[BbFf]2%|[Dd]3%|[A-Za-z0-9+/_=-])*")
_SHORTEST_CORE = 3
_ESCAPES = r"\\{1,31}"
"""The backslashes of an escape that was itself escaped up to four times; the limit bounds the time for many of them."""
_ENTITIES = {**{number: (name,) for number, name in codepoint2name.items()}, ord("'"): ("apos",)}


class Secret:
    """A text that repr, str, format and pickle do not reveal; equal texts are equal secrets."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text. Never log it."""
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


class Unresolved(Secret):
    """A text with unresolved references."""

    __slots__ = ()


def masked(text: str, *secrets: str) -> str:
    """An external text, such as a broker's error, with `***` for every secret in it.

    It finds the secret in any letter case, with escaped characters (percent, HTML, backslash), in hexadecimal, and
    inside base64, such as PLAIN's `NUL user NUL password` or HTTP's `user:password`. The longest secret comes first:
    a user name may be the beginning of the password. The time is proportional to the length of the text.
    """
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = _in_hexadecimal(secret).sub("***", _spelt(secret).sub("***", text))
        text = _without_base64(text, secret)
    return text


def _spelt(secret: str) -> re.Pattern[str]:
    """A pattern of each character or one of its escapes."""

    def character(one: str) -> str:
        number = ord(one)
        forms = [re.escape(one), "".join(f"%{byte:02x}" for byte in one.encode())]
        forms += [_ESCAPES + (re.escape(one) if one != "\\" else r"(?!\\)")]
        forms += [rf"{_ESCAPES}u0*{number:x}", rf"{_ESCAPES}u\{{0*{number:x}\}}", rf"{_ESCAPES}x{number:02x}"]
        forms += ["".join(rf"{_ESCAPES}x{byte:02x}" for byte in one.encode())]
        forms += [rf"&\#0*{number};", rf"&\#x0*{number:x};"]
        forms += [r"\+"] * (one == " ") + [f"&{name};" for name in _ENTITIES.get(number, ())]
        if number > 0xFFFF:
            high, low = divmod(number - 0x10000, 0x400)
            forms.append(rf"{_ESCAPES}u{0xD800 + high:x}{_ESCAPES}u{0xDC00 + low:x}")
        return f"(?:{'|'.join(forms)})"

    return re.compile("".join(map(character, secret)), re.IGNORECASE)


def _in_hexadecimal(secret: str) -> re.Pattern[str]:
    return re.compile(r"[\s:,-]*(?:0x)?".join(f"{byte:02x}" for byte in secret.encode()), re.IGNORECASE)


def _without_base64(text: str, secret: str) -> str:
    """Masks the whole base64 text, because the letters beside the secret would reveal its first and last bits."""
    parts, end = [], 0
    for found in _in_base64(secret).finditer(text):
        first, last = found.span(1)
        if last <= end:
            continue
        if first >= end:
            before = text[end:first]
            letters = _BASE64_REVERSED.match(before[::-1])
            parts += [before[: len(before) - (letters.end() if letters else 0)], "***"]
        rest = _BASE64_TEXT.match(text, last)
        end = rest.end() if rest else last
    return "".join(parts) + text[end:]


def _in_base64(secret: str) -> re.Pattern[str]:
    """A pattern of the letters that depend on the secret alone, and not on the bytes around it; group 1 are they."""
    data = secret.encode()
    cores = []
    for before in range(3):
        first, end = -(-before * 8 // 6), (before + len(data)) * 8 // 6
        core = base64.b64encode(bytes(before) + data + bytes(3)).decode()[first:end]
        if len(core) >= _SHORTEST_CORE:
            cores.append(r"\s*".join(_BASE64.get(letter, letter) for letter in core))
    # A lookahead, because two of them may overlap.
    return re.compile(f"(?=({'|'.join(cores) or '(?!)'}))")


@dataclass(frozen=True, slots=True)
class References:
    """Resolves references.

    Paths are relative to `folder`. With `resolve=False` references become Unresolved, for commands that open no
    connection.
    """

    folder: Path = field(default_factory=Path)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    resolve: bool = True

    def expand(self, text: str) -> str | Secret:
        """The text with its references replaced by their values.

        Raises:
            ConfigError: with one problem for each reference that has no value.
        """
        problems: list[Finding] = []
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
        if not used:
            return expanded
        return Secret(expanded) if self.resolve else Unresolved(expanded)

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
                raise _problem("reference-unknown", f"`${{{source}…` is not a reference", hint)

    def _from_environment(self, name: str) -> str:
        try:
            return self.environ[name]
        except KeyError:
            hint = did_you_mean(name, self.environ, _ALIKE) or f"set it: `export {name}=…`"
            raise _problem("env-missing", f"the environment variable `{name}` is not set", hint) from None

    def _from_file(self, name: str) -> str:
        path = self.folder / expanded_home(name)
        with reading(path, "the file"):
            data = path.read_bytes()
        try:
            return data.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise _problem("file-not-text", f"the file `{path}` is not UTF-8 text", None) from None


def _problem(kind: str, message: str, hint: str | None) -> ConfigError:
    return ConfigError(Finding(kind, message, hint))
