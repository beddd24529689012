"""Executors that join later are proved too.

A thread compares the registered executors with those that have shown the map, and asks the new ones. Spark may give
a new executor work before that: its first connection is guarded by the agent itself (a client's own map refuses what
it does not name), and a JVM without an agent cannot make a client that names the reporter. So what is found here
late is a broken executor, not records that went astray.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from brokernat.clients.spark.configuring import Clusters, as_clusters
from brokernat.clients.spark.proof import Proof
from brokernat.clients.spark.proving import ask_driver, ask_executors
from brokernat.clients.spark.session import ClassicSession

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)


@contextmanager
def watch(
    spark: SparkSession,
    clusters: Clusters,
    proof: Proof,
    on_failure: Callable[[Proof], None],
    *,
    topics: Mapping[str, Iterable[str]] | None = None,
    interval: float = 1,
    timeout: float = 60,
) -> Iterator[None]:
    """Prove each executor that joins while the `with` block runs.

    Args:
        spark: the session of `proof`.
        clusters: as for `prove`.
        proof: what was proved so far; its executors are not asked again.
        on_failure: called from another thread with the proof of the executors that failed; stop the query there.
        topics: as for `prove`.
        interval: seconds between two looks at who is registered.
        timeout: seconds a new executor has to answer.
    """
    session = ClassicSession(spark)
    if session.is_local:
        yield
        return
    questions, _, _ = ask_driver(session, as_clusters(clusters), topics or {})
    ended = threading.Event()

    def look() -> None:
        from py4j.protocol import Py4JError

        known = set(proof.executors)
        while not ended.wait(interval):
            try:
                if session.executors().keys() <= known:
                    continue
                found = ask_executors(session, questions, timeout=timeout, proved=frozenset(known))
            except (Py4JError, OSError) as problem:
                # The session ends, or is ending: then there is nobody left to ask.
                log.debug("cannot look for new executors: %s", type(problem).__name__)
                continue
            known |= found.executors | set(found.missing)
            if found.ok:
                log.info("executors that joined have shown the map: %s", ", ".join(sorted(found.executors)))
            elif found.rows or found.missing:
                on_failure(found)

    thread = threading.Thread(target=look, name="brokernat-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=timeout)
