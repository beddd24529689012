"""Proves before a query that every JVM has the map and reaches every node, with the real Kafka client.

The driver is first and lists the nodes; then each registered executor is queried repeatedly until all have answered or
the timeout ends. The query is a Java function in the agent's jar, because a Python worker cannot inspect the executor's
JVM, and Kafka clients from 3.9 on do not report a map without an agent. Properties, with credentials, are only in a
field of that function's object, never in SQL text, a job's description or a log.

Executors that join later are proved, too (`watch`): a thread compares the registered executors with the proved ones,
and queries the new ones. Spark may start tasks on a new executor before that. The agent protects their connections (a
client's own map refuses endpoints without a rule), and a JVM without an agent cannot create a client that names the
reporter. So a late result means a broken executor, but no records in the wrong cluster.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brokernat.address import fingerprint
from brokernat.clients.spark.configuring import Clusters, as_clusters
from brokernat.clients.spark.options import client_properties
from brokernat.clients.spark.proof import (
    Answer,
    Expected,
    Outcome,
    Proof,
    ProofRow,
    discovery_row,
    notes_of,
    rows_of,
)
from brokernat.clients.spark.session import DRIVER, ClassicSession
from brokernat.clients.spark.settings import LOADER_KEY, Loader
from brokernat.config import Cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

PROOF_CLASS = "io.brokernat.agent.proof.Proof"
_POLL_SECONDS = 0.1


def prove(
    spark: SparkSession,
    clusters: Clusters,
    *,
    topics: Mapping[str, Iterable[str]] | None = None,
    timeout: float = 60,
    executors: int | None = None,
) -> Proof:
    """Check that the driver and every registered executor have the map and reach every node of every cluster.

    Args:
        spark: a classic session.
        clusters: the clusters of the job.
        topics: the topics of the job by cluster name; their leaders prove a node's identity if no ACL allows a client
            to read its id.
        timeout: seconds for all executors to answer; the driver takes a few seconds more.
        executors: the minimum number to wait for; default `spark.executor.instances` if set, else one.

    Returns:
        The result, good or bad; `.raise_for_failures()` raises it as an error.

    Raises:
        ConfigError: a Spark Connect session.
    """
    session = ClassicSession(spark)
    questions, rows, notes = query_driver(session, as_clusters(clusters), topics or {})
    missing: tuple[str, ...] = ()
    unregistered = 0
    if questions and not session.is_local:
        expected = executors if executors is not None else int(spark.conf.get("spark.executor.instances", None) or 1)
        of_executors = query_executors(session, questions, timeout=timeout, at_least=expected)
        rows, notes = (*rows, *of_executors.rows), (*notes, *of_executors.notes)
        missing, unregistered = of_executors.missing, of_executors.unregistered
    for note in dict.fromkeys(notes):
        log.warning("%s", note)
    return Proof(rows, missing, tuple(dict.fromkeys(notes)), unregistered)


@contextmanager
def watch(
    spark: SparkSession,
    clusters: Clusters,
    proof: Proof,
    on_failure: Callable[[Proof], None],
    *,
    topics: Mapping[str, Iterable[str]] | None = None,
    on_success: Callable[[Proof], None] | None = None,
    interval: float = 1,
    timeout: float = 60,
) -> Iterator[None]:
    """Prove each executor that joins while the `with` block runs.

    Args:
        spark: the session of `proof`.
        clusters: as for `prove`.
        proof: the proof so far; its executors are not queried again.
        on_failure: called from another thread with the proof of the failed executors; stop the query there.
        topics: as for `prove`.
        on_success: called from another thread with the proof of the other executors.
        interval: seconds between two checks for new executors.
        timeout: seconds for a new executor to answer.
    """
    session = ClassicSession(spark)
    if session.is_local:
        yield
        return
    questions, _, _ = query_driver(session, as_clusters(clusters), topics or {})
    ended = threading.Event()

    def prove_new_executors() -> None:
        from py4j.protocol import Py4JError

        known = set(proof.executors)
        while not ended.wait(interval):
            try:
                if session.executors().keys() <= known:
                    continue
                result = query_executors(session, questions, timeout=timeout, proved=frozenset(known))
            except (Py4JError, OSError) as problem:
                # The session is ending, so there are no executors to query.
                log.debug("cannot list new executors: %s", type(problem).__name__)
                continue
            known |= result.executors | set(result.missing)
            if result.ok:
                log.info("new executors have the map: %s", ", ".join(sorted(result.executors)))
                if on_success:
                    on_success(result)
            elif result.rows or result.missing:
                on_failure(result)

    thread = threading.Thread(target=prove_new_executors, name="brokernat-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=timeout)


@dataclass(frozen=True)
class Question:
    """The query to every JVM about one cluster."""

    function: Any
    """A `ProofFunction` with the properties, which its toString does not show."""
    expected: Expected


def query_driver(
    session: ClassicSession, clusters: Iterable[Cluster], topics: Mapping[str, Iterable[str]]
) -> tuple[tuple[Question, ...], tuple[ProofRow, ...], tuple[str, ...]]:
    """The questions for the executors, and the driver's rows and notes; no questions if the driver found no node."""
    questions: list[Question] = []
    rows: list[ProofRow] = []
    notes: tuple[str, ...] = ()
    for cluster in clusters:
        if not session.java_class_visible(PROOF_CLASS):
            cause = "the agent's jar is not in this session"
            rows.append(ProofRow(DRIVER, "", cluster.name, None, "", "", Outcome.NO_AGENT, cause))
            continue
        loader = session.spark.conf.get(LOADER_KEY, None)
        properties = client_properties(cluster, loader=Loader(loader) if loader else None)
        found = _discover(session, properties, ",".join(topics.get(cluster.name, ())))
        if "cause" in found:
            rows.append(discovery_row(found, cluster.name, mapped=bool(_fingerprint(cluster))))
            continue
        nodes = ",".join(f"{node['id']}={node['endpoint']}" for node in found["nodes"])
        partitions = ",".join(f"{node}={partition}" for node, partition in found["partitions"].items())
        function = _java(session).ProofFunction(properties, nodes, partitions)
        expected = Expected(cluster.name, _fingerprint(cluster), found["agent"])
        answer = json.loads(function.call(DRIVER))
        rows.extend(rows_of(answer, expected))
        notes += notes_of(answer)
        questions.append(Question(function, expected))
    return tuple(questions), tuple(rows), notes


