"""The table of options for client properties files of programs, for `--with-client-properties`.

A login must not be in a command line, and a file on disk would remain after a crash. So the child inherits the
descriptor of a file in memory (`memfd_create(2)`) with the properties; the command names it as `/proc/self/fd/N`. The
file is deleted with the last process that has it open.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from brokernat.config import Cluster
from brokernat.config.java_properties import escaped
from brokernat.errors import ConfigError, Finding

# Higher than the descriptors that scripts use (`exec 3<...`), lower than those of bash (63 and below, 255).
DESCRIPTOR: Final = 30


class Names(enum.Enum):
    """The property names that a tool uses."""

    KAFKA = "Kafka's"
    LIBRDKAFKA = "librdkafka's"


@dataclass(frozen=True, slots=True)
class Tool:
    """The options of a program: for the file, and for bootstrap servers if it does not read them from the file."""

    file_option: str
    names: Names = Names.KAFKA
    bootstrap_option: str | None = "--bootstrap-server"
    own_options: tuple[str, ...] = ()
    """Other options with which the user can pass a file."""


@dataclass(frozen=True, slots=True)
class PropertyFile:
    """A file that the child inherits as an open descriptor; its text contains secrets."""

    descriptor: int
    about: str
    text: str = field(repr=False)

    @property
    def path(self) -> str:
        """The path that the child opens."""
        return f"/proc/self/fd/{self.descriptor}"


_ADMIN = Tool("--command-config")
# These two have `--command-config` since 4.2 (KIP-1147); the older option still works.
_CONSUMER = Tool("--consumer.config", own_options=("--consumer-config", "--command-config"))
_PRODUCER = Tool("--producer.config", own_options=("--producer-config", "--command-config"))
TOOLS: Mapping[str, Tool] = {
    **dict.fromkeys(
        (
            "kafka-acls", "kafka-broker-api-versions", "kafka-cluster", "kafka-configs", "kafka-consumer-groups",
            "kafka-delete-records", "kafka-get-offsets", "kafka-leader-election", "kafka-log-dirs",
            "kafka-reassign-partitions", "kafka-topics", "kafka-transactions",
        ),
        _ADMIN,
    ),
    "kafka-console-consumer": _CONSUMER,
    "kafka-console-producer": _PRODUCER,
    "kafka-verifiable-consumer": _CONSUMER,
    "kafka-verifiable-producer": _PRODUCER,
    "kafka-producer-perf-test": Tool("--producer.config", bootstrap_option=None),
    "kcat": Tool("-F", Names.LIBRDKAFKA, bootstrap_option=None),
    "kafkacat": Tool("-F", Names.LIBRDKAFKA, bootstrap_option=None),
}  # fmt: skip
"""By the command's name, without `.sh`."""


def with_properties(command: Sequence[str], cluster: Cluster) -> tuple[tuple[str, ...], PropertyFile]:
    """The command with options for the cluster's bootstrap servers and client properties, and the file.

    Raises:
        ConfigError: the program is not in the table (`no-file-option`), the user also passes a file (`two-files`), or
            the system has no files in memory (`no-memory-file`).
    """
    if not sys.platform.startswith("linux"):
        message = "a file of client properties in memory needs Linux"
        raise _refused("no-memory-file", message, "write a file of client properties and name it in the command")
    name = command[0].rpartition("/")[2].removesuffix(".sh")
    tool = TOOLS.get(name)
    if tool is None:
        known = ", ".join(sorted(TOOLS))
        message = f"it is not known how `{name}` takes client properties"
        raise _refused("no-file-option", message, f"known are: {known}")
    given = [word.partition("=")[0] for word in command[1:]]
    if used_option := next((option for option in (tool.file_option, *tool.own_options) if option in given), None):
        hint = f"omit {used_option}, or --with-client-properties"
        raise _refused("two-files", f"`{name}` already gets a properties file by {used_option}", hint)
    properties = _properties(cluster, tool.names)
    servers = properties["bootstrap.servers"]
    about = f"client properties of {cluster.name} in {tool.names.value} names: {', '.join(sorted(properties))}"
    file = PropertyFile(DESCRIPTOR, about, properties_text(properties, tool.names))
    words = [tool.file_option, file.path]
    if tool.bootstrap_option and not {tool.bootstrap_option, "--broker-list"} & set(given):
        words += [tool.bootstrap_option, servers]
    # For Kafka's tools after the user's options; for kcat before them, because later options override the file.
    return ((command[0], *words, *command[1:]) if tool.names is Names.LIBRDKAFKA else (*command, *words)), file


def properties_text(properties: Mapping[str, str], names: Names) -> str:
    """A properties file for Java (java.util.Properties) or for librdkafka programs.

    Raises:
        ConfigError: code `value-with-line-end`, because kcat reads one value per line.
    """
    if names is Names.KAFKA:
        return "".join(f"{escaped(name, key=True)}={escaped(value)}\n" for name, value in properties.items())
    if broken := [name for name, value in properties.items() if "\n" in value]:
        hint = "put certificates and keys into files and name these"
        raise _refused("value-with-line-end", f"{', '.join(broken)}: a value with a line end does not fit a line", hint)
    return "".join(f"{name}={value}\n" for name, value in properties.items())


def _properties(cluster: Cluster, names: Names) -> dict[str, str]:
    """The properties without the map, which applies to the whole process; tools warn about unknown names."""
    if names is Names.KAFKA:
        properties = cluster.kafka_properties()
    else:
        from brokernat.clients import librdkafka

        properties = librdkafka.properties(cluster)
    return {n: v for n, v in properties.items() if not n.startswith("brokernat.") and n != "plugin.library.paths"}


def _refused(kind: str, message: str, hint: str) -> ConfigError:
    return ConfigError(Finding(kind, message, hint))
