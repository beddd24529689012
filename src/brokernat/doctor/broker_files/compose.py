"""Brokers in a Docker compose file: the environment variables that their images turn into settings; pure.

Values from other sources (the shell, `.env`, `env_file`, `extends`) are not read, because a report must not depend on
the user's shell. `docker compose config` writes a file with all values filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml.error import MarkedYAMLError, YAMLError

from brokernat.address.host import is_wildcard
from brokernat.config.document import parser
from brokernat.doctor.broker_files.listeners import setting_like
from brokernat.doctor.evidence import BrokerFile
from brokernat.errors import ConfigError, Finding, Location, read_all
from brokernat.text import listed

RESOLVE = "`docker compose config > resolved.yaml` fills in what compose takes from elsewhere: give that file"

_VARIABLE = re.compile(r"\$(?:(\$)|[A-Za-z_]\w*|\{[A-Za-z_]\w*(?::?-([^${}]*)|[^${}]*)?\})")
_RUNS = {1: ".", 2: "_", 3: "-"}
_MOST_PORTS = 1000
_PORT = re.compile(r"(?:(.*):)?(\d{1,5})(?:-(\d{1,5}))?:(\d{1,5})(?:-(\d{1,5}))?(?:/tcp)?", re.ASCII)
_NUMBER = re.compile(r"\d{1,5}", re.ASCII)
# Nested aliases in a small file can expand to more text than fits into memory.
_NESTED = (dict, list, set)
_WITHOUT_CFG = re.compile(r"(?:^|/)(?:apache/kafka|confluentinc/)")
_HOST = re.compile(r"://[^,]*?:(?=-?\d+(?:,|$))")


def parse_compose(text: str, source: str) -> tuple[BrokerFile, ...]:
    """A file for each service that sets something about listeners.

    Raises:
        ConfigError: it is not a compose file, or a setting depends on a variable without a default.
    """

    services = _services(text, source)
    published = {name: _published(service) for name, service in services.items()}

    def read(named: tuple[str, dict[str, Any]]) -> BrokerFile:
        name, service = named
        settings = tuple(_settings(service, f"service `{name}`", source))
        filled = settings + _of_the_image(service.get("image"), dict(settings))
        ports = published[name]
        return BrokerFile(
            f"{source} {name}",
            filled,
            None if ports is None else tuple((inside, outside) for inside, outside, _ in ports),
            tuple(address for _, _, address in ports or ()),
            tuple(map(str, _listed(service, "profiles"))),
            (name, *_names(service)),
            any(theirs != () for other, theirs in published.items() if other != name),
        )

    files = tuple(each for each in read_all(read, services.items()) if each.settings)
    images = {name: service.get("image") for name, service in services.items()}
    others = [f"`{name}`" for name, image in images.items() if isinstance(image, str) and "redpanda" in image]
    if others and not files:
        message = f"`{source}`: {listed(others)} is Redpanda, whose listeners stand in its command"
        hint = "give `doctor` a bootstrap server of the running cluster; `--advertise-kafka-addr` is what clients dial"
        raise ConfigError(Finding("no-broker", message, hint))
    return files


def _services(text: str, source: str) -> dict[str, dict[str, Any]]:
    try:
        document = parser("safe").load(text)
    except (YAMLError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # ruamel.yaml raises its own errors for some faults only: a key that is a list is a TypeError. Its messages may
        # quote the file, which may hold a password.
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
    image = service.get("image")
    ignores_cfg = isinstance(image, str) and _WITHOUT_CFG.search(image) is not None
    for variable, value in _environment(service.get("environment")):
        setting = _setting_of(variable, ignores_cfg=ignores_cfg)
        if setting is None or not setting_like(setting):
            continue
        text = _interpolated(value)
        if text is None:
            message = f"{where}: `{variable}` depends on a variable that has no default in the file"
            raise ConfigError(Finding("variable-unknown", message, RESOLVE, Location(source)))
        yield setting, text.strip()


def _environment(environment: object) -> Iterator[tuple[str, str]]:
    """Reads both forms; a variable without a value comes from the shell, like `${NAME}`."""
    if isinstance(environment, dict):
        for name, value in environment.items():
            if not isinstance(value, _NESTED):
                yield str(name), f"${{{name}}}" if value is None else str(value)
    elif isinstance(environment, list):
        for entry in (each for each in environment if not isinstance(each, _NESTED)):
            name, given, value = str(entry).partition("=")
            yield name, value if given else f"${{{name}}}"


def _setting_of(variable: str, *, ignores_cfg: bool) -> str | None:
    """The Kafka setting of a variable, None if it has none.

    The images of Apache and Confluent read `KAFKA_`, and for them `KAFKA_CFG_LISTENERS` is the unknown setting
    `cfg.listeners`; Bitnami's reads `KAFKA_CFG_`, and the former as aliases. One underscore is a dot, two are an
    underscore, three a dash (`KafkaDockerWrapper`, `getServerConfigsFromEnv`).
    """
    if not variable.startswith("KAFKA_"):
        return None
    rest = variable.removeprefix("KAFKA_")
    rest = (rest if ignores_cfg else rest.removeprefix("CFG_")).lower()
    return re.sub("_{1,3}", lambda run: _RUNS[len(run[0])], rest)


def _interpolated(text: str) -> str | None:
    """The text with the defaults of its variables, None if a default is missing."""
    unknown = False

    def filled(found: re.Match[str]) -> str:
        nonlocal unknown
        unknown |= found[1] is None and found[2] is None
        return "$" if found[1] else found[2] or ""

    result = _VARIABLE.sub(filled, text)
    return None if unknown or "${" in _VARIABLE.sub("", text) else result


def _of_the_image(image: object, settings: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Confluent's images bind every address on the advertised ports if `KAFKA_LISTENERS` is not set."""
    advertised = settings.get("advertised.listeners")
    if advertised is None or "listeners" in settings or not isinstance(image, str) or "confluentinc/" not in image:
        return ()
    return (("listeners", _HOST.sub("://0.0.0.0:", advertised)),)


