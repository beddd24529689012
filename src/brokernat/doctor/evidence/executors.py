"""What the JVMs of a Spark application met: each of them, and each node that it tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class NodeTried:
    """A node as Kafka's own client met it in a JVM of Spark's; `dialled` is empty where nothing may be dialled."""

    node_id: int
    advertised: str
    dialled: str
    outcome: Literal["proved", "not-provable", "other-node", "unmapped", "unreachable", "failed"]
    detail: str = ""

    @property
    def reached(self) -> bool:
        """Whether this node answered there."""
        return self.outcome in ("proved", "not-provable")


@dataclass(frozen=True, slots=True)
class ExecutorSeen:
    """A JVM of a Spark application: `driver`, or an executor by Spark's id, empty where it never registered.

    `fingerprint` is that of the map it has. `nodes` is empty unless it has `answered`.
    """

    executor: str
    host: str
    outcome: Literal["answered", "no-agent", "other-map", "failed", "silent", "not-registered"]
    detail: str = ""
    agent: str | None = None
    fingerprint: str | None = None
    nodes: tuple[NodeTried, ...] = ()

    @property
    def is_driver(self) -> bool:
        """Whether it is the driver's JVM, which stands where the doctor runs."""
        return self.executor == "driver"

    @property
    def name(self) -> str:
        """As a report calls it."""
        if self.is_driver:
            return "the driver"
        place = f" on {self.host}" if self.host else ""
        return f"executor {self.executor}{place}" if self.executor else "an executor that was expected"
