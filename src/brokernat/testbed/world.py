"""What all worlds have in common: claim a place, start the clusters, prove the plan, end everything.

A world ends with its `with` block, with the process that opened it in whatever way (keeper.py), and otherwise when
the next one starts. A subclass says which plan fits into a place and what has to stand around the brokers.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from abc import ABC, abstractmethod
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from brokernat.errors import WorldError
from brokernat.testbed import worlds
from brokernat.testbed.gateways import Gateway
from brokernat.testbed.kafka import speaks_kafka
from brokernat.testbed.place import Launcher, Place, connects, wait_until
from brokernat.testbed.running_cluster import RunningCluster, launch_all
from brokernat.testbed.topology import WorldPlan

_ALIVE_TIMEOUT = 180.0


class World(ABC):
    """A context manager. Inside it `hq` and `local` run, and `hq2` where it was asked for."""

    kind: ClassVar[str]
    slots: ClassVar[range]

    plan: WorldPlan
    state: Path
    gateway: Gateway
    client: Place
    """Where clients stand."""

    def __init__(self, *, detached: bool = False) -> None:
        """Nothing is started.

        Args:
            detached: the world outlives this process (`brokernat testbed up`).
        """
        self.clusters: dict[str, RunningCluster] = {}
        self._detached = detached
        self._claims: tuple[socket.socket, ...] = ()
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
        """The second one, which advertises the same addresses."""
        return self.clusters["hq2"]

    @property
    def local(self) -> RunningCluster:
        """The cluster on this side."""
        return self.clusters["local"]

    def up(self) -> None:
        """Start everything and prove that the advertised endpoints are dead and the reachable ones alive.

        Raises:
            MissingToolError: something to run it with is not there; named with its package.
            WorldError: it does not come up, or the proof failed; nothing is left running.
        """
        if sys.platform != "linux":
            raise WorldError(f"the {self.kind} world needs Linux")
        worlds.remove_stale()
        with ExitStack() as undo:
            self.plan, self._claims = self._claim_slot()
            self.state = worlds.root() / self.plan.name
            undo.callback(self.down)
            worlds.remove(self.state)
            self.state.mkdir(mode=0o700)
            # At once, so that `testbed down` finds a detached world that died while it started.
            worlds.write_summary(self.state, worlds.summarise(self.plan, self.kind, detached=self._detached))
            if not self._detached:
                self._keeper = worlds.keep(self.state, self._claims)
            launcher = self._launcher = Launcher(self.state, inherited=(self._claims[0].fileno(),))
            self.gateway = self._surround(launcher)
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
                # From now on it belongs to nobody; `testbed down` ends it.
                self._claims[1].close()

    def down(self) -> None:
        """End everything of this world and remove its files; nothing happens when it is down."""
        if not self._claims:
            return
        worlds.remove(self.state)
        if self._launcher is not None:
            self._launcher.reap()
        if self._keeper is not None:
            worlds.dismiss(self._keeper)
        for held in self._claims:
            held.close()
        self._claims = ()
        self._launcher = self._keeper = None

    @abstractmethod
    def _fit(self, slot: int) -> WorldPlan | None:
        """The plan for a slot, None when something else is in its way."""

    @abstractmethod
    def _surround(self, launcher: Launcher) -> Gateway:
        """Make what has to stand around the brokers; returns the gateway, not started."""

    @abstractmethod
    def _place(self, cluster: str) -> Place:
        """Where the nodes of a cluster run."""

    def _claim_slot(self) -> tuple[WorldPlan, tuple[socket.socket, ...]]:
        for step in range(len(self.slots)):
            # From different starting points, or worlds that start together meet at each slot.
            slot = self.slots[(os.getpid() + step) % len(self.slots)]
            claims = worlds.claim_as_owner(f"{self.kind}-{slot}")
            if claims is None:
                continue
            plan = self._fit(slot)
            if plan is not None:
                return plan, claims
            for held in claims:
                held.close()
        raise WorldError(f"no free slot for a {self.kind} world", hint="brokernat testbed down")


def prove(plan: WorldPlan, client: Place) -> None:
    """Hold the plan against the network: what is advertised is dead from the client's place, what the map leads to
    answers there. Without it a test of a map can pass because nothing was in the way.

    Raises:
        WorldError: an advertised endpoint answers.
        NothingReachableError: a reachable one does not.
    """
    for endpoint in plan.dead():
        if connects(endpoint, client):
            raise WorldError(
                f"{endpoint} is advertised by a broker that hides, and it answers",
                hint="does a server of this machine listen on 0.0.0.0 or on [::]?",
            )
    for cluster in plan.clusters:
        for endpoint in cluster.bootstrap:
            answers = partial(speaks_kafka, endpoint, client, tls=cluster.options.protocol.tls)
            wait_until(answers, f"{cluster.name} at {endpoint}", timeout=_ALIVE_TIMEOUT)
