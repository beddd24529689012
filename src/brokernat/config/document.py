"""Parses YAML text to plain values, with the line and column of every key and value.

This module walks the node tree of ruamel.yaml (YAML 1.2: `on` and `yes` are text), not its round-trip objects: nodes
and keys have positions, and all duplicate keys can be reported, not only the first. Dates stay text.

YAML reads an unquoted rule that starts with `*` or `[` as an alias or a list, and may report the syntax error far from
the cause. After a syntax error, this module reports such lines, quotes them in a copy and parses the copy, so one
mistake does not hide the others. Parsing stops at any other syntax error.

Messages never contain a value of the file, because it may be a password. Messages of ruamel.yaml may (`undefined alias
'hunter2'` was a password), so their quoted parts are removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.composer import MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from brokernat.errors import ConfigError, Finding, Location

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"
Path: TypeAlias = "tuple[str | int, ...]"

# The time that ruamel.yaml takes grows with the square of the depth.
_DEEPEST = 100
_MAX_NODES = 100_000  # nested aliases can make a small file huge
_SCALARS: dict[str, Callable[[str], Value]] = {
    "null": lambda _: None,
    "bool": lambda text: text.lower() == "true",
    "int": lambda text: int(text.replace("_", ""), 0),
    "float": lambda text: float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan")),
}


@dataclass(slots=True)
class Document:
    """The data of a file (None if it is empty), the positions, and its YAML problems."""

    source: str
    data: Value = None
    problems: list[Finding] = field(default_factory=list)
    _keys: dict[Path, Location] = field(default_factory=dict)
    _values: dict[Path, Location] = field(default_factory=dict)

    def locate(self, path: Path, *, key: bool = False) -> Location:
        """The position of a value (of its key with `key`), or of the nearest parent that is in the file."""
        places = self._keys if key and path in self._keys else self._values
        near = path
        while near and near not in places:
            near = near[:-1]
        place = places.get(near, Location(self.source))
        return Location(self.source, place.line, place.column, path_text(path))

    def section(self, *path: str | int) -> dict[str, Value]:
        """The mapping at a path; empty if the file has none there."""
        value = self.data
        for step in path:
            value = value.get(step) if isinstance(value, dict) and isinstance(step, str) else None
        return value if isinstance(value, dict) else {}


def path_text(path: Path) -> str | None:
    """`clusters.hq.address_map[1]`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text.removeprefix(".")) or None


def parse_document(text: str, source: str) -> Document:
    """Read a YAML text.

    Raises:
        ConfigError: problems that stop parsing (syntax, recursion); other problems are in the result.
    """
    node, problems = compose(text, source)
    document = Document(source, problems=problems)
    if node is not None:
        try:
            document.data = _Builder(document).build(node, ())
        except ConfigError as error:
            raise ConfigError(*problems, *error.problems) from None
    return document


class _Builder:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._open: set[int] = set()
        self._count = 0

    def build(self, node: Node, path: Path) -> Value:
        place = self._place(node)
        self._document._values[path] = place  # noqa: SLF001
        self._count += 1
        if id(node) in self._open or self._count > _MAX_NODES:
            hint = "write the value out where it is used"
            raise ConfigError(Finding("yaml-alias", "a recursive alias, or too many aliases", hint, place))
        self._open.add(id(node))
        try:
            return self._build(node, path)
        finally:
            self._open.discard(id(node))

    def _build(self, node: Node, path: Path) -> Value:
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        assert isinstance(node, ScalarNode), "a node of an unknown kind"  # noqa: S101
        return self._scalar(node)

    def _scalar(self, node: ScalarNode) -> Value:
        convert = _SCALARS.get(str(node.tag).rpartition(":")[2], str)
        try:
            return convert(node.value)
        except ValueError:
            return str(node.value)

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Value]:
        result: dict[str, Value] = {}
        merged: list[Node] = []
        for key_node, value_node in node.value:
            if str(key_node.tag).endswith(":merge"):
                merged.append(value_node)
                continue
            key = self._key(key_node, path)
            place = self._place(key_node)
            if key in result:
                first = self._document._keys[*path, key].line  # noqa: SLF001
                self._report(
                    "yaml-duplicate-key", f"`{key}` is given twice, first on line {first}", key_node, (*path, key)
                )
                continue
            self._document._keys[*path, key] = place  # noqa: SLF001
            result[key] = self.build(value_node, (*path, key))
            if result[key] is None:  # YAML reports an absent value behind the next line
                self._document._values[*path, key] = place  # noqa: SLF001
        for value_node in merged:
            self._merge(value_node, path, result)
        return result

    def _merge(self, node: Node, path: Path, result: dict[str, Value]) -> None:
        for source in node.value if isinstance(node, SequenceNode) else [node]:
            if not isinstance(source, MappingNode):
                self._report("yaml-merge", "`<<` takes a mapping, or a list of mappings", source, path)
                continue
            for key_node, value_node in source.value:
                key = self._key(key_node, path)
                if key not in result:
                    self._document._keys[*path, key] = self._place(key_node)  # noqa: SLF001
                    result[key] = self.build(value_node, (*path, key))

    def _key(self, node: Node, path: Path) -> str:
        if isinstance(node, ScalarNode):
            return str(node.value)
        self._report("yaml-key", "a key is text, not a list or a mapping", node, path)
        return ""

    def _report(self, kind: str, message: str, node: Node, path: Path) -> None:
        place = self._place(node)
        location = Location(place.source, place.line, place.column, path_text(path))
        self._document.problems.append(Finding(kind, message, location=location))

    def _place(self, node: Node) -> Location:
        return Location(self._document.source, node.start_mark.line + 1, node.start_mark.column + 1)