def _listed(service: dict[str, Any], name: str) -> list[Any]:
    value = service.get(name)
    return value if isinstance(value, list) else []


def _names(service: dict[str, Any]) -> Iterator[str]:
    """What the service is called in Docker's networks, and its fixed addresses there."""
    yield from (str(service[name]) for name in ("hostname", "container_name") if name in service)
    networks = service.get("networks")
    for network in networks.values() if isinstance(networks, dict) else ():
        if isinstance(network, dict):
            yield from map(str, _listed(network, "aliases"))
            yield from (str(network[name]) for name in ("ipv4_address", "ipv6_address") if name in network)


def _published(service: dict[str, Any]) -> tuple[tuple[int, int, str], ...] | None:
    """As `_ports`; None in the host's own network, where nothing is published."""
    return None if service.get("network_mode") == "host" else tuple(_ports(service))


def _ports(service: dict[str, Any]) -> Iterator[tuple[int, int, str]]:
    """Container port, host port, the host's address (empty for all); ports that Docker chooses are left out."""
    for entry in _listed(service, "ports"):
        if isinstance(entry, dict):
            pair = [str(each) for name in ("target", "published") if isinstance(each := entry.get(name), (int, str))]
            if len(pair) == 2 and all(map(_NUMBER.fullmatch, pair)):
                yield int(pair[0]), int(pair[1]), _address(str(entry.get("host_ip", "")))
        elif isinstance(entry, (int, str)) and (parts := _PORT.fullmatch(_interpolated(str(entry)) or "")):
            first, last, inside = int(parts[2]), int(parts[3] or parts[2]), int(parts[4])
            at = _address(parts[1] or "")
            yield from ((inside + step, first + step, at) for step in range(min(last - first, _MOST_PORTS) + 1))


def _address(text: str) -> str:
    host = text.strip("[]")
    return "" if is_wildcard(host) else host
