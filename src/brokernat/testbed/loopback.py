"""The loopback world: real brokers behind dead addresses on one machine, without root.

Everything runs on 127.x addresses of a slot of its own (loopback_plan.py), so several worlds can run side by side. It
cannot do what needs a network: lose packets, drop instead of refuse, be slow; the netns world can.
"""

from __future__ import annotations

import socket
from typing import ClassVar

from brokernat.address import Endpoint
from brokernat.testbed.gateways import ForwarderGateway, Gateway
from brokernat.testbed.loopback_plan import PORTS, SLOTS, loopback_plan
from brokernat.testbed.place import Here, Launcher, Place, connects
from brokernat.testbed.topology import ClusterOptions, WorldPlan
from brokernat.testbed.world import World


class LoopbackWorld(World):
    """`hq` behind a gateway and a dead address for each broker, `local` as it is."""

    kind: ClassVar[str] = "loopback"
    slots: ClassVar[range] = SLOTS

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
        super().__init__(detached=detached)
        self._wanted = {"hq": hq, "local": local, "second_hq": second_hq}
        self.client = Here()

    def _fit(self, slot: int) -> WorldPlan | None:
        for port in PORTS:
            plan = loopback_plan(slot, **self._wanted, port=port)
            if not any(connects(endpoint, self.client) for endpoint in plan.dead()) and all(
                _can_bind(endpoint) for endpoint in plan.binds()
            ):
                return plan
        return None

    def _surround(self, launcher: Launcher) -> Gateway:
        log = launcher.state / "gateway.log"
        return ForwarderGateway(self.plan.forwards, launcher=launcher, place=self.client, log=log)

    def _place(self, cluster: str) -> Place:  # noqa: ARG002 - all share one
        return self.client


def _can_bind(endpoint: Endpoint) -> bool:
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((endpoint.host, endpoint.port))
        except OSError:
            return False
    return True