_UNQUOTED_RULE = re.compile(r"^([ ]*-[ ]+)([*\[][^#'\"]*=[^#'\"]*?)([ ]*(?:[ ]#.*)?)$")
_QUOTED_IN_MESSAGE = re.compile(r"(found [^']*)'.*'")

_HINTS = {
    "cannot start any token": "put quotes around values that begin with `@`, `%`, `&`, `!`, `|`, `>` or a backtick; "
    "indent with blanks, not with tabs",
    "undefined alias": "put quotes around values that begin with `*`",
    "mapping values are not allowed": "put quotes around values that contain `: `, and check the indentation",
    "another document": "the file is one document: remove the line `---`",
    "unknown escape character": "use single quotes, where a backslash needs no escape",
    "expected": "check the indentation, brackets and quotes before this position",
}


def compose(text: str, source: str) -> tuple[Node | None, list[Finding]]:
    """The node tree (None for a text without content) and the problems that did not stop parsing.

    Raises:
        ConfigError: a syntax error that quoting rules does not fix.
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


def parser(typ: Literal["rt", "safe"]) -> YAML:
    """A parser of YAML that refuses lists and mappings that are nested too deeply (`MaxDepthExceededError`)."""
    yaml = YAML(typ=typ, pure=True)
    yaml.max_depth = _DEEPEST
    return yaml


def _compose(text: str, source: str) -> Node | None:
    try:
        node: Node | None = parser("rt").compose(text)
    except MaxDepthExceededError:
        problem = Finding("yaml-depth", "lists or mappings are nested too deeply", location=Location(source))
        raise ConfigError(problem) from None
    except MarkedYAMLError as error:
        raise ConfigError(_problem(error, text, source)) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        problem = Finding("yaml-character", "a character that YAML does not allow", location=Location(source, line))
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
        return Finding("yaml-tab", "a tab where YAML requires spaces", "indent with blanks", location)
    words = error.problem or error.context or "cannot be read"
    if words.startswith("but ") and error.context:
        words = f"{error.context}, {words}"
    message = _QUOTED_IN_MESSAGE.sub(r"\1…", words)
    hint = _without_blank(text, location) or next((hint for part, hint in _HINTS.items() if part in words), None)
    return Finding("yaml-syntax", f"not YAML: {message}", hint, location)


_NO_BLANK = re.compile(r"[ ]*(?:-[ ]+)?[A-Za-z_][\w.]*:[^\s/:]", re.ASCII)


def _without_blank(text: str, location: Location) -> str | None:
    """The hint if the last line before the error, or its own, has a key without a blank after its colon."""
    lines = [(number, line) for number, line in enumerate(text.splitlines()[: location.line], 1) if line.strip()]
    number = next((number for number, line in lines[:-3:-1] if _NO_BLANK.match(line)), None)
    return None if number is None else f"put a blank after the colon of line {number}"


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
