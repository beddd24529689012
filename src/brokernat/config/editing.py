"""Writes a proven map into the text of `brokernat.yaml` or a rules file, and changes nothing else.

A YAML writer would change blanks and line breaks, so the text is edited at the positions of the node tree. If that is
not possible (an alias, a cluster in braces), an error names the reason, and the caller prints the lines to paste. The
result is parsed again: if the map does not have the proven targets, or any other value changed, nothing is returned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brokernat.address import AddressMap, Endpoint, parse_rule
from brokernat.address.notation import split_rules
from brokernat.config.document import compose, parse_document
from brokernat.config.merging import Form, ProvenRule, Standing, leads, merge
from brokernat.errors import ConfigError, Finding

_INDENT = "  "
_BOM = "\ufeff"
_MAPS = ("address_map", "broker_nat")
_LINE_ENDS = re.compile(r"\r\n|\r|\n")


def with_address_map(text: str, cluster: str, proven: Sequence[ProvenRule], source: str) -> str:
    """The text of a `brokernat.yaml` with the rules in the map of a cluster.

    Args:
        text: a valid file.
        proven: at least one rule.

    Raises:
        ConfigError: the cluster does not exist, or its map cannot be edited in place.
    """
    if text.startswith(_BOM):
        return _BOM + with_address_map(text.removeprefix(_BOM), cluster, proven, source)
    edited = _edited(text, cluster, proven, source)
    before, after = parse_document(text, source), parse_document(edited, source)
    rules = [parse_rule(str(rule)) for rule in _map_of(after.data, cluster) or ()]
    if after.problems or _without_map(before.data, cluster) != _without_map(after.data, cluster):
        raise _refusal(source, cluster, "the edit would change something else")
    if not leads(rules, proven):
        raise _refusal(source, cluster, "the present rules would get other targets")
    return edited


def with_rules(text: str, proven: Sequence[ProvenRule]) -> str:
    """The text of a rules file with the rules; the text may be empty.

    Raises:
        ConfigError: it contains something other than rules.
    """
    if text.startswith(_BOM):
        return _BOM + with_rules(text.removeprefix(_BOM), proven)
    AddressMap.parse(text)
    line_end = _line_end(text)
    form = Form("", str, line_end)
    starts = [0, *(found.end() for found in _LINE_ENDS.finditer(text))]
    standing = [
        Standing(parse_rule(each.text), place, place + len(each.text))
        for each in split_rules(text)
        for place in [starts[(each.location.line or 1) - 1] + (each.location.column or 1) - 1]
    ]
    if standing:
        return merge(text, standing, proven, form)
    if text and not text.endswith("\n"):
        text += line_end
    return text + "".join(form.line(new) + line_end for new in proven)


def address_map_lines(proven: Sequence[ProvenRule], indent: str = "") -> list[str]:
    """`address_map:` and its rules as lines of the file."""
    return [f"{indent}address_map:", *map(_form(indent + _INDENT, "\n").line, proven)]


@dataclass(frozen=True, slots=True)
class _Place:
    """The position of a key of the cluster's section and of its value."""

    text: str
    key: Node
    value: Node
    source: str
    cluster: str

    @property
    def line_end(self) -> str:
        return _line_end(self.text)

    @property
    def form(self) -> Form:
        """The form of rules below a key in this column."""
        return _form(" " * self.key.start_mark.column + _INDENT, self.line_end)

    def lines(self, bodies: Iterable[str]) -> str:
        return "".join(self.line_end + body for body in bodies)

    def refusal(self, reason: str) -> ConfigError:
        return _refusal(self.source, self.cluster, reason)


def _edited(text: str, cluster: str, proven: Sequence[ProvenRule], source: str) -> str:
    section = _section(text, cluster, source)
    entries = {str(key.value): (key, value) for key, value in section.value if isinstance(key, ScalarNode)}
    name = next((name for name in _WAYS if name in entries), None)
    if name is None:
        raise _refusal(source, cluster, "its `bootstrap_servers` are written elsewhere")
    place = _Place(text, *entries[name], source, cluster)
    if place.value.start_mark.index < place.key.end_mark.index or place.value.anchor is not None:
        raise place.refusal(f"`{name}` has an anchor or is an alias")
    return _WAYS[name](place, proven)


def _into_the_map(place: _Place, proven: Sequence[ProvenRule]) -> str:
    text, value = place.text, place.value
    start, end = value.start_mark.index, value.end_mark.index
    if not isinstance(value, SequenceNode) or not value.value:
        return _behind(text, start, end, place.lines(map(place.form.line, proven)))
    if not value.flow_style:
        form = _form(" " * _dash(text, value), place.line_end)
        return merge(text, [_standing(item) for item in value.value], proven, form)
    if "#" in text[start:end]:
        raise place.refusal("`address_map` holds comments between brackets")
    bodies = [place.form.lead + place.form.body(parse_rule(item.value)) for item in value.value]
    return _edited(_behind(text, start, end, place.lines(bodies)), place.cluster, proven, place.source)


def _instead_of_pairs(place: _Place, proven: Sequence[ProvenRule]) -> str:
    start, end = place.value.start_mark.index, _last(place.value)
    if "#" in place.text[start:end]:
        raise place.refusal("`broker_nat` holds comments")
    text = _behind(place.text, start, end, place.lines(map(place.form.line, proven)))
    return text[: place.key.start_mark.index] + "address_map" + text[place.key.end_mark.index :]


