"""Spring Boot: `application.yaml` or `.properties` for spring-kafka, with the map as a client property.

All properties are below `spring.kafka.properties`, which producers, consumers and the admin client share. Spring passes
the map to Kafka's client, where the agent reads it. Boot drops characters from property keys unless the keys are in
brackets, so a key with other characters than letters, digits, dots and dashes gets brackets.

References become Spring placeholders, and no secret is written. `${env:NAME}` becomes `${NAME}`. Not every Spring
version has a placeholder for the content of a file, so `${file:PATH}` becomes a new variable. So does every secret with
other text than a single reference: a JAAS line with a reference may also contain a plain password. The cluster should
be loaded with `resolve_secrets=False`; otherwise its secrets have no references any more and become variables, too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum

from brokernat.config import Secret
from brokernat.config.client_properties import is_secret
from brokernat.config.cluster import kafka_properties
from brokernat.config.java_properties import escaped
from brokernat.errors import ConfigError, Finding
from brokernat.render.expressible import Means, require_expressible
from brokernat.render.header import Header, Subject

_PLAIN_KEY = re.compile(r"[a-zA-Z0-9.-]+", re.ASCII)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_BOOTSTRAP = "bootstrap.servers"


class Syntax(StrEnum):
    """The two forms of Spring's configuration."""

    YAML = "yaml"
    PROPERTIES = "properties"


def spring(subject: Subject, *, agent_path: str, syntax: Syntax = Syntax.YAML) -> str:
    """The configuration of a service that uses `cluster`.

    Args:
        subject: the cluster.
        agent_path: the path of the agent jar on the service's host.
        syntax: YAML or properties.

    Raises:
        NotExpressibleError: the map has a rule that a client cannot apply.
        ConfigError: a plain client property contains `${`.
    """
    require_expressible(subject.address_map, Means.CLIENT)
    client = placeholders(subject)
    properties = kafka_properties(subject.bootstrap_servers, subject.address_map, client.properties)
    bootstrap = properties.pop(_BOOTSTRAP)
    body = _yaml(bootstrap, properties) if syntax is Syntax.YAML else _properties(bootstrap, properties)
    return "\n".join((_header(agent_path, syntax).text(subject, _variables(client)), body))


def _header(agent_path: str, syntax: Syntax) -> Header:
    return Header(
        title="Spring Boot with spring-kafka",
        can=("Give every producer, consumer and admin client of a service the address map; no class changes.",),
        cannot=(
            "Work without the agent: Kafka's own client ignores the property and dials what brokers advertise.",
            "Serve a factory whose code sets properties of its own and leaves out those of Spring's KafkaProperties.",
        ),
        check=("the service's log says `translated ADVERTISED -> REACHABLE` for each broker that it dials",),
        apply=(
            f"put it into application.{syntax}, or name it: --spring.config.additional-location=file:/etc/FILE",
            f"java -javaagent:{agent_path} -jar SERVICE.jar",
            "(`brokernat agent --copy-to DIR` copies the agent)",
        ),
    )


def _variables(client: Placeholders) -> list[str]:
    if not client.variables:
        return []
    lines = ["The file holds no secrets. Set these environment variables for the service:"]
    lines += [f"  {name}: {meaning}" for name, meaning in client.variables.items()]
    if "sasl.password" in client.properties:
        lines.append(
            'User name and password end in a quoted text of the JAAS line: write `\\"` for `"` and `\\\\` for `\\`.'
        )
    return lines


def _yaml(bootstrap: str, properties: dict[str, str]) -> str:
    lines = ["spring:", "  kafka:", f"    bootstrap-servers: {_yaml_text(bootstrap)}", "    properties:"]
    lines += [f"      {_yaml_key(name)}: {_yaml_text(value)}" for name, value in properties.items()]
    return "\n".join(lines) + "\n"


def _yaml_key(name: str) -> str:
    return name if _PLAIN_KEY.fullmatch(name) else _yaml_text(f"[{name}]")


def _yaml_text(value: str) -> str:
    """The value in single quotes, or as JSON (valid YAML) if it needs escapes."""
    return json.dumps(value) if _UNPRINTABLE.search(value) else "'" + value.replace("'", "''") + "'"


def _properties(bootstrap: str, properties: dict[str, str]) -> str:
    lines = [f"spring.kafka.bootstrap-servers={escaped(bootstrap)}"]
    for name, value in properties.items():
        key = f".{name}" if _PLAIN_KEY.fullmatch(name) else f"[{escaped(name)}]"
        lines.append(f"spring.kafka.properties{key}={escaped(value)}")
    return "\n".join(lines) + "\n"


_REFERENCE = re.compile(r"\$\{(env|file):([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Placeholders:
    """`properties` for Spring, and the meaning of each variable in them."""

    properties: dict[str, str]
    variables: dict[str, str]


def placeholders(subject: Subject) -> Placeholders:
    """The `client` section of a cluster, for Spring.

    Raises:
        ConfigError: a plain value contains `${`, which Spring would replace.
    """
    variables: dict[str, str] = {}
    properties: dict[str, str] = {}
    for name, value in subject.client.items():
        if isinstance(value, Secret):
            properties[name] = _replaced(name, value.reveal(), _variable(subject.cluster, name), variables)
        elif "${" in value:
            hint = "remove it from brokernat.yaml and set it in Spring's configuration"
            raise ConfigError(Finding("spring-placeholder", f"`{name}` holds `${{`, which Spring replaces", hint))
        else:
            properties[name] = value
    return Placeholders(properties, variables)


def _replaced(name: str, text: str, new_variable: str, variables: dict[str, str]) -> str:
    whole = _REFERENCE.fullmatch(text) is not None
    if not whole and (is_secret(name) or not _REFERENCE.search(text)):
        variables[new_variable] = f"the value of `{name}`"
        return f"${{{new_variable}}}"

    def placeholder(found: re.Match[str]) -> str:
        source, reference = found.groups()
        variable = reference if source == "env" else new_variable
        variables[variable] = "as in brokernat.yaml" if source == "env" else f"the content of the file {reference}"
        return f"${{{variable}}}"

    return _REFERENCE.sub(placeholder, text)


def _variable(cluster: str, name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", f"{cluster}_{name}".upper())
