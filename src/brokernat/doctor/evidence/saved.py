"""Evidence as the file that `--save` writes, and back; what a file says is a stranger's word, so it is held against all
that the checks rely on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address

from brokernat.address import parse_rule
from brokernat.doctor.evidence.endpoint import EndpointProbe
from brokernat.doctor.evidence.run import VERSION, Evidence
from brokernat.errors import ConfigError, Problem

# The last key of the file, before whatever a later version has added.
_STATED = re.compile(r'^  "version": (\d{1,9}),?$', re.MULTILINE)


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


def _nonsense(evidence: Evidence) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What the probes never write and the checks rely on: its place, and what is wrong with it."""
    for number, rule in enumerate(evidence.rules or ()):
        try:
            parse_rule(rule)
        except ConfigError as error:
            yield ("rules", number), error.problems[0].message
    probes: list[tuple[tuple[str | int, ...], EndpointProbe | None]] = [
        *((("bootstraps", n), probe) for n, probe in enumerate(evidence.bootstraps)),
        *((("paths", n, "probe"), path.probe) for n, path in enumerate(evidence.paths)),
        *((("paths", n, "direct"), path.direct) for n, path in enumerate(evidence.paths)),
        *((("listeners", n, "probe"), each.probe) for n, each in enumerate(evidence.listeners)),
    ]
    for place, probe in probes:
        for number, address in enumerate(probe.addresses if probe is not None else ()):
            try:
                ip_address(address)
            except ValueError:
                yield (*place, "resolve", "addresses", number), "this is no address"


def _require_version(version: int, source: str) -> None:
    if version != VERSION:
        message = f"`{source}` holds evidence of version {version}; this brokernat reads version {VERSION}"
        hint = "probe again with `brokernat doctor --save FILE`, or read it with the brokernat that wrote it"
        raise ConfigError(Problem("evidence-version", message, hint))


def _no_evidence(source: str, place: tuple[str | int, ...], reason: str) -> ConfigError:
    hint = "give a file that `brokernat doctor --save FILE` wrote"
    detail = f"{'.'.join(map(str, place))}: {reason}" if place else reason
    return ConfigError(Problem("not-evidence", f"`{source}` holds no evidence", hint, details=(detail,)))