def _behind_the_servers(place: _Place, proven: Sequence[ProvenRule]) -> str:
    if any(parse_document(place.text, place.source).section("clusters", place.cluster).get(key) for key in _MAPS):
        # An `address_map` here would hide all rules of the merged one.
        raise place.refusal("its rules are merged with `<<`")
    end = _last(place.value)
    lines = address_map_lines(proven, " " * place.key.start_mark.column)
    return _behind(place.text, end, end, place.lines(lines))


_WAYS: dict[str, Callable[[_Place, Sequence[ProvenRule]], str]] = {
    "address_map": _into_the_map,
    "broker_nat": _instead_of_pairs,
    "bootstrap_servers": _behind_the_servers,
}
"""The editor for each key; the first key that the section has is used."""


def _section(text: str, cluster: str, source: str) -> MappingNode:
    node: Node | None = compose(text, source)[0]
    for name in ("clusters", cluster):
        found = node.value if isinstance(node, MappingNode) else []
        key, node = next(((key, value) for key, value in found if key.value == name), (None, None))
        if key is None:
            hint = "write one of the names below `clusters:`, or add a section"
            raise ConfigError(Finding("unknown-cluster", f"there is no cluster `{cluster}` in `{source}`", hint))
        if not isinstance(node, MappingNode) or node.flow_style or node.start_mark.index < key.end_mark.index:
            raise _refusal(source, cluster, f"`{name}` is not a mapping with one line per key")
    assert isinstance(node, MappingNode)  # noqa: S101
    return node


def _standing(item: Node) -> Standing:
    return Standing(parse_rule(item.value), item.start_mark.index, item.end_mark.index)


def _behind(text: str, start: int, end: int, lines: str) -> str:
    """The text without `start` to `end`, and with new lines after that line."""
    kept = text[:start].rstrip() if start != end else text[:start]
    rest = text[end:]
    position = rest.find("\n")
    position = len(rest) if position < 0 else position
    position -= rest[position - 1 : position] == "\r"
    return kept + rest[:position] + lines + rest[position:]


def _form(indent: str, line_end: str) -> Form:
    # YAML parses these as an alias and a list.
    return Form(f"{indent}- ", lambda rule: f'"{rule}"' if rule[0] in "*[" else rule, line_end)


def _dash(text: str, value: SequenceNode) -> int:
    """The column of the dashes."""
    first = value.value[0].start_mark
    line = text[first.index - first.column : first.index]
    return line.rindex("-")


def _last(node: Node) -> int:
    """The end of the last text of a node; the end mark of a list is the start of the next node."""
    if isinstance(node, SequenceNode) and node.value and not node.flow_style:
        return _last(node.value[-1])
    return int(node.end_mark.index)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _map_of(data: Any, cluster: str) -> list[Any] | None:
    return data["clusters"][cluster].get("address_map") if isinstance(data, dict) else None


def _without_map(data: Any, cluster: str) -> Any:
    clusters = dict(data["clusters"])
    clusters[cluster] = {k: v for k, v in clusters[cluster].items() if k not in _MAPS}
    return {**data, "clusters": clusters}


def _refusal(source: str, cluster: str, reason: str) -> ConfigError:
    hint = "paste the printed lines, or write the cluster like `brokernat init`, with one line per key"
    message = f"the map of `{cluster}` in `{source}` cannot be edited in place: {reason}"
    return ConfigError(Finding("not-editable", message, hint))


CLUSTER = "hq"
"""The cluster's name in the file."""

_SERVERS = re.compile(r"(?m)^    bootstrap_servers: .*$")
_RULES = re.compile(r"(?m)^    address_map:\n(?:      - .*\n)+")
_CLIENT = re.compile(r"(?m)^    # client:\n(?:    #   .*\n)+")
_OTHER_CLUSTER = re.compile(r"(?m)^  local:\n    bootstrap")
# Text that is a plain string in every version of YAML.
_PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z/][A-Za-z0-9_./-]*", re.IGNORECASE)


def starter_file() -> str:
    """A commented file with example clusters."""
    return files("brokernat.config").joinpath("starter.yaml").read_text("utf-8")


def first_file(servers: Sequence[Endpoint], client: Mapping[str, str], proven: Sequence[ProvenRule]) -> str:
    """The same file with one cluster in it, named `CLUSTER`.

    Args:
        servers: its bootstrap servers.
        client: its client properties as written in the file, with `${env:NAME}` for secrets.
        proven: at least one rule.
    """
    text = _SERVERS.sub(lambda _: f"    bootstrap_servers: {','.join(map(str, servers))}", starter_file(), count=1)
    rules = "".join(f"{line}\n" for line in address_map_lines(proven, "    "))
    text = _RULES.sub(lambda _: rules, text)
    text = _OTHER_CLUSTER.sub("  # local:\n  #   bootstrap", text)
    if client:
        lines = "".join(f"      {name}: {_scalar(value)}\n" for name, value in client.items())
        text = _CLIENT.sub(lambda _: f"    client:\n{lines}", text)
    return text


def _scalar(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
