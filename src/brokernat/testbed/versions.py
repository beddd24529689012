"""Which jars make a broker of a version, and whether its quorum is its own or ZooKeeper's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from brokernat.jvm import resolve

_LOGGING = "org.slf4j:slf4j-simple:1.7.36"
# The tools are not needed to run a broker; with them the Connect runtime would come in, 50 jars more.
_TOOLS = ("org.apache.kafka:kafka-tools", "org.apache.kafka:kafka-tools-api")
_TOOLS_NEEDED_UNTIL = (4, 4)


@dataclass(frozen=True, slots=True)
class BrokerVersion:
    """A version of `org.apache.kafka:kafka_2.13`."""

    text: str

    @property
    def numbers(self) -> tuple[int, ...]:
        """(4, 3, 1) for `4.3.1`."""
        return tuple(int(part) for part in self.text.split("."))

    @property
    def zookeeper(self) -> bool:
        """Whether the quorum is ZooKeeper's: all before 3.3 (KRaft was not for production before)."""
        return self.numbers < (3, 3)

    def jars(self) -> tuple[Path, ...]:
        """The jars of the broker, and of ZooKeeper where it needs one.

        Raises:
            MissingToolError: they cannot be resolved.
        """
        exclude = _TOOLS if self.numbers >= _TOOLS_NEEDED_UNTIL else _TOOLS[:1]
        return resolve([f"org.apache.kafka:kafka_2.13:{self.text}", _LOGGING], exclude=exclude)
