"""Brokers in a Docker compose file: the variables that their images turn into settings; pure.

What compose takes from elsewhere (the shell, `.env`, `env_file`, `extends`) is not looked for: a report must not depend
on the shell it was made in. `docker compose config` writes a file in which all of it is filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from brokernat.doctor.broker_files.listeners import about_listeners
from brokernat.doctor.evidence import BrokerFile
from brokernat.errors import ConfigError, Finding, Location

RESOLVE = "`docker compose config > resolved.yaml` fills in what compose takes from elsewhere: give that file"

_VARIABLE = re.compile(r"\$(?:(\$)|[A-Za-z_]\w*|\{[A-Za-z_]\w*(?::?-([^${}]*)|[^${}]*)?\})")
_PREFIXES = ("KAFKA_CFG_", "KAFKA_")
_RUNS = {1: ".", 2: "_", 3: "-"}
_MOST_PORTS = 1000
_PORT = re.compile(r"(?:.*:)?(\d{1,5})(?:-(\d{1,5}))?:(\d{1,5})(?:-(\d{1,5}))?(?:/tcp)?", re.ASCII)
_NUMBER = re.compile(r"\d{1,5}", re.ASCII)
# Aliases of aliases in a small file are a text that no memory holds.
_NESTED = (dict, list, set)
_HOST = re.compile(r"://[^,]*?:(?=-?\d+(?:,|$))")


def parse_compose(text: str, source: str) -> tuple[BrokerFile, ...]:
    """A file for each service that sets something about listeners.

    Raises:
        ConfigError: it is no compose file, or a setting depends on a variable without a default.
    """
    services = _services(text, source)
    found: list[BrokerFile] = []
    problems: list[Finding] = []
    for name, service in services.items():
        try:
            settings = about_listeners(_settings(service, f"service `{name}`", source))
        except ConfigError as error:
            problems += error.problems
            continue
        if settings:
            filled = settings + _of_the_image(service.get("image"), dict(settings))
            found.append(BrokerFile(f"{source} {name}", filled, _published(service)))
    if problems:
        raise ConfigError(*problems)
    return tuple(found)


def _services(text: str, source: str) -> dict[str, dict[str, Any]]:
    try:
        document = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # ruamel.yaml has errors of its own for some faults only: a key that is a list is a TypeError. Its words may
        # quote what it found, which may be a password.
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        location = Location(source) if mark is None else Location(source, mark.line + 1, mark.column + 1)
        hint = "`docker compose config` names what is wrong; a name of a service or of a setting is plain text"
        raise ConfigError(Finding("yaml-syntax", "it is no YAML that compose could read", hint, location)) from None
    services = document.get("services") if isinstance(document, dict) else None
    if not isinstance(services, dict):
        hint = "give a compose file, or a broker's server.properties (whose name does not end in .yml or .yaml)"
        raise ConfigError(Finding("not-compose", f"`{source}` has no `services`", hint))
    return {str(name): service for name, service in services.items() if isinstance(service, dict)}


def _settings(service: dict[str, Any], where: str, source: str) -> Iterator[tuple[str, str]]:
    for variable, value in _environment(service.get("environment")):
        setting = _setting_of(variable)
        if setting is None or not about_listeners([(setting, "")]):
            continue
        text = _interpolated(value)
        if text is None:
            message = f"{where}: `{variable}` depends on a variable that has no default in the file"
            raise ConfigError(Finding("variable-unknown", message, RESOLVE, Location(source)))
        yield setting, text


def _environment(environment: object) -> Iterator[tuple[str, str]]:
    """Both forms; a variable without a value is handed on from the shell, like `${NAME}`."""
    if isinstance(environment, dict):
        for name, value in environment.items():
            if not isinstance(value, _NESTED):
                yield str(name), f"${{{name}}}" if value is None else str(value)
    elif isinstance(environment, list):
        for entry in (each for each in environment if not isinstance(each, _NESTED)):
            name, given, value = str(entry).partition("=")
            yield name, value if given else f"${{{name}}}"


def _setting_of(variable: str) -> str | None:
    """The setting that a variable sets, None where it is none of Kafka's.

    The images of Apache and Confluent take `KAFKA_`, Bitnami's takes `KAFKA_CFG_`. One underline is a dot, two are an
    underline, three a dash (`KafkaDockerWrapper`, `getServerConfigsFromEnv`).
    """
    for prefix in _PREFIXES:
        if variable.startswith(prefix):
            rest = variable.removeprefix(prefix).lower()
            return re.sub("_{1,3}", lambda run: _RUNS[len(run[0])], rest)
    return None


def _interpolated(text: str) -> str | None:
    """The text with its defaults, None where one is missing."""
    unknown = False

    def filled(found: re.Match[str]) -> str:
        nonlocal unknown
        unknown |= found[1] is None and found[2] is None
        return "$" if found[1] else found[2] or ""

    result = _VARIABLE.sub(filled, text)
    return None if unknown or "${" in _VARIABLE.sub("", text) else result


def _of_the_image(image: object, settings: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Confluent's images bind every address on the advertised ports where no `KAFKA_LISTENERS` is set."""
    if (
        isinstance(image, str)
        and "confluentinc/" in image
        and "listeners" not in settings
        and "advertised.listeners" in settings
    ):
        return (("listeners", _HOST.sub("://0.0.0.0:", settings["advertised.listeners"])),)
    return ()


def _published(service: dict[str, Any]) -> tuple[tuple[int, int], ...] | None:
    """None where the container has the host's own network."""
    if service.get("network_mode") == "host":
        return None
    ports = service.get("ports")
    return tuple(pair for entry in (ports if isinstance(ports, list) else ()) for pair in _pairs(entry))


def _pairs(entry: object) -> Iterator[tuple[int, int]]:
    """The container's port and the host's; ports that Docker chooses are left out."""
    if isinstance(entry, dict):
        pair = [str(each) for name in ("target", "published") if isinstance(each := entry.get(name), (int, str))]
        if len(pair) == 2 and all(map(_NUMBER.fullmatch, pair)):
            yield int(pair[0]), int(pair[1])
    elif isinstance(entry, (int, str)) and (parts := _PORT.fullmatch(_interpolated(str(entry)) or "")):
        first, last, inside = int(parts[1]), int(parts[2] or parts[1]), int(parts[3])
        yield from ((inside + step, first + step) for step in range(min(last - first, _MOST_PORTS) + 1))
