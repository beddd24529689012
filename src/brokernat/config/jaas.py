"""Parses a JAAS line, the value of `sasl.jaas.config`: `MODULE FLAG name=value …;`.

It is parsed like Kafka's JaasConfig, by the rules of java.io.StreamTokenizer, so a backslash in a password has the same
meaning. The text is a secret: no message contains it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

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
            yield "text", _ESCAPE.sub(_unescaped, token[token.lastgroup])
        elif token.lastgroup is not None:
            yield token.lastgroup, token[token.lastgroup]


def _unescaped(escape: re.Match[str]) -> str:
    escaped = escape[1]
    return chr(int(escaped, 8)) if escaped.isdigit() else _CONTROLS.get(escaped, escaped)
