"""Spring Boot: `application.yaml` or `.properties` for spring-kafka, with the map as a client property.

Everything goes below `spring.kafka.properties`, which producers, consumers and the admin client share. Spring knows
nothing of the map: Kafka's client hands the property on, and the agent reads it there. Boot drops characters from the
keys of a map unless they stand in brackets, so a key with anything but letters, digits, dots and dashes gets them.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum

from brokernat.config.cluster import kafka_properties
from brokernat.render.expressible import Means, require_expressible
from brokernat.render.header import Header, Subject
from brokernat.render.placeholders import Placeholders, placeholders

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
        agent_path: where the agent jar is on the service's host.
        syntax: YAML or properties.

    Raises:
        NotExpressibleError: the map holds a rule that a client cannot decide.
        ConfigError: a plain client property holds `${`.
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
            "Do it without the agent: Kafka's own client ignores the property and dials what brokers advertise.",
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
    lines = ["Secrets are no part of it. The service's environment has to hold:"]
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
    """Single quotes read best; what they cannot hold is written as JSON, which YAML reads."""
    return json.dumps(value) if _UNPRINTABLE.search(value) else "'" + value.replace("'", "''") + "'"


def _properties(bootstrap: str, properties: dict[str, str]) -> str:
    lines = [f"spring.kafka.bootstrap-servers={_properties_text(bootstrap)}"]
    for name, value in properties.items():
        key = f".{name}" if _PLAIN_KEY.fullmatch(name) else f"[{_properties_text(name)}]"
        lines.append(f"spring.kafka.properties{key}={_properties_text(value)}")
    return "\n".join(lines) + "\n"


def _properties_text(value: str) -> str:
    """What java.util.Properties reads back: Latin-1, a backslash starts an escape, blanks in front are skipped."""
    escaped = "".join(_ESCAPES.get(letter) or _escape(letter) for letter in value)
    return "\\" + escaped if escaped.startswith(" ") else escaped


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}


def _escape(letter: str) -> str:
    if " " <= letter <= "~":
        return letter
    units = letter.encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
