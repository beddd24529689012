"""The result of a proof, as data: one row per executor, cluster and node, and the verdict.

This module does not use Spark. A proof holds only if every registered JVM has answered and every row is good; a JVM
without an answer fails it. If the user may not read a node's id, the proof still holds and the report names it.

`rows_of` makes rows from the agent's JSON, whose forms are those of `io.brokernat.agent.proof.Proof` and
`ProofFunction`; the texts were cleaned of secrets there. It compares the answers of one JVM with what this side knows:
the fingerprint of the cluster's map and the driver's agent.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brokernat.errors import ProofFailedError
from brokernat.text import counted


class Outcome(enum.StrEnum):
    """The result of one JVM for one node, or for a cluster as a whole."""

    PROVED = "proved"
    """The JVM has the map, and the right node answered."""
    NOT_PROVABLE = "not provable"
    """A node answered, but no ACL allows this user to read its id."""
    OTHER_NODE = "other node"
    """Another node answered: two rules are swapped, or a port leads elsewhere."""
    UNMAPPED = "unmapped"
    """The map has no rule for the advertised endpoint."""
    UNREACHABLE = "unreachable"
    """No connection to the node."""
    LOGIN_REFUSED = "login refused"
    """The bootstrap server rejects the login."""
    NO_AGENT = "no agent"
    """There is a map but no agent that applies it."""
    OTHER_MAP = "other map"
    """The JVM has a map with another fingerprint, or an agent of another version."""
    FAILED = "failed"
    """Another error; `cause` has its text."""


GOOD = frozenset({Outcome.PROVED, Outcome.NOT_PROVABLE})


@dataclass(frozen=True)
class ProofRow:
    """One line of the table: one JVM and one node. Endpoints are `host:port`."""

    executor: str
    """`driver` or Spark's executor id."""
    host: str
    cluster: str
    node_id: int | None
    """None in a row about the cluster as a whole."""
    advertised: str
    dialled: str
    outcome: Outcome
    cause: str = ""
    answered_by: int | None = None
    """The node that answered, if it is not `node_id`."""
    agent: str | None = None
    """The version of the agent in this JVM."""
    fingerprint: str | None = None
    """The fingerprint of the map that this JVM has for the cluster."""

    @property
    def ok(self) -> bool:
        """Whether this row allows a query to start."""
        return self.outcome in GOOD


HEADINGS = ("executor", "host", "cluster", "node", "advertised", "dialled", "outcome", "cause")


@dataclass(frozen=True)
class Proof:
    """All rows, the executors that did not answer, and notes that do not fail the proof."""

    rows: tuple[ProofRow, ...]
    missing: tuple[str, ...] = ()
    """The ids of registered executors that did not answer in time."""
    notes: tuple[str, ...] = ()
    unregistered: int = 0
    """The number of expected executors that did not register in time."""

    @property
    def complete(self) -> bool:
        """Whether every expected executor registered and answered, with any outcome."""
        return bool(self.rows) and not self.missing and not self.unregistered

    @property
    def ok(self) -> bool:
        """Whether every expected executor answered and every row is good."""
        return self.complete and all(row.ok for row in self.rows)

    @property
    def failures(self) -> tuple[ProofRow, ...]:
        """The rows that do not allow a query to start."""
        return tuple(row for row in self.rows if not row.ok)

    @property
    def executors(self) -> frozenset[str]:
        """The ids of all JVMs that answered: `driver` and Spark's executor ids."""
        return frozenset(row.executor for row in self.rows)

    def table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """The headings, and the cells of each line."""
        return HEADINGS, tuple(map(_cells, self.rows))

    def raise_for_failures(self) -> None:
        """Does nothing if the proof holds.

        Raises:
            ProofFailedError: with a table of the failures, and corrected rules if they follow from the answers.
        """
        if self.ok:
            return
        parts = [self.verdict]
        if self.failures:
            parts.append(_text_table(self.failures))
        raise ProofFailedError("\n".join(parts), hint=self.hint)

    @property
    def verdict(self) -> str:
        """One line: `proved`, or `not proved` with all reasons."""
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
        return f"not proved: {'; '.join(reasons) or 'there is nothing to check'}"

    @property
    def hint(self) -> str | None:
        """The fixes and the notes; None if there are none."""
        failed = {row.outcome for row in self.failures}
        hints = [hint for outcome, hint in _HINTS.items() if outcome in failed]
        if rules := corrected_rules(self.rows):
            hints.append(f"the correct rules: {', '.join(rules)}")
        if self.unregistered:
            hints.append(_NO_CORES)
        if self.missing:
            hints.append(_NO_ANSWER)
        return "; ".join((*hints, *self.notes)) or None


def corrected_rules(rows: Iterable[ProofRow]) -> tuple[str, ...]:
    """Rules that lead each advertised endpoint to the endpoint at which its node answered."""
    rows = tuple(rows)
    advertised = {(row.cluster, row.node_id): row.advertised for row in rows if row.node_id is not None}
    found = {
        advertised[row.cluster, row.answered_by]: row.dialled
        for row in rows
        if row.answered_by is not None and (row.cluster, row.answered_by) in advertised
    }
    return tuple(f"{name} = {reached}" for name, reached in sorted(found.items()))


Answer = Mapping[str, Any]

NOBODY_APPLIES = "no agent runs in this JVM, so nothing applies the map"
_NODE_OUTCOMES = {
    "ok": Outcome.PROVED,
    "not-provable": Outcome.NOT_PROVABLE,
    "wrong-node": Outcome.OTHER_NODE,
    "timed-out": Outcome.UNREACHABLE,
    "failed": Outcome.FAILED,
}


