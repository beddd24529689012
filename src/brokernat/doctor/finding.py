"""What a check says: a code that is never reused, where, how sure, what it rests on, and what either side can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from brokernat.doctor.evidence import Evidence
from brokernat.errors import Severity as Severity


class Confidence(StrEnum):
    """Proven by what was seen, or the likeliest reading of it."""

    PROVEN = "proven"
    LIKELY = "likely"


class Need(StrEnum):
    """What must have been seen; the value ends the sentence `skipped: …`."""

    NETWORK = "no bootstrap server was given"
    FILES = "no broker file was given"
    METADATA = "no bootstrap server let this client read the cluster's brokers"
    MAP = "there is no address map"
    PARTITIONS = "the cluster's partitions could not be read"
    COORDINATORS = "no coordinator was asked for (`--group`, `--transactional-id`)"
    GROUPS = "no group was named (`--group`)"
    OFFSETS_TOPIC = (
        "this user sees no `__consumer_offsets`, no node that answers coordinates a group of this user's, and Kafka "
        "creates the topic for whoever asks for a coordinator"
    )
    TRANSACTIONS = "no transactional id was named (`--transactional-id`)"
    TRANSACTIONS_TOPIC = (
        "this user sees no `__transaction_state`, no node that answers coordinates the id, and Kafka creates the topic "
        "for whoever asks for a coordinator"
    )
    EXECUTORS = "no Spark was asked (`--on-executors`)"


UNASKED = {
    Need.COORDINATORS.value: ("--group", "--transactional-id"),
    Need.GROUPS.value: ("--group",),
    Need.TRANSACTIONS.value: ("--transactional-id",),
    Need.EXECUTORS.value: ("--on-executors",),
    Need.FILES.value: ("--server-properties",),
}
"""Reasons that are nobody's fault, with the options that ask: a report says them in one line."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What helps, on either side; one side is enough. `rules` are lines for the client's address map, to copy."""

    client: tuple[str, ...] = ()
    broker: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """`subject` is a bootstrap server, a node, a rule or the cluster; `evidence` what was seen there.

    `because` are codes: where one of them is found too, this finding follows from it.
    """

    code: str
    severity: Severity
    subject: str
    message: str
    evidence: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    remedy: Remedy = Remedy()
    confidence: Confidence = Confidence.PROVEN


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `cause` is the sentence of the report when this is the root.

    In it `{subjects}` are those concerned, and `{reason}` is what is said of all of them alike, behind a colon.
    """

    code: str
    title: str
    cause: str
    find: Callable[[Evidence], Iterator[Finding]]
    needs: tuple[Need, ...] = ()
