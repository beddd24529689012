"""The base class of worlds, networks with real brokers: lock addresses, start clusters, prove the plan, remove all.

A world ends with its `with` block or with the process that opened it (keeper.py). If both fail, the next world removes
it. A subclass defines the plan for a slot of addresses and the network around the brokers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from abc import ABC, abstractmethod
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from brokernat.errors import WorldError
from brokernat.testbed import running_worlds
from brokernat.testbed.gateways import Gateway
from brokernat.testbed.kafka import speaks_kafka
from brokernat.testbed.place import Launcher, Place, connects, wait_until
from brokernat.testbed.running_cluster import RunningCluster, launch_all
from brokernat.testbed.topology import WorldPlan

_ALIVE_TIMEOUT = 180.0


class World(ABC):
    """A context manager that runs the clusters `hq` and `local`, and `hq2` on request."""

    kind: ClassVar[str]
    slots: ClassVar[range]

    plan: WorldPlan
    state: Path
    gateway: Gateway
    client: Place
    """The place where clients run."""

    def __init__(self, *, detached: bool = False) -> None:
        """Nothing is started.

        Args:
            detached: the world continues after this process (`brokernat testbed up`).
        """
        self.clusters: dict[str, RunningCluster] = {}
        self._detached = detached
        self._claims: tuple[running_worlds.Claim, ...] = ()
        self._keeper: subprocess.Popen[bytes] | None = None
        self._launcher: Launcher | None = None

    def __enter__(self) -> Self:
        self.up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()

    @property
    def hq(self) -> RunningCluster:
        """The cluster behind the gateway."""
        return self.clusters["hq"]

    @property
    def hq2(self) -> RunningCluster:
        """The second cluster, which advertises the same addresses."""
        return self.clusters["hq2"]

    @property
    def local(self) -> RunningCluster:
        """The cluster in the client's network."""
        return self.clusters["local"]

    def up(self) -> None:
        """Start everything, and check that advertised endpoints are unreachable and reachable ones answer.

        Raises:
            MissingToolError: a program is missing; names its package.
            WorldError: the world does not start, or the check failed; all processes are stopped again.
        """
        if sys.platform != "linux":
            raise WorldError(f"the {self.kind} testbed needs Linux")
        running_worlds.remove_stale()
        with ExitStack() as undo:
            self.plan, self._claims = self._claim_slot()
            self.state = running_worlds.state_root() / self.plan.name
            undo.callback(self.down)
            running_worlds.remove(self.state)
            self.state.mkdir(mode=0o700)
            # Before the start, so that `testbed down` finds a detached world whose start failed.
            summary = running_worlds.summary_of(self.plan, self.kind, detached=self._detached)
            running_worlds.write_summary(self.state, summary)
            if not self._detached:
                self._keeper = running_worlds.start_keeper(self.state, self._claims)
            launcher = self._launcher = Launcher(self.state, inherited=(self._claims[0].fileno(),))
            self.gateway = self._create_network(launcher)
            self.gateway.start()
            self.clusters = {
                cluster.name: RunningCluster(
                    cluster,
                    folder=self.state / cluster.name,
                    launcher=launcher,
                    place=self._place(cluster.name),
                )
                for cluster in self.plan.clusters
            }
            launch_all(list(self.clusters.values()))
            prove(self.plan, self.client)
            undo.pop_all()
            if self._detached:
                # The world has no owner from now on; `testbed down` ends it.
                self._claims[1].release()

    def down(self) -> None:
        """Stop all processes of this world and remove its files."""
        if not self._claims:
            return
        running_worlds.remove(self.state)
        if self._launcher is not None:
            self._launcher.reap()
        if self._keeper is not None:
            running_worlds.stop_keeper(self._keeper)
        for lock in self._claims:
            lock.release()
        self._claims = ()
        self._launcher = self._keeper = None

    @abstractmethod
    def _plan_for_slot(self, slot: int) -> WorldPlan | None:
        """The plan for a slot of addresses, None if the slot is in use."""

    @abstractmethod
    def _create_network(self, launcher: Launcher) -> Gateway:
        """Create the network around the brokers; returns the gateway, not started."""

    @abstractmethod
    def _place(self, cluster: str) -> Place:
        """The place where the nodes of a cluster run."""

    def _claim_slot(self) -> tuple[WorldPlan, tuple[running_worlds.Claim, ...]]:
        for step in range(len(self.slots)):
            # Each process starts at another slot; otherwise worlds that start together would compete for each slot.
            slot = self.slots[(os.getpid() + step) % len(self.slots)]
            claims = running_worlds.claim_as_owner(f"{self.kind}-{slot}")
            if claims is None:
                continue
            plan = self._plan_for_slot(slot)
            if plan is not None:
                return plan, claims
            for lock in claims:
                lock.release()
        raise WorldError(f"no free addresses for another {self.kind} testbed", hint="brokernat testbed down")


def prove(plan: WorldPlan, client: Place) -> None:
    """Check the network: advertised endpoints are unreachable from the client's place, and reachable ones answer.
    Otherwise a test of a map could pass without the map.

    Raises:
        WorldError: an advertised endpoint answers.
        NothingReachableError: a reachable endpoint does not answer.
    """
    for endpoint in plan.dead():
        if connects(endpoint, client):
            raise WorldError(
                f"the advertised endpoint {endpoint} should be unreachable, but it answers",
                hint="does a server on this machine listen on 0.0.0.0 or [::]?",
            )
    for cluster in plan.clusters:
        for endpoint in cluster.bootstrap:
            answers = partial(speaks_kafka, endpoint, client, tls=cluster.options.protocol.tls)
            wait_until(answers, f"{cluster.name} at {endpoint}", timeout=_ALIVE_TIMEOUT)
