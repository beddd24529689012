"""Brokers that are started from what `render listeners` wrote: its text, and below it what every broker needs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from brokernat.address import Endpoint
from brokernat.jvm import find_java
from brokernat.render.broker_files import listeners
from brokernat.render.listeners_plan import ListenersPlan, PlannedListener
from brokernat.testbed.broker import BrokerVersion, Runtime, new_id
from brokernat.testbed.kafka import Connection, Operations
from brokernat.testbed.place import Here, Launcher, wait_until

TIMEOUT = 180
BASE = """
offsets.topic.num.partitions=3
offsets.topic.replication.factor=1
log.cleaner.dedupe.buffer.size=1048577
num.network.threads=2
num.io.threads=4
controller.quorum.election.timeout.ms=500
controller.quorum.fetch.timeout.ms=3000
metadata.max.idle.interval.ms=10000
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=6000
"""


@dataclass
class RenderedCluster:
    """One cluster of a plan."""

    plan: ListenersPlan
    version: str
    folder: Path
    launcher: Launcher
    _processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    def file(self, node_id: int) -> Path:
        """The server.properties of a node."""
        return self.folder / f"node-{node_id}.properties"

    def listener(self, name: str) -> dict[int, PlannedListener]:
        """The listener of that name of each node."""
        return {broker.node_id: each for broker in self.plan.brokers for each in broker.listeners if each.name == name}

    def begin(self) -> None:
        """Write, format and start all nodes."""
        version = BrokerVersion(self.version)
        runtime = Runtime(find_java(version.minimum_java), version.jars()[0].parent)
        self.folder.mkdir()
        voters = ",".join(f"{broker.node_id}@{broker.controller}" for broker in self.plan.brokers)
        for broker in self.plan.brokers:
            # Of a cluster that exists the quorum is not rendered.
            quorum = f"controller.quorum.voters={voters}\n" if self.plan.exists else ""
            base = f"{BASE}{quorum}log.dirs={self.folder}/{broker.node_id}\n"
            self.file(broker.node_id).write_text(listeners(self.plan, "a test", broker.node_id) + base)
        cluster_id = new_id()
        formats = [
            self._run(runtime, node, "kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(self.file(node)))
            for node in self.nodes
        ]
        assert [process.wait(TIMEOUT) for process in formats] == [0] * len(formats)
        for node in self.nodes:
            self._processes[node] = self._run(runtime, node, "kafka.Kafka", str(self.file(node)))

    def wait(self) -> None:
        """Until every node knows every other."""
        inside = self.listener(self.plan.inter_broker)
        operations = Operations(self.nodes, lambda node: Connection(Here().dial(inside[node].advertised)))
        for node in self.nodes:
            wait_until(self._ready(operations, node), f"node {node}", timeout=TIMEOUT, abort=self._ended(node))

    @property
    def nodes(self) -> tuple[int, ...]:
        """All node ids."""
        return tuple(broker.node_id for broker in self.plan.brokers)

    def _ready(self, operations: Operations, node: int) -> Callable[[], bool]:
        def ready() -> bool:
            try:
                return operations.metadata(node).nodes >= set(self.nodes)
            except OSError:
                return False

        return ready

    def _ended(self, node: int) -> Callable[[], str | None]:
        log = self.folder / f"node-{node}.log"
        return lambda: None if self._processes[node].poll() is None else log.read_text()[-3000:]

    def _run(self, runtime: Runtime, node: int, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        log = self.folder / f"node-{node}.log"
        return self.launcher.start(runtime.command(main, *arguments), place=Here(), log=log)


def bound_on(plan: ListenersPlan, host: str) -> ListenersPlan:
    """The plan with each broker on an address of its own: all of them run on this machine."""
    brokers = []
    for broker in plan.brokers:
        here = host.format(id=broker.node_id)
        moved = tuple(replace(each, bound=f"{here}:{each.bound_port}") for each in broker.listeners)
        brokers.append(replace(broker, listeners=moved))
    return replace(plan, brokers=tuple(brokers))


def bound(listener: PlannedListener) -> Endpoint:
    """Where it listens."""
    return Endpoint.parse(listener.bound)
