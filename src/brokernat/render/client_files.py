"""Renders the map for clients: a rules file for `brokernat.map=file:/path`, lines for `spark-defaults.conf`, and lines
for a hosts file.

The lines for Spark load agent and map in the JVMs of driver and executors, without a change to the job. Spark puts
`defaultJavaOptions` before the user's `extraJavaOptions`, so both apply (Spark 3.0 and later). The map of the JVM
passes unmapped endpoints even if the cluster has `unmapped: fail`, because the same JVM connects to the sink. Only a
client's own map refuses them; the header has the two options for it.

A hosts file is enough if brokers advertise names and the ports do not change. It has one address for a name and no
ports. So a rule for one port applies to all ports, and a second rule for the same name with another address is refused:
its port would lead to the wrong broker.
"""

from __future__ import annotations

from brokernat.address import AddressMap, HostPortRule, HostRule, Rule, Unmapped, canonical_text
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
    refuse(Means.HOSTS, conflicts)
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