def _discover(session: ClassicSession, properties: dict[str, str], topics: str) -> Answer:
    """The nodes of a cluster, in at most two attempts: the first load of Kafka's classes on a busy machine may exceed
    the short timeouts, although a bootstrap server is reachable.
    """
    for _ in range(2):
        found: Answer = json.loads(_java(session).Proof.discover(properties, topics))
        if not (str(found.get("cause")).endswith("TimeoutException") and "connected" in found["bootstrap"].values()):
            break
    return found


def query_executors(
    session: ClassicSession,
    questions: tuple[Question, ...],
    *,
    timeout: float,
    at_least: int = 0,
    proved: frozenset[str] = frozenset(),
) -> Proof:
    """Query registered executors that are not in `proved` until all have answered, for at most `timeout` seconds."""
    answers: dict[tuple[str, int], Answer] = {}
    running: dict[tuple[str, int], Any] = {}
    deadline = time.monotonic() + timeout
    registered: dict[str, str] = {}
    try:
        while True:
            registered = {name: host for name, host in session.executors().items() if name not in proved}
            wanted = {(name, number) for name in registered for number in range(len(questions))}
            _collect(running, answers)
            if (wanted <= answers.keys() and len(registered) >= at_least) or time.monotonic() > deadline:
                break
            for name, number in sorted(wanted - answers.keys() - running.keys()):
                # The task needs the host for its placement; the scheduler knows an executor before its host is known.
                if host := registered[name]:
                    running[name, number] = session.run_on(name, host, questions[number].function)
            time.sleep(_POLL_SECONDS)
    finally:
        for job in running.values():
            job.cancel(True)
    answers = {key: answer for key, answer in answers.items() if key[0] not in proved}
    unanswered = {name for name, number in wanted - answers.keys()}
    rows: list[ProofRow] = []
    for (_, number), answer in sorted(answers.items(), key=lambda item: item[0]):
        rows.extend(rows_of(answer, questions[number].expected))
    notes = [note for answer in answers.values() for note in notes_of(answer)]
    return Proof(tuple(rows), tuple(sorted(unanswered)), tuple(notes), max(0, at_least - len(registered)))


def _collect(running: dict[tuple[str, int], Any], answers: dict[tuple[str, int], Answer]) -> None:
    for (name, number), job in list(running.items()):
        if not job.isDone():
            continue
        del running[name, number]
        answer = _result(job, name)
        if answer is not None:
            # After Spark's locality wait the task may run on another executor, so the answer is stored for that one.
            answers[str(answer.get("executor") or name), number] = answer


def _result(job: Any, executor: str) -> Answer | None:
    from py4j.protocol import Py4JJavaError

    try:
        answer: Answer = json.loads(job.get()[0].getString(0))
    except Py4JJavaError as problem:
        # The executor was lost, or its class loader has no agent jar; retried until the timeout.
        log.info("executor %s could not be checked: %s", executor, problem.java_exception.getClass().getName())
        return None
    return answer


def _fingerprint(cluster: Cluster) -> str | None:
    # With an empty map the cluster's clients use no map, so no agent is needed.
    return fingerprint(cluster.address_map) if cluster.address_map and cluster.address_map.rules else None


def _java(session: ClassicSession) -> Any:
    return session.jvm.io.brokernat.agent.proof
