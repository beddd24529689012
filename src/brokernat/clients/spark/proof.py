"""What the proof found, as data: one row per executor, cluster and node, and the judgement.

Nothing here talks to Spark. A proof holds only when every JVM that was registered has answered and every row is
good; silence is never taken for consent. Not being allowed to ask a node for its identity is not a fault, but it is
said.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brokernat.errors import ProofFailedError
from brokernat.plurals import counted


class Outcome(enum.StrEnum):
    """What one JVM found out about one node, or about a cluster as a whole."""

    PROVED = "proved"
    NOT_PROVABLE = "not provable"
    """Reached, but no ACL allows the question who it is."""
    OTHER_NODE = "other node"
    """Another node answered: two rules are swapped, or a port leads elsewhere."""
    UNMAPPED = "unmapped"
    UNREACHABLE = "unreachable"
    NO_AGENT = "no agent"
    """A map is given and nothing applies it."""
    OTHER_MAP = "other map"
    """The JVM holds a map with another fingerprint, or an agent of another version."""
    FAILED = "failed"


GOOD = frozenset({Outcome.PROVED, Outcome.NOT_PROVABLE})


@dataclass(frozen=True)
class ProofRow:
    """One line of the table."""

    executor: str
    """`driver` or Spark's executor id."""
    host: str
    cluster: str
    node_id: int | None
    """None where the row is about the cluster as a whole."""
    advertised: str
    dialled: str
    outcome: Outcome
    cause: str = ""
    answered_by: int | None = None
    """The node that answered, where it is another one."""
    agent: str | None = None
    """The version of the agent that runs in this JVM."""
    fingerprint: str | None = None
    """Of the map that this JVM has for the cluster."""

    @property
    def ok(self) -> bool:
        """Whether a query may start as far as this row goes."""
        return self.outcome in GOOD


HEADINGS = ("executor", "host", "cluster", "node", "advertised", "dialled", "outcome", "cause")


@dataclass(frozen=True)
class Proof:
    """All rows, the executors that did not answer, and what is worth saying although it is no fault."""

    rows: tuple[ProofRow, ...]
    missing: tuple[str, ...] = ()
    """Registered executors without an answer when the time was over."""
    notes: tuple[str, ...] = ()
    unregistered: int = 0
    """How many executors were waited for and did not register."""

    @property
    def complete(self) -> bool:
        """Every executor that was waited for has registered and answered, whatever it answered."""
        return bool(self.rows) and not self.missing and not self.unregistered

    @property
    def ok(self) -> bool:
        """Every registered JVM answered, and every row is good."""
        return self.complete and all(row.ok for row in self.rows)

    @property
    def failures(self) -> tuple[ProofRow, ...]:
        """The rows that forbid a start."""
        return tuple(row for row in self.rows if not row.ok)

    @property
    def executors(self) -> frozenset[str]:
        """Who has answered."""
        return frozenset(row.executor for row in self.rows)

    def table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Headings and lines, for a terminal or for JSON."""
        return HEADINGS, tuple(map(_cells, self.rows))

    def raise_for_failures(self) -> None:
        """Do nothing when the proof holds.

        Raises:
            ProofFailedError: with a table of what failed, and corrected rules where they follow from the answers.
        """
        if self.ok:
            return
        parts = [self.verdict]
        if self.failures:
            parts.append(_text_table(self.failures))
        raise ProofFailedError("\n".join(parts), hint=self.hint)

    @property
    def verdict(self) -> str:
        """One line: that it holds, or all that it does not hold for."""
        if self.ok:
            return "proved"
        reasons = []
        if self.unregistered:
            registered = len((self.executors | set(self.missing)) - {"driver"})
            total = registered + self.unregistered
            reasons.append(
                f"{self.unregistered} of {counted(total, 'executor')} did not register in time"
                if registered
                else f"no executor registered in time, {total} expected"
            )
        if self.missing:
            reasons.append(f"no answer from executor {', '.join(self.missing)} in time")
        if self.failures:
            reasons.append(f"{len(self.failures)} of {counted(len(self.rows), 'check')} failed")
        return f"not proved: {'; '.join(reasons) or 'there is nothing to ask'}"

    @property
    def hint(self) -> str | None:
        """What to do about it, and the notes; None where there is nothing to say."""
        failed = {row.outcome for row in self.failures}
        hints = [hint for outcome, hint in _HINTS.items() if outcome in failed]
        if rules := corrected_rules(self.rows):
            hints.append(f"the rules that follow from the answers: {', '.join(rules)}")
        if self.unregistered:
            hints.append(_NO_CORES)
        if self.missing:
            hints.append(_SILENT)
        return "; ".join((*hints, *self.notes)) or None


def corrected_rules(rows: Iterable[ProofRow]) -> tuple[str, ...]:
    """The rules that send each node's advertised endpoint to where that node has answered."""
    rows = tuple(rows)
    advertised = {(row.cluster, row.node_id): row.advertised for row in rows if row.node_id is not None}
    found = {
        advertised[row.cluster, row.answered_by]: row.dialled
        for row in rows
        if row.answered_by is not None and (row.cluster, row.answered_by) in advertised
    }
    return tuple(f"{name} = {reached}" for name, reached in sorted(found.items()))


_HINTS = {
    Outcome.NO_AGENT: "call brokernat.clients.spark.configure(builder, clusters) before the first session",
    Outcome.OTHER_MAP: "all JVMs need the same map and the same agent: start the application anew",
    Outcome.UNMAPPED: "add a rule with the endpoint that can be dialled from here",
}
_NO_CORES = (
    "does the cluster have free cores and memory, or does another application hold them? do the executors start? the "
    "application's page at the master says"
)
_SILENT = "is the executor busy, or stuck in its start? its log says; a longer timeout waits longer"


def _cells(row: ProofRow) -> tuple[str, ...]:
    node = "" if row.node_id is None else str(row.node_id)
    return (row.executor, row.host, row.cluster, node, row.advertised, row.dialled, row.outcome.value, row.cause)


def _text_table(rows: Sequence[ProofRow]) -> str:
    lines = [HEADINGS, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
