"""Evidence as the file that `--save` writes, and back; what a file says is a stranger's word, so it is held against all
that the checks rely on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from ipaddress import ip_address

from brokernat.address import Endpoint, parse_rule
from brokernat.doctor.evidence.endpoint import EndpointProbe
from brokernat.doctor.evidence.run import VERSION, BrokerPath, Evidence
from brokernat.doctor.evidence.stages import NameLookup
from brokernat.errors import ConfigError, Finding

# The last key of the file, before whatever a later version has added.
_STATED = re.compile(r'^  "version": (\d{1,9}),?$', re.MULTILINE)

FieldPath = tuple[str | int, ...]
"""The names of fields and the numbers of entries that lead to a value."""


def to_json(evidence: Evidence) -> str:
    """The file that `--save` writes."""
    from pydantic import TypeAdapter

    return TypeAdapter(Evidence).dump_json(evidence, indent=2).decode() + "\n"


def from_json(text: str, source: str) -> Evidence:
    """The evidence of a file.

    Raises:
        ConfigError: it holds none, or that of another version.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        evidence = TypeAdapter(Evidence).validate_json(text)
    except ValidationError as error:
        # A later version may have values that this one does not know: then its number says more than its first one.
        stated = _STATED.search(text)
        _require_version(int(stated[1]) if stated else VERSION, source)
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise _no_evidence(source, first["loc"], first["msg"]) from None
    _require_version(evidence.version, source)
    for place, reason in _nonsense(evidence):
        raise _no_evidence(source, place, reason)
    return evidence


def _nonsense(value: object, place: FieldPath = ()) -> Iterator[tuple[FieldPath, str]]:
    """What the probes never write and the checks rely on: its place, and what is wrong with it."""
    texts: list[tuple[FieldPath, str, Callable[[str], object]]] = []
    match value:
        case tuple():
            for number, each in enumerate(value):
                yield from _nonsense(each, (*place, number))
            return
        case Evidence(rules=rules):
            texts = [(("rules", number), rule, parse_rule) for number, rule in enumerate(rules or ())]
        case BrokerPath(rule=str(rule)):
            texts = [(("rule",), rule, parse_rule)]
        case EndpointProbe(endpoint=endpoint, rule=rule):
            texts = [(("endpoint",), endpoint, Endpoint.parse), *([(("rule",), rule, parse_rule)] if rule else [])]
        case NameLookup(addresses=addresses):
            texts = [(("addresses", number), address, ip_address) for number, address in enumerate(addresses)]
    for within, text, parse in texts:
        try:
            parse(text)
        except ConfigError as error:
            yield (*place, *within), error.problems[0].message
        except ValueError:
            yield (*place, *within), "this is no address"
    if is_dataclass(value):
        for field in fields(value):
            yield from _nonsense(getattr(value, field.name), (*place, field.name))


def _require_version(version: int, source: str) -> None:
    if version != VERSION:
        message = f"`{source}` holds evidence of version {version}; this brokernat reads version {VERSION}"
        hint = "probe again with `brokernat doctor --save FILE`, or read it with the brokernat that wrote it"
        raise ConfigError(Finding("evidence-version", message, hint))


def _no_evidence(source: str, place: FieldPath, reason: str) -> ConfigError:
    hint = "give a file that `brokernat doctor --save FILE` wrote"
    detail = f"{'.'.join(map(str, place))}: {reason}" if place else reason
    return ConfigError(Finding("not-evidence", f"`{source}` holds no evidence", hint, details=(detail,)))
