"""A reload and a restart under load: the longest time without an acknowledgement, and what became of the records."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.report import verdict
from confluent_kafka import Message, Producer
from tests.leaks.proxies import proxy

from brokernat.address import Endpoint
from brokernat.testbed import RunningCluster

GOAL = 0.5
"""Seconds."""
_PACE = 0.001
_BEFORE, _AFTER = 2.0, 4.0
_PATIENCE = 60
_WORKERS = ("--workers", "2")


class Load:
    """An idempotent producer of numbers, one partition, one number after the other."""

    def __init__(self, bootstrap: Endpoint, topic: str) -> None:
        self._client = Producer({"bootstrap.servers": str(bootstrap), "enable.idempotence": True, "linger.ms": 0})
        self._topic, self.sent, self._over = topic, 0, threading.Event()
        self._acknowledged: list[float] = []
        self._thread = threading.Thread(target=self._produce)
        self._thread.start()

    def longest_gap(self, action: Callable[[], None]) -> float:
        """Seconds without an acknowledgement around an action."""
        time.sleep(_BEFORE)
        began = time.perf_counter()
        action()
        time.sleep(_AFTER)
        times = [at for at in self._acknowledged if at >= began - _BEFORE / 2]
        return max(later - earlier for earlier, later in itertools.pairwise(times))

    def end(self) -> int:
        """How many records were sent; all of them are acknowledged."""
        self._over.set()
        self._thread.join()
        if left := self._client.flush(_PATIENCE):
            raise TimeoutError(f"{left} records were not acknowledged")
        return self.sent

    def _produce(self) -> None:
        while not self._over.is_set():
            self._client.produce(self._topic, str(self.sent), partition=0, on_delivery=self._delivered)
            self.sent += 1
            self._client.poll(_PACE)

    def _delivered(self, error: object, _message: Message) -> None:
        if error is None:
            self._acknowledged.append(time.perf_counter())


def measure(hq: RunningCluster, config: Path, listen: Endpoint) -> Iterator[bool]:
    """SIGHUP, then SIGUSR2, while records go on."""
    hq.create_topic("restarted", partitions=1)
    with proxy(config, listen, *_WORKERS) as running:
        load = Load(running.bootstrap, "restarted")

        def restart() -> None:
            running.process.send_signal(signal.SIGUSR2)
            assert running.process.stdout is not None
            running.process.stdout.readline()

        yield _shown("reload", load.longest_gap(lambda: running.process.send_signal(signal.SIGHUP)))
        yield _shown("restart", load.longest_gap(restart))
        sent = load.end()
    values = [int(record.value or b"-1") for record in hq.read("restarted")]
    lost, duplicated = len(set(range(sent)) - set(values)), len(values) - len(set(values))
    shown = f"{lost} lost, {duplicated} twice, of {sent}"
    yield verdict("records of an idempotent producer", shown, "none lost, in order", values == list(range(sent)))


def _shown(name: str, gap: float) -> bool:
    return verdict(f"{name}: longest time without an acknowledgement", f"{gap:.2f} s", f"<= {GOAL} s", gap <= GOAL)
