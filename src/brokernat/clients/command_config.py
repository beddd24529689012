"""Kafka's client properties file, the `--command-config client.properties` of its tools.

It is parsed as by the tools (`Utils.loadProps`): Java's syntax, trimmed values, and the last value of a repeated name.
Only properties for connecting are kept (`_KEPT`), because probes send and receive no records. Messages contain only
names and lines of the file, because any value may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from brokernat.address import Endpoint
from brokernat.config.client_properties import (
    LOGIN_NAMES,
    NAMES,
    instead_of,
    is_secret,
    login_faults,
    require_valid,
    security_protocol,
)
from brokernat.config.java_properties import Property, parse_properties
from brokernat.config.secrets import Secret
from brokernat.errors import ConfigError, Finding, Location, Severity, read_all
from brokernat.paths import reading

_KEPT = re.compile(r"(?:security|sasl|ssl)\..+|client\.dns\.lookup|bootstrap\.servers")
_LARGEST = 1 << 20
# Since Kafka 2.4 an entry may name a protocol, which Kafka ignores (`Utils.HOST_PORT_PATTERN`).
_PROTOCOL = re.compile(r"\s*[0-9a-zA-Z\-%._]*://")
_PROVIDER_VALUE = re.compile(r"\$\{[^}]*?:[^}]*\}")

_OF_YAML = (
    "write the client's Kafka properties into such a file, under Kafka's names (of a Spring application "
    "`spring.kafka.security.protocol` as `security.protocol`, and what is below `spring.kafka.properties`)"
)


@dataclass(frozen=True, slots=True)
class CommandConfig:
    """A valid file.

    `bootstrap_servers` is empty if the file has none. `warnings` are about names that Kafka does not know, which have
    no effect, and values that Java reads without a backslash; each has its line.
    """

    bootstrap_servers: tuple[Endpoint, ...]
    client: Mapping[str, str | Secret]
    warnings: tuple[Finding, ...]


def read_command_config(path: Path) -> CommandConfig:
    """The file as the `client` of a cluster.

    Raises:
        ConfigError: the file cannot be read, or has problems; names all of them with their lines.
    """
    if path.suffix in (".yml", ".yaml"):
        message = f"`{path}` is a YAML file; `--command-config` reads Kafka's own, with a line `name=value` each"
        raise ConfigError(Finding("not-properties", message, _OF_YAML))
    with reading(path, moved_by="`--command-config FILE`"), path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ConfigError(
            Finding("file-unreadable", f"`{path}` is larger than 1 MiB, so it is not a file of client properties")
        )
    # `Properties.load` reads bytes as ISO 8859-1.
    return parse_command_config(data.decode("latin-1"), str(path))


def parse_command_config(text: str, source: str) -> CommandConfig:
    """`read_command_config` for the text of a file; `source` is its name in messages."""
    properties = {each.name: each for each in parse_properties(text, source)}
    locations = {name: Location(source, each.line) for name, each in properties.items()}
    problems: list[Finding] = []
    servers: list[Endpoint] = []
    client: dict[str, str | Secret] = {}
    kept = {name: each.value.strip() for name, each in properties.items() if _is_kept(name)}
    for name, value in kept.items():
        try:
            if "config.providers" in properties and _PROVIDER_VALUE.search(value):
                raise _provider_error(name)
            if name == "bootstrap.servers":
                servers = _servers(value)
            else:
                client[name] = _setting(name, value)
        except ConfigError as error:
            problems += (problem.at(locations[name]) for problem in error.problems)
    problems += (fault.problem.at(locations[str(fault.below[0])]) for fault in login_faults(properties, client))
    warnings = (
        *_unknown(properties, source),
        *_dropped_backslashes(kept, properties, source),
        *(() if "config.providers" in properties else _literal_references(kept, locations)),
    )
    if problems:
        raise ConfigError(*sorted((*problems, *warnings), key=lambda problem: problem.location.line or 0))
    return CommandConfig(tuple(servers), MappingProxyType(client), warnings)


def _is_kept(name: str) -> bool:
    return name in LOGIN_NAMES or (name in NAMES and _KEPT.fullmatch(name) is not None)


def _setting(name: str, value: str) -> str | Secret:
    if name == "security.protocol":
        return security_protocol(value)
    require_valid(name, value)
    return Secret(value) if is_secret(name) else value


def _servers(text: str) -> list[Endpoint]:
    entries = filter(str.strip, text.split(","))
    return read_all(lambda entry: Endpoint.parse(_PROTOCOL.sub("", entry).strip()), entries)


def _provider_error(name: str) -> ConfigError:
    message = f"`{name}` comes from a config provider, which only a Java client can run"
    hint = "write the cluster in `brokernat.yaml`, with `${env:NAME}` or `${file:PATH}` for the value"
    return ConfigError(Finding("config-provider", message, hint))


def _unknown(properties: Mapping[str, Property], source: str) -> Iterator[Finding]:
    for name, each in properties.items():
        if name not in NAMES | LOGIN_NAMES and not name.startswith("config.providers."):
            message = f"Kafka has no property `{name}`, it is ignored"
            hint, location = instead_of(name), Location(source, each.line)
            yield Finding("unknown-property", message, hint, location, severity=Severity.WARNING)


def _literal_references(kept: Mapping[str, str], locations: Mapping[str, Location]) -> Iterator[Finding]:
    for name, value in kept.items():
        if _PROVIDER_VALUE.search(value):
            message = f"`{name}` has a `${{…}}`, which Kafka's tools do not replace without `config.providers`"
            hint = "write the value itself, or the cluster in `brokernat.yaml`, which takes `${env:NAME}`"
            yield Finding("literal-reference", message, hint, locations[name], severity=Severity.WARNING)


def _dropped_backslashes(kept: Iterable[str], properties: Mapping[str, Property], source: str) -> Iterator[Finding]:
    for name in kept:
        if properties[name].drops_backslash:
            message = f"`{name}` has a backslash that Java does not read: it begins an escape in a properties file"
            location = Location(source, properties[name].line)
            yield Finding("bad-escape", message, "write `\\\\` for a backslash", location, severity=Severity.WARNING)
