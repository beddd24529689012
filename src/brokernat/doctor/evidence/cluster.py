"""What a cluster says of itself, and the way from there to each broker: partitions, coordinators, paths, listeners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Read at run time as well: pydantic looks the types of fields up.
from brokernat.doctor.evidence.look import Advertised, Look


@dataclass(frozen=True, slots=True)
class Leaderless:
    """Partitions that clients cannot use, on two looks. `sample` is one, as `topic-partition`; `nodes` hold them."""

    error: str
    count: int
    sample: str
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Coordinator:
    """Who coordinates a group or a transactional id, as a bootstrap server says.

    `error` is Kafka's name of what it answered instead, on two looks; `not-asked` where asking would create `topic`,
    `not-answered` where the connection ended or the time ran out before.
    """

    kind: Literal["group", "transaction"]
    key: str
    broker: Advertised | None = None
    error: str = ""

    @property
    def subject(self) -> str:
        """As a report calls it."""
        return f"{'group' if self.kind == 'group' else 'transactional id'} {self.key}"

    @property
    def topic(self) -> str:
        """Where the coordinator keeps its state."""
        return "__consumer_offsets" if self.kind == "group" else "__transaction_state"


@dataclass(frozen=True, slots=True)
class Path:
    """From an advertised listener to what is dialled for it. `look` is None where nothing may be dialled.

    `rule` is the rule that decided; `direct` is a first look at the advertised endpoint itself, made where a rule leads
    elsewhere.
    """

    broker: Advertised
    look: Look | None
    rule: str | None = None
    direct: Look | None = None


@dataclass(frozen=True, slots=True)
class ListenerSeen:
    """A listener of a bootstrap server's node, by that node's settings, and what this client meets where it is sent.

    `entered` are the bootstrap servers that came in on it. `look` has no identity unless it was dialled for a node too,
    and is None where the endpoint is none.
    """

    node_id: int
    name: str
    endpoint: str
    look: Look | None
    entered: tuple[str, ...] = ()
