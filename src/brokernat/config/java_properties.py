"""Parses Java's own forms of settings: a properties file, and a JAAS line; pure.

A properties file is parsed as `java.util.Properties.load` does, and its texts are escaped as `store` does. Java's
syntax is more than `name=value`: the name ends at the first unescaped `=`, `:` or blank; an odd number of backslashes
at its end continues a line; blanks before the value are ignored and blanks after it are kept. Java uses the last of two
equal names; this module returns both, so that the caller can report it.

A JAAS line is the value of `sasl.jaas.config`: `MODULE FLAG name=value …;`. It is parsed like Kafka's JaasConfig, by
the rules of java.io.StreamTokenizer, so a backslash in a password has the same meaning. The text is a secret: no
message contains it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from brokernat.errors import ConfigError, Finding, Location, read_all

_BLANKS = " \t\f"
_LINE_END = re.compile(r"\r\n|\r|\n")
# Java reads a lone backslash there as an empty line and an entry.
_LAST_OF_ALL = re.compile(r"(?:\A|[\r\n])[ \t\f]*\\[\r\n]?\Z")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.)", re.DOTALL)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class Property(NamedTuple):
    """A name with its value, and the line of the file where it starts.

    `drops_backslash` is whether the value has a backslash before a letter or digit for which it has no meaning.
    """

    name: str
    value: str
    line: int
    drops_backslash: bool = False


def parse_properties(text: str, source: str) -> tuple[Property, ...]:
    r"""The properties in the order of the file.

    >>> parse_properties("listeners : A://:1,\\\n    B://:2", "x")
    (Property(name='listeners', value='A://:1,B://:2', line=1, drops_backslash=False),)

    Raises:
        ConfigError: every `\u` without four hexadecimal digits, for which Java refuses the file.
    """

    def read(line: tuple[int, str]) -> Property:
        number, logical = line
        name, value = _name_and_value(logical)
        location = Location(source, number)
        dropped = any(each.isalnum() and each not in _CONTROL for each in _ESCAPED.findall(value) if len(each) == 1)
        return Property(_unescaped(name, location), _unescaped(value, location), number, dropped)

    return tuple(read_all(read, _logical_lines(text)))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Logical lines without comments, each with the number of its first line."""
    joined, first = "", 0
    for number, natural in enumerate(_LINE_END.split(text), start=1):
        line = natural.lstrip(_BLANKS)
        if not joined:
            first = number
            if not line or line[0] in "#!":
                continue
        goes_on = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        joined += line[:-1] if goes_on else line
        if goes_on:
            continue
        if joined:
            yield first, joined
        joined = ""
    if joined or _LAST_OF_ALL.search(text):
        yield first, joined


def _name_and_value(line: str) -> tuple[str, str]:
    """Both as they are written."""
    end = 0
    while end < len(line) and line[end] not in f"=:{_BLANKS}":
        end += 2 if line[end] == "\\" else 1
    value = line[end:].lstrip(_BLANKS)
    if value[:1] in ("=", ":"):
        value = value[1:].lstrip(_BLANKS)
    return line[:end], value


def _unescaped(text: str, location: Location) -> str:
    def meant(found: re.Match[str]) -> str:
        escape = found[1]
        if escape == "u":
            message = "a `\\u` without four hexadecimal digits, which Java rejects"
            raise ConfigError(Finding("bad-escape", message, "write `\\\\` for a backslash", location))
        return chr(int(escape[1:], 16)) if len(escape) > 1 else _CONTROL.get(escape, escape)

    return _ESCAPED.sub(meant, text)


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}


def escaped(text: str, *, key: bool = False) -> str:
    """A value, or a name with `key`, as in ISO 8859-1 with `\\uXXXX` in UTF-16 units."""
    result = "".join(_ESCAPES.get(char) or (char if " " <= char <= "~" else _utf16(char)) for char in text)
    if key:
        return re.sub(r"([ :=#!])", r"\\\1", result)
    return f"\\{result}" if result.startswith(" ") else result


def _utf16(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


_TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/
    | "(?P<double>(?:\\.|[^"\\\n])*)" | '(?P<single>(?:\\.|[^'\\\n])*)'
    | (?P<word>[\w.$/-]+) | (?P<sign>[=;])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPE = re.compile(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_CONTROLS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True, slots=True)
class Login:
    """A login module's class name and its options."""

    module: str
    options: Mapping[str, str] = field(repr=False)


def parse_jaas(text: str) -> Login:
    """The entry of a JAAS line.

    Raises:
        ValueError: the line is invalid, or has several entries; the message does not contain the text.
    """
    match list(_tokens(text)):
        case [("word", module), ("word", _flag), *options, ("sign", ";")]:
            return Login(module, dict(_options(options)))
    raise ValueError("not a JAAS line of one entry")


def _options(tokens: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for index in range(0, len(tokens), 3):
        match tokens[index : index + 3]:
            case [("word" | "text", name), ("sign", "="), ("word" | "text", value)]:
                yield name, value
            case _:
                raise ValueError("not an option of a JAAS line")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise ValueError("not a token of a JAAS line")
        position = token.end()
        if token.lastgroup in ("double", "single"):
            yield "text", _ESCAPE.sub(_without_escape, token[token.lastgroup])
        elif token.lastgroup is not None:
            yield token.lastgroup, token[token.lastgroup]


def _without_escape(escape: re.Match[str]) -> str:
    escaped = escape[1]
    return chr(int(escaped, 8)) if escaped.isdigit() else _CONTROLS.get(escaped, escaped)
