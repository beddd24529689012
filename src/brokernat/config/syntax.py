"""The syntax of YAML, with the one trap of our own notation.

A rule that starts with `*` or `[` is an alias or a list to YAML, so without quotes it breaks the syntax, often far
from the cause. When the syntax is broken, such lines are looked for, named, quoted in a copy, and the rest is read
from that copy: one mistake does not hide the others. Other syntax errors end the reading, because everything behind
them is guesswork.

The words of ruamel.yaml may quote what they found (`undefined alias 'hunter2'` was a password), so quotes are left out.
"""

from __future__ import annotations

import re

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import Node
from ruamel.yaml.reader import ReaderError

from brokernat.errors import ConfigError, Finding, Location

_UNQUOTED_RULE = re.compile(r"^([ ]*-[ ]+)([*\[][^#'\"]*=[^#'\"]*?)([ ]*(?:[ ]#.*)?)$")
_QUOTED_IN_MESSAGE = re.compile(r"(found [^']*)'.*'")

_HINTS = {
    "cannot start any token": "put quotes around values that begin with `@`, `%`, `&`, `!`, `|`, `>` or a backtick; "
    "indent with blanks, not with tabs",
    "undefined alias": "put quotes around values that begin with `*`",
    "mapping values are not allowed": "put quotes around values that hold `: `, and look at the indentation",
    "another document": "the file is one document: remove the line `---`",
    "unknown escape character": "use single quotes, in which a backslash is only a backslash",
    "expected": "look at the indentation and at the brackets and quotes before this place",
}


def compose(text: str, source: str) -> tuple[Node | None, list[Finding]]:
    """The node tree (None for a text without content) and the problems that did not stop the reading.

    Raises:
        ConfigError: the syntax is broken beyond the rules that were not quoted.
    """
    try:
        return _compose(text, source), []
    except ConfigError as error:
        quoted, problems = _quote_rules(text, source)
        if not problems:
            raise
        try:
            return _compose(quoted, source), problems
        except ConfigError as again:
            raise ConfigError(*problems, *again.problems) from error


def _compose(text: str, source: str) -> Node | None:
    try:
        node: Node | None = YAML(typ="rt", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise ConfigError(_problem(error, text, source)) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        problem = Finding("yaml-character", "a character that YAML does not allow", location=Location(source, line))
        raise ConfigError(problem) from None
    except RecursionError:
        problem = Finding("yaml-depth", "lists or mappings are nested too deeply", location=Location(source))
        raise ConfigError(problem) from None
    return node


def _problem(error: MarkedYAMLError, text: str, source: str) -> Finding:
    mark = error.problem_mark or error.context_mark
    location = Location(source, mark.line + 1, mark.column + 1) if mark else Location(source)
    if (
        mark
        and text.splitlines()[mark.line : mark.line + 1]
        and text.splitlines()[mark.line][mark.column :][:1] == "\t"
    ):
        return Finding("yaml-tab", "a tab where YAML wants blanks", "indent with blanks", location)
    words = error.problem or error.context or "cannot be read"
    message = _QUOTED_IN_MESSAGE.sub(r"\1…", words)
    hint = next((hint for part, hint in _HINTS.items() if part in words), None)
    return Finding("yaml-syntax", f"not YAML: {message}", hint, location)


def _quote_rules(text: str, source: str) -> tuple[str, list[Finding]]:
    lines = text.split("\n")
    problems = []
    for number, line in enumerate(lines):
        found = _UNQUOTED_RULE.match(line.rstrip("\r"))
        if not found:
            continue
        dash, rule, rest = found.groups()
        lines[number] = f'{dash}"{rule}"{rest}'
        message = f"a rule that starts with `{rule[0]}` is read by YAML as {_MEANING[rule[0]]}"
        location = Location(source, number + 1, len(dash) + 1)
        problems.append(
            Finding("yaml-unquoted-rule", message, f'put quotes around the whole rule: - "{rule}"', location)
        )
    return "\n".join(lines), problems


_MEANING = {"*": "an alias", "[": "a list"}
