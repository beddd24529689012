"""Renders the map for clients: a rules file for `brokernat.map=file:/path`, lines for `spark-defaults.conf`, lines for
a hosts file, and Spring Boot's `application.yaml` or `.properties`.

The lines for Spark load agent and map in the JVMs of driver and executors, without a change to the job. Spark puts
`defaultJavaOptions` before the user's `extraJavaOptions`, so both apply (Spark 3.0 and later). The map of the JVM
passes unmapped endpoints even if the cluster has `unmapped: fail`, because the same JVM connects to the sink. Only a
client's own map refuses them; the header has the two options for it.

A hosts file is enough if brokers advertise names and the ports do not change. It has one address for a name and no
ports. So a rule for one port applies to all ports, and a second rule for the same name with another address is refused:
its port would lead to the wrong broker.

Spring's properties are all below `spring.kafka.properties`, which producers, consumers and the admin client share.
Spring passes the map to Kafka's client, where the agent reads it. Boot drops characters from property keys unless the
keys are in brackets, so a key with other characters than letters, digits, dots and dashes gets brackets.

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

from brokernat.address import AddressMap, HostPortRule, HostRule, Rule, Unmapped, canonical_text
from brokernat.config import Secret
from brokernat.config.client_properties import is_secret
from brokernat.config.cluster import kafka_properties
from brokernat.config.java_properties import escaped
from brokernat.errors import ConfigError, Finding
from brokernat.render.expressible import Means, refuse, require_expressible
from brokernat.render.header import Header, Subject, map_lines


def rules_file(subject: Subject) -> str:
    """A rules file: one rule per line, with blanks around `=`.

    Raises:
        NotExpressibleError: the map has a rule that a client cannot apply.
    """
    require_expressible(subject.address_map, Means.CLIENT)
    rules = (str(rule).replace("=", " = ") for rule in subject.address_map.rules)
    return "\n".join((_rules_header(subject.address_map.unmapped).text(subject), *rules)) + "\n"


def _rules_header(unmapped: Unmapped) -> Header:
    return Header(
        title="Address map: advertised = reachable, the first match wins",
        can=("Give the map to every client that has brokernat's agent or plug-in.",),
        cannot=("Change for a running client: a client reads it once, when it starts.",),
        check=("brokernat map check --file FILE",),
        apply=("brokernat.map=file:/path/of/FILE", f"brokernat.unmapped={unmapped}"),
    )


_SETTINGS = ("spark.driver.defaultJavaOptions", "spark.executor.defaultJavaOptions")


def spark(subject: Subject, *, agent_path: str) -> str:
    """Lines for `spark-defaults.conf`.

    Args:
        subject: the cluster.
        agent_path: the path of the agent jar on the hosts of driver and executors.

    Raises:
        NotExpressibleError: the map has a rule that a client cannot apply.
    """
    require_expressible(subject.address_map, Means.CLIENT)
    option = f"-javaagent:{agent_path}={canonical_text(subject.address_map)}"
    if " " in agent_path:
        # Spark splits the value like a shell.
        option = f'"{option}"'
    width = max(map(len, _SETTINGS))
    lines = [f"{name:<{width}} {option}" for name in _SETTINGS]
    return "\n".join((_SPARK_HEADER.text(subject, _per_client(subject)), *lines)) + "\n"


def _per_client(subject: Subject) -> list[str]:
    return [
        "The map for one source or sink only, which replaces the JVM's (leave `=RULES` out of the lines below then):",
        *(f'  .option("kafka.{name}", "{value}")' for name, _, value in map(_name_and_value, map_lines(subject))),
    ]


def _name_and_value(line: str) -> tuple[str, str, str]:
    return line.partition("=")


_SPARK_HEADER = Header(
    title="Spark: the agent and the map for driver and executors",
    can=("Give every Kafka client of a job the map: sources, sinks, the job's own; the job stays as it is.",),
    cannot=(
        "Start a JVM on a host without the jar at this path: the JVM exits at once, and the cluster manager starts "
        "the next one.",
        "Distinguish two clusters with the same advertised addresses: give each source and sink its own map.",
        "Override the same settings in the job: Spark uses the job's.",
    ),
    check=(
        "executors log `translated ADVERTISED -> REACHABLE` for each broker that they dial, the driver at level INFO",
    ),
    apply=(
        "brokernat agent --copy-to DIR        on every host",
        "add the lines to $SPARK_HOME/conf/spark-defaults.conf, or: spark-submit --properties-file FILE ...",
    ),
)


def hosts(subject: Subject) -> str:
    """The lines for a cluster.

    Raises:
        NotExpressibleError: a rule changes a port, or its advertised side is a network, a wildcard or an address.
    """
    addresses = _addresses(subject.address_map)
    width = max(map(len, addresses.values()), default=0)
    lines = [f"{address:<{width}} {name}" for name, address in addresses.items()]
    return "\n".join((_HOSTS_HEADER.text(subject), *lines)) + "\n"


def _addresses(address_map: AddressMap) -> dict[str, str]:
    require_expressible(address_map, Means.HOSTS)
    found: dict[str, str] = {}
    conflicts: list[tuple[Rule, str]] = []
    for rule, name, address in map(_parts, address_map.rules):
        if found.setdefault(name, address) != address:
            conflicts.append((rule, f"a hosts file has one address for a name, and {name} has {found[name]}"))
    refuse(address_map, Means.HOSTS, conflicts)
    return found


def _parts(rule: Rule) -> tuple[Rule, str, str]:
    match rule:
        case HostPortRule():
            return rule, rule.advertised.host, rule.reachable.host
        case HostRule():
            return rule, rule.advertised, rule.reachable
        case _:
            raise AssertionError(f"{rule} is refused before")


_HOSTS_HEADER = Header(
    title="Kafka by /etc/hosts: advertised names resolve to addresses that can be dialled from here",
    can=("Work for every program of this host without a change, a map, an agent or a plug-in.",),
    cannot=(
        "Change ports, or translate IP addresses: clients resolve only names.",
        "Serve two clusters whose brokers have the same names.",
        "Update itself: you maintain it on every host and in every container image that runs a client.",
        "Refuse names without a rule: they resolve as before.",
    ),
    check=("getent hosts NAME      for each name below",),
    apply=("append it to /etc/hosts; running clients cache what they have resolved (Java: 30 s)",),
)


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
