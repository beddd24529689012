"""The netns world: the two situations with their own addresses, each host a network namespace. Linux, root.

What loopback cannot show is here: a client without a route to what brokers advertise, real nginx, the kernel's NAT,
black holes, and two headquarters with the same addresses. Programs that are to stand where the client stands are run
there: `world.client.command([...])`.
"""

from __future__ import annotations

import os
from typing import ClassVar

from brokernat.errors import WorldError
from brokernat.testbed.gateways import Gateway, Gateways, NatGateway, NginxGateway
from brokernat.testbed.namespaces import Namespace, join, tool
from brokernat.testbed.netns_plan import (
    CLIENT,
    GATEWAYS,
    HQ_GATEWAY,
    LOCAL,
    NAT_NETWORKS,
    NETNS_SLOTS,
    Between,
    netns_plan,
)
from brokernat.testbed.place import Launcher, Place
from brokernat.testbed.topology import ClusterOptions, ClusterPlan, Protocol, WorldPlan
from brokernat.testbed.world import World

PREFIX = "brokernat-"


class NetnsWorld(World):
    """`hq` behind a dual-homed host, `local` beside the client."""

    kind: ClassVar[str] = "netns"
    slots: ClassVar[range] = NETNS_SLOTS
    client: Namespace

    def __init__(
        self,
        *,
        hq: ClusterOptions | None = ClusterOptions(protocol=Protocol.SASL_PLAINTEXT),  # noqa: B008 - frozen
        local: ClusterOptions | None = ClusterOptions(brokers=1),  # noqa: B008 - frozen
        second_hq: ClusterOptions | None = None,
        between: Between = Between.NGINX,
        detached: bool = False,
    ) -> None:
        """Nothing is started.

        Args:
            hq: headquarters, 192.168.1.23 and on; None for none.
            local: the cluster in the client's network; None for none.
            second_hq: another headquarters with the same addresses, behind a gateway of its own.
            between: what the gateways do.
            detached: the world outlives this process (`brokernat testbed up`).
        """
        super().__init__(detached=detached)
        self._wanted = {"hq": hq, "local": local, "second_hq": second_hq}
        self._between = between

    def up(self) -> None:
        """Start everything and prove the plan, as every world does.

        Raises:
            WorldError: not root, besides what every world raises.
        """
        if os.geteuid() != 0:
            raise WorldError("the netns world needs root", hint="the loopback world does not")
        super().up()

    def namespace(self, host: str) -> Namespace:
        """`hq`, `gw`, `hq2`, `gw2`, `client` or `local`."""
        return Namespace(f"{PREFIX}{self.plan.name}-{host}")

    def _fit(self, slot: int) -> WorldPlan | None:
        return netns_plan(f"{self.kind}-{slot}", **self._wanted, between=self._between)

    def _surround(self, launcher: Launcher) -> Gateway:
        self.client = self.namespace("client")
        self.client.create()
        gateways: list[Gateway] = []
        for cluster in self.plan.clusters:
            if cluster.hidden:
                gateways.append(self._headquarters(cluster, launcher))
            else:
                local = self.namespace("local")
                local.create()
                join(self.client, CLIENT, local, LOCAL)
        return Gateways(gateways)

    def _place(self, cluster: str) -> Place:
        return self.namespace(cluster)

    def _headquarters(self, cluster: ClusterPlan, launcher: Launcher) -> Gateway:
        """Brokers in one namespace, each with its address; the gateway in another, in both networks."""
        hq, gateway = self.namespace(cluster.name), self.namespace(cluster.name.replace("hq", "gw"))
        hq.create()
        gateway.create()
        hosts = [broker.bound.host for broker in cluster.brokers]
        join(gateway, HQ_GATEWAY, hq, hosts[0])
        for host in hosts[1:]:
            hq.run(tool("ip"), "address", "add", f"{host}/32", "dev", f"to-{gateway.host}")
            gateway.run(tool("ip"), "route", "add", host, "dev", f"to-{hq.host}")
        join(self.client, CLIENT, gateway, GATEWAYS[cluster.name])
        if self._between is Between.NFTABLES:
            network = f"{NAT_NETWORKS[cluster.name]}.0/24"
            self.client.run(tool("ip"), "route", "add", network, "via", GATEWAYS[cluster.name])
            nats = [nat for nat in self.plan.nats if nat.outside in {str(end.host) for end in cluster.bootstrap}]
            return NatGateway(nats, place=gateway)
        forwards = [forward for forward in self.plan.forwards if forward.listen in cluster.bootstrap]
        folder = self.state / gateway.host
        return NginxGateway(forwards, place=gateway, launcher=launcher, folder=folder)
