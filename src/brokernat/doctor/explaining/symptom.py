"""One row of the table of log lines: how a line is recognised, and what it means for each place that it can be about.

A row is a fragment that every such line holds (or one of several) and a pattern for what is stable in it. The fragment
is looked for first: most lines of a log are about something else, and `in` is the cheapest way to find that out.
Patterns never start at the line's start, because every logger puts something else in front.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

DOCTOR = "brokernat doctor --bootstrap-server HOST:PORT"


class Family(StrEnum):
    """Whose line it is."""

    JAVA = "Java client"
    LIBRDKAFKA = "librdkafka"
    PYTHON = "Python client"
    KAFKA_PYTHON = "kafka-python"
    AIOKAFKA = "aiokafka"
    KAFKAJS = "kafkajs"
    SPARK = "Spark"
    SPRING = "Spring"
    BROKER = "Kafka broker"
    BROKERNAT = "brokernat"


class Role(StrEnum):
    """What the line's node is to the client."""

    BOOTSTRAP = "bootstrap server"
    ADVERTISED = "advertised"
    COORDINATOR = "coordinator"
    UNNAMED = "unnamed"


class Telling(IntEnum):
    """How much a line says: what is wrong, where, that something went wrong, or only that another line says so."""

    FAULT = 1
    PLACE = 2
    EFFECT = 3
    WRAPPER = 4


@dataclass(frozen=True, slots=True)
class Reading:
    """`means` and `do` are format strings over what the line names: `{endpoint}`, `{node}` and the pattern's groups.

    `codes` are the checks that would prove it, the likeliest first; `then` is the command that runs them.
    """

    means: str
    do: str
    codes: tuple[str, ...] = ()
    then: str = DOCTOR


@dataclass(frozen=True, slots=True)
class Symptom:
    """`readings` by role; a row whose lines name no node has the one of `Role.UNNAMED`.

    Groups of the pattern: `node` (Kafka's id, or librdkafka's name of the broker), `endpoint` or `host` and `port`; any
    others are for the sentences. `wordings` says which versions write it how.
    """

    key: str
    family: Family
    title: str
    holds: tuple[str, ...]
    pattern: str
    readings: Mapping[Role, Reading]
    telling: Telling = Telling.PLACE
    wordings: str = ""
    compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compiled", re.compile(self.pattern))

    def match(self, line: str) -> re.Match[str] | None:
        """Where the line says this, None where it does not."""
        return self.compiled.search(line) if any(fragment in line for fragment in self.holds) else None


def says(means: str, do: str, *codes: str, then: str = DOCTOR) -> dict[Role, Reading]:
    """The readings of a row whose lines name no node, or where the node's role changes nothing."""
    return {Role.UNNAMED: Reading(means, do, codes, then)}
