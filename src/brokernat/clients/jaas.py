"""`sasl.jaas.config` read back: the user name and the password that libraries other than Java's want by themselves.

The line is what `config/kafka_properties.py` writes, or what people have copied from a Java client:
`MODULE FLAG name=value …;`. It is read as Kafka's JaasConfig reads it, by the rules of java.io.StreamTokenizer, so a
backslash in a password means the same here and there. The text is a secret: no message quotes any of it but the name of
the login module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field

from brokernat.clients.parts import Part
from brokernat.config.client_properties import LOGIN_MODULES
from brokernat.errors import Problem

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


def login_parts(properties: MutableMapping[str, Part]) -> Iterator[Part | Problem]:
    """Take `sasl.jaas.config` out of the properties: user name and password, or why there are none.

    As in the Java client, the line wins over `sasl.username` and `sasl.password`.
    """
    line = properties.pop("sasl.jaas.config", None)
    if line is None:
        return
    for name in ("sasl.username", "sasl.password"):
        properties.pop(name, None)
    try:
        login = parse_jaas(line.text)
    except ValueError:
        hint = 'Kafka wants `MODULE required username="…" password="…";`, or write `sasl.username` and `sasl.password`'
        yield Problem("login-module", "`sasl.jaas.config` cannot be read", hint)
        return
    if login.module not in LOGIN_MODULES.values():
        message = f"`sasl.jaas.config` names {login.module}, which no library but Java's has"
        yield Problem("login-module", message, f"user name and password serve {', '.join(LOGIN_MODULES)}")
        return
    for option in ("username", "password"):
        if option not in login.options:
            yield Problem("login-module", f"`sasl.jaas.config` has no `{option}`")
        else:
            yield Part(f"sasl.{option}", login.options[option], written="sasl.jaas.config", secret=True)


def parse_jaas(text: str) -> Login:
    """The one entry of a JAAS line.

    Raises:
        ValueError: it is none, or it holds more than one; without a word of the text.
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
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise ValueError("not a token of a JAAS line")
        place = found.end()
        if found.lastgroup in ("double", "single"):
            yield "text", _ESCAPE.sub(_unescaped, found[found.lastgroup])
        elif found.lastgroup is not None:
            yield found.lastgroup, found[found.lastgroup]


def _unescaped(found: re.Match[str]) -> str:
    escaped = found[1]
    return chr(int(escaped, 8)) if escaped.isdigit() else _CONTROLS.get(escaped, escaped)