@dataclass(frozen=True)
class Expected:
    """The expected answer of every JVM for one cluster."""

    cluster: str
    fingerprint: str | None
    """The fingerprint of the cluster's map; None without a map, and then no agent is needed."""
    agent: str | None
    """The driver's agent version."""


def rows_of(answer: Answer, expected: Expected) -> tuple[ProofRow, ...]:
    """The rows of one JVM's answer about one cluster: one for each node, or one with the reason why there are none."""
    if fault := _fault(answer, expected):
        return (_row(answer, expected.cluster, *fault),)
    return tuple(_node_row(answer, node, expected.cluster) for node in answer.get("nodes", ()))


def discovery_row(found: Answer, cluster: str, *, mapped: bool) -> ProofRow:
    """The row for a driver that could not get the cluster's nodes; `mapped`: the cluster has a map."""
    if mapped and found.get("agent") is None:
        cause = f"{NOBODY_APPLIES}: {found.get('message')}"
        return ProofRow("driver", "", cluster, None, "", "", Outcome.NO_AGENT, cause)
    outcome = Outcome.UNREACHABLE if found.get("bootstrap") else Outcome.FAILED
    if str(found.get("cause")).endswith(".SaslAuthenticationException"):
        outcome = Outcome.LOGIN_REFUSED
    probes = ", ".join(f"{server}: {probe}" for server, probe in found.get("bootstrap", {}).items())
    cause = f"{found.get('message')} (bootstrap servers {probes})" if probes else str(found.get("message"))
    return ProofRow("driver", "", cluster, None, "", "", outcome, cause)


def notes_of(answer: Answer) -> tuple[str, ...]:
    """Notes that do not fail the proof: several Kafka clients on one class path."""
    copies = answer.get("kafka_clients", ())
    if len(copies) < 2:
        return ()
    named = ", ".join(f"{copy['version']} ({copy['location']})" for copy in copies)
    return (f"executor {answer.get('executor')}: {len(copies)} copies of kafka-clients, the first is used: {named}",)


def _fault(answer: Answer, expected: Expected) -> tuple[Outcome, str] | None:
    message = str(answer.get("message", ""))
    if expected.fingerprint and answer.get("agent") is None:
        return Outcome.NO_AGENT, message or NOBODY_APPLIES
    if "cause" in answer:
        return Outcome.FAILED, f"{answer['cause']}: {message}"
    if problem := answer.get("problem"):
        return Outcome.OTHER_MAP, f"the agent cannot use the map: {problem}"
    if expected.fingerprint and answer.get("fingerprint") != expected.fingerprint:
        return Outcome.OTHER_MAP, f"map {_short(answer.get('fingerprint'))} instead of {_short(expected.fingerprint)}"
    if expected.fingerprint and answer.get("agent") != expected.agent:
        return Outcome.OTHER_MAP, f"agent {answer.get('agent')} where the driver has {expected.agent}"
    return None


def _node_row(answer: Answer, node: Answer, cluster: str) -> ProofRow:
    outcome = _NODE_OUTCOMES.get(str(node.get("outcome")), Outcome.FAILED)
    cause = str(node.get("checked") or node.get("message") or "")
    if outcome is Outcome.FAILED and node.get("reachable") is None:
        outcome = Outcome.UNMAPPED
    elif outcome is Outcome.OTHER_NODE:
        cause = f"the rule for node {node['id']} leads to node {node['answered_by']}"
    elif outcome is Outcome.UNREACHABLE:
        cause = f"{node.get('tcp')}: {cause}"
    return _row(answer, cluster, outcome, cause, node)


def _row(answer: Answer, cluster: str, outcome: Outcome, cause: str, node: Answer | None = None) -> ProofRow:
    about = node or {}
    return ProofRow(
        executor=str(answer.get("executor") or "driver"),
        host=str(answer.get("host") or ""),
        cluster=cluster,
        node_id=about.get("id"),
        advertised=about.get("advertised") or "",
        dialled=about.get("reachable") or "",
        outcome=outcome,
        cause=cause,
        answered_by=about.get("answered_by"),
        agent=answer.get("agent"),
        fingerprint=answer.get("fingerprint"),
    )


def _short(fingerprint: object) -> str:
    return str(fingerprint)[:12] if fingerprint else "none"


_HINTS = {
    Outcome.NO_AGENT: "call brokernat.clients.spark.configure(builder, clusters) before the first session",
    Outcome.OTHER_MAP: "all JVMs need the same map and the same agent: restart the application",
    Outcome.UNMAPPED: "add a rule with the endpoint that can be dialled from here",
    Outcome.UNREACHABLE: "`brokernat doctor` finds out why, where this JVM runs",
    Outcome.LOGIN_REFUSED: "compare the user, the password and the mechanism with those of the brokers",
}
_NO_CORES = (
    "does the cluster have free cores and memory? do the executors start? see the application's page at the master"
)
_NO_ANSWER = "is the executor busy or stuck while starting? see its log, or set a longer timeout"


def _cells(row: ProofRow) -> tuple[str, ...]:
    node = "" if row.node_id is None else str(row.node_id)
    return (row.executor, row.host, row.cluster, node, row.advertised, row.dialled, row.outcome.value, row.cause)


def _text_table(rows: Sequence[ProofRow]) -> str:
    lines = [HEADINGS, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
