"""The loopback world: real brokers behind dead addresses on one machine, without root.

Everything runs on 127.x addresses of a slot of its own (loopback_plan.py), so several worlds can run side by side. It
ends with the `with` block, with the process that opened it in whatever way, and otherwise when the next world starts.
It cannot do what needs a network: lose packets, drop instead of refuse, be slow; the netns world can.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from brokernat.errors import BrokernatError
from brokernat.testbed import worlds
from brokernat.testbed.gateway import ForwarderGateway
from brokernat.testbed.loopback_plan import PORTS, SLOTS, loopback_plan
from brokernat.testbed.place import Here, Launcher
from brokernat.testbed.proof import connects, prove
from brokernat.testbed.running_cluster import RunningCluster, launch_all
from brokernat.testbed.topology import ClusterOptions, WorldPlan

if TYPE_CHECKING:
    import subprocess
    from types import TracebackType

    from brokernat.address import Endpoint

KIND = "loopback"


class LoopbackWorld:
    """A context manager; `hq` and `local` run inside it, and `hq2` where it was asked for."""

    def __init__(
        self,
        *,
        hq: ClusterOptions | None = ClusterOptions(),  # noqa: B008 - frozen
        local: ClusterOptions | None = ClusterOptions(brokers=1),  # noqa: B008 - frozen
        second_hq: ClusterOptions | None = None,
        detached: bool = False,
    ) -> None:
        """Nothing is started.

        Args:
            hq: the cluster behind the gateway; None for none.
            local: the cluster that everybody reaches; None for none.
            second_hq: a cluster that advertises the same addresses as `hq`, behind a gateway of its own.
            detached: the world outlives this process (`brokernat testbed up`).
        """
        self._wanted = {"hq": hq, "local": local, "second_hq": second_hq}
        self._detached = detached
        self._keeper: subprocess.Popen[bytes] | None = None
        self._claim: socket.socket | None = None
        self._launcher: Launcher | None = None
        self.client = Here()
        self.clusters: dict[str, RunningCluster] = {}

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
        """Start everything, prove that the advertised endpoints are dead and the others alive.

        Raises:
            MissingToolError: no Java, or the brokers' jars cannot be had.
            BrokernatError: it does not come up, or the proof failed; nothing is left running.
        """
        if sys.platform != "linux":
            raise BrokernatError("the loopback world needs Linux: elsewhere 127.0.0.1 is the only loopback address")
        worlds.remove_stale()
        with ExitStack() as undo:
            self.plan, self._claim = self._claim_slot()
            undo.callback(self.down)
            self.state = worlds.root() / self.plan.name
            worlds.remove(self.state)
            self.state.mkdir(mode=0o700)
            if not self._detached:
                self._keeper = worlds.keep(self.state, self._claim)
            launcher = self._launcher = Launcher(self.state, inherited=(self._claim.fileno(),))
            self.gateway = ForwarderGateway(
                self.plan.forwards, launcher=launcher, place=self.client, log=self.state / "gateway.log"
            )
            self.gateway.start()
            self.clusters = {
                cluster.name: RunningCluster(
                    cluster,
                    folder=self.state / cluster.name,
                    launcher=launcher,
                    places={broker.node_id: self.client for broker in cluster.brokers},
                )
                for cluster in self.plan.clusters
            }
            launch_all(list(self.clusters.values()))
            prove(self.plan, self.client)
            worlds.write_summary(self.state, worlds.summarise(self.plan, KIND, detached=self._detached))
            undo.pop_all()

    def down(self) -> None:
        """End everything of this world and remove its files; nothing happens when it is down."""
        if self._claim is None:
            return
        worlds.remove(self.state)
        if self._launcher is not None:
            self._launcher.reap()
        if self._keeper is not None:
            worlds.dismiss(self._keeper)
        self._claim.close()
        self._claim = self._launcher = self._keeper = None

    def _claim_slot(self) -> tuple[WorldPlan, socket.socket]:
        first = os.getpid()
        for step in range(len(SLOTS)):
            # From different starting points, or worlds that start together meet at each slot.
            slot = SLOTS[(first + step) % len(SLOTS)]
            held = worlds.claim(f"{KIND}-{slot}")
            if held is None:
                continue
            plan = self._free_plan(slot)
            if plan is not None:
                return plan, held
            held.close()
        raise BrokernatError("no free slot of loopback addresses", hint="brokernat testbed down --all")

    def _free_plan(self, slot: int) -> WorldPlan | None:
        for port in PORTS:
            plan = loopback_plan(slot, **self._wanted, port=port)
            wanted = [forward.listen for forward in plan.forwards]
            wanted += [endpoint for cluster in plan.clusters for broker in cluster.brokers
                       for endpoint in (broker.bound, broker.peer, broker.controller)]  # fmt: skip
            if not any(connects(endpoint, self.client) for endpoint in plan.dead()) and all(map(_can_bind, wanted)):
                return plan
        return None


def _can_bind(endpoint: Endpoint) -> bool:
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((endpoint.host, endpoint.port))
        except OSError:
            return False
    return True
