"""The services of a compose file as compose merges them; pure.

`extends`, `env_file`, `.env` and override files are parts of the project and are read; values from the shell are not,
because a report must not depend on the user's shell. `docker compose config` writes a file with all values filled in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from brokernat.config.document import parser
from brokernat.errors import ConfigError, Finding, Location

RESOLVE = "`docker compose config > resolved.yaml` fills in what compose takes from elsewhere: give that file"

Service = dict[str, Any]
"""Its `environment` is a list of pairs, which may name a variable twice."""
Beside = Callable[[str], str | None]
"""The text of a file that a compose file names, relative to it; None if it cannot be read."""

_NESTED = (dict, list, set)
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-+?])([^${}]*))?\})")
_OF_ENV_FILE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*?)\s*")
_OF_OVERRIDES = re.compile(r":[ \t]+!(?:override|reset)\b")
"""The tags of compose in an override file."""
_MOST_FILES = 20
_MOST_VARIABLES = 100
"""More in one value would be for no broker; nested ones take quadratic time."""
_OF_A_CONTAINER = frozenset({"ports", "hostname", "container_name"})
"""A service that others extend and that has none of these is a template."""


def services_of(text: str, source: str, beside: Beside) -> dict[str, Service]:
    """The services, each with what it extends; `environment` has the variables of `env_file` too.

    Raises:
        ConfigError: it is not a compose file, or a file that it names cannot be read.
    """
    raw = _raw_services(text, source)
    bases = [_extends(service) for service in raw.values() if "extends" in service]
    extended = {"".join(texts(base.get("service"))) for base in bases if "file" not in base}
    templates = {name for name in extended & raw.keys() if not raw[name].keys() & _OF_A_CONTAINER}
    return {name: _complete(name, raw, source, beside, 0) for name in raw if name not in templates}


def overrides(text: str, source: str) -> bool:
    """Whether it is a file that compose merges into another one: no service says from what it is made."""
    services = _raw_services(text, source)
    return bool(services) and not any(
        key in service for service in services.values() for key in ("image", "build", "extends")
    )


def merged(services: Mapping[str, Service], over: Mapping[str, Service]) -> dict[str, Service]:
    """The services of a file with those of an override file."""
    return {name: _merged(services.get(name, {}), over.get(name, {})) for name in dict.fromkeys((*services, *over))}


def variables_of(text: str, *, unquote: bool = True) -> dict[str, str]:
    """The variables of a `.env` file or of an `env_file`; `docker run --env-file` does not `unquote` their values."""
    found = (_OF_ENV_FILE.fullmatch(line) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {each[1]: _unquoted(each[2]) if unquote else each[2] for each in found if each}


def undefined(text: str, variables: Mapping[str, str]) -> list[str]:
    """The variables of a text that have neither a value nor a default."""
    found = (each for each in _VARIABLE.finditer(text) if not each[3] or each[3].endswith("?"))
    return [name for name in dict.fromkeys(each[1] or each[2] for each in found) if name not in variables]


def interpolated(text: str, variables: Mapping[str, str]) -> str | None:
    """The text with its variables or their defaults, from the inner to the outer; None if one has neither."""
    if text.count("$") > _MOST_VARIABLES:
        return None
    # `$$` is a dollar sign.
    text = text.replace("$$", "\0")
    unknown = False

    def filled(found: re.Match[str]) -> str:
        nonlocal unknown
        name, form, other = found[1] or found[2], found[3] or "", found[4]
        value = variables.get(name)
        if form.endswith("+"):
            return other if value else ""
        if value or (value is not None and not form.startswith(":")):
            return value.replace("$", "\0")
        unknown |= not form.endswith("-")
        return other or ""

    before = None
    while before != text and not unknown:
        before, text = text, _VARIABLE.sub(filled, text)
    return None if unknown or "${" in text else text.replace("\0", "$")


def _raw_services(text: str, source: str) -> dict[str, Service]:
    try:
        document = parser("safe").load(_OF_OVERRIDES.sub(":", text))
    except (YAMLError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # ruamel.yaml raises its own errors for some faults only: a key that is a list is a TypeError. Its messages may
        # quote the file, which may hold a password.
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        location = Location(source) if mark is None else Location(source, mark.line + 1, mark.column + 1)
        if re.search(r"^apiVersion:", text, re.MULTILINE):
            raise _of_kubernetes(source) from None
        message, hint = "it is no YAML that compose could read", "`docker compose config` names what is wrong"
        if isinstance(error, DuplicateKeyError):
            message, hint = "a name is given twice in one mapping, which compose refuses", "keep one of the two lines"
        elif not isinstance(error, MarkedYAMLError):
            hint += "; a name of a service or of a setting is plain text"
        raise ConfigError(Finding("yaml-syntax", message, hint, location)) from None
    services = document.get("services") if isinstance(document, dict) else None
    if isinstance(services, dict):
        return {str(name): service for name, service in services.items() if isinstance(service, dict)}
    if isinstance(document, dict) and "apiVersion" in document:
        raise _of_kubernetes(source)
    hint = "give a compose file, or a broker's server.properties (whose name does not end in .yml or .yaml)"
    raise ConfigError(Finding("not-compose", f"`{source}` has no `services`", hint))


def _of_kubernetes(source: str) -> ConfigError:
    hint = "give `doctor` a bootstrap server of the running cluster, or the server.properties in the broker's container"
    return ConfigError(Finding("not-compose", f"`{source}` is a Kubernetes manifest, not a compose file", hint))


def _complete(name: str, raw: Mapping[str, Service], source: str, beside: Beside, depth: int) -> Service:
    """The service with what it extends, and with the variables of its `env_file`."""
    if depth > _MOST_FILES:
        message = f"service `{name}`: its `extends` leads in a circle"
        raise ConfigError(Finding("extends-unreadable", message, None, Location(source)))
    service = dict(raw[name])
    own = list(_environment(service, name, source))
    service["environment"] = _over(list(_of_env_files(service, name, source, beside)), own)
    if "extends" not in service:
        return service
    wanted, file = ("".join(texts(_extends(service).get(key))) for key in ("service", "file"))
    del service["extends"]
    there, where = raw, source
    if file:
        text = beside(file)
        if text is None:
            raise _unreadable(file, f"`extends` of service `{name}`", source)
        there, where = _raw_services(text, file), file
    if wanted not in there:
        message = f"service `{name}` extends `{wanted}`, which `{where}` does not have"
        raise ConfigError(Finding("extends-unreadable", message, RESOLVE, Location(source)))
    return _merged(_complete(wanted, there, where, beside, depth + 1), service)


def _extends(service: Service) -> dict[str, Any]:
    """What it extends, from both forms."""
    base = service["extends"]
    return base if isinstance(base, dict) else {"service": base}


def _of_env_files(service: Service, name: str, source: str, beside: Beside) -> Iterator[tuple[str, str]]:
    given = service.get("env_file") or []
    for entry in given if isinstance(given, list) else [given]:
        path = "".join(texts(entry.get("path") if isinstance(entry, dict) else entry))
        text = beside(path)
        if text is not None:
            yield from variables_of(text).items()
        elif not isinstance(entry, dict) or entry.get("required", True):
            raise _unreadable(path, f"`env_file` of service `{name}`", source)


def _unreadable(path: str, what: str, source: str) -> ConfigError:
    message = f"`{path}`, {what}, cannot be read"
    return ConfigError(Finding("file-unreadable", message, f"put it where `{source}` looks for it, or {RESOLVE}"))


def _environment(service: Service, name: str, source: str) -> Iterator[tuple[str, str]]:
    """Reads both forms; a variable without a value comes from the shell, like `${NAME}`."""
    environment = service.get("environment")
    lost = next((str(key) for key in service if str(key).startswith("KAFKA_")), None)
    if lost:
        message = f"service `{name}`: `{lost}` stands beside `environment`, where compose refuses it"
        raise ConfigError(Finding("environment-form", message, "indent it below `environment`", Location(source)))
    if isinstance(environment, dict):
        for variable, value in environment.items():
            if not isinstance(value, _NESTED):
                yield str(variable), f"${{{variable}}}" if value is None else str(value)
    elif isinstance(environment, list):
        for entry in environment:
            if isinstance(entry, dict) and any(str(key).startswith("KAFKA_") for key in entry):
                message = f"service `{name}`: `environment` is a list with a mapping in it, which compose refuses"
                hint = "write `- NAME=value`, or `NAME: value` without the dash"
                raise ConfigError(Finding("environment-form", message, hint, Location(source)))
            if not isinstance(entry, _NESTED):
                variable, given, value = str(entry).partition("=")
                yield variable, value if given else f"${{{variable}}}"


def _merged(base: Service, over: Service) -> Service:
    """Mappings are merged, lists of ports and the like appended, other values replaced."""
    result = dict(base)
    for key, value in over.items():
        before = result.get(key)
        if key == "environment":
            result[key] = _over(before or [], value)
        elif isinstance(before, dict) and isinstance(value, dict):
            result[key] = {**before, **value}
        elif isinstance(before, list) and isinstance(value, list) and key not in ("command", "entrypoint"):
            result[key] = [*before, *(each for each in value if each not in before)]
        else:
            result[key] = value
    return result


def _over(base: list[tuple[str, str]], own: list[tuple[str, str]]) -> list[tuple[str, str]]:
    names = {name for name, _ in own}
    return [*(each for each in base if each[0] not in names), *own]


def texts(value: object) -> list[str]:
    """The texts of a value or of a list. Nested aliases in a small file can expand to more than fits into memory."""
    given = value if isinstance(value, (list, dict)) else [value]
    return [str(each) for each in given if each is not None and not isinstance(each, _NESTED)]


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return re.split(r"\s#", text, maxsplit=1)[0].rstrip()
