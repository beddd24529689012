"""The netns world: realistic addresses, with a network namespace for each host; it needs Linux and root.

| host | addresses | what |
|---|---|---|
| hq | 192.168.1.23, .24, .25 | headquarters' brokers, port 9092; they advertise these addresses |
| gw | 192.168.1.40 and 172.10.1.40 | in both networks: nginx on 9093 .., or NAT of 10.99.1.23 .. |
| hq2, gw2 | 192.168.1.23 .., 172.10.1.41 | a second headquarters with the SAME addresses; NAT of 10.99.2.23 .. |
| client | 172.10.1.10 | the host of the job: it reaches only the gateways and the local cluster |
| local | 172.10.1.60 | the local cluster, port 9092 |

It has what the loopback world cannot have: a client without a route to the advertised addresses (192.168.1.0/24), real
nginx, the kernel's NAT, black holes, and two headquarters with the same addresses. A host is the namespace
`brokernat-<world>-<host>`. `world.client.command([...])` runs a program on the client's host.
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import ClassVar

from brokernat.address import Endpoint
from brokernat.errors import WorldError
from brokernat.render import Forward, HostNat
from brokernat.testbed.gateways import Gateway, Gateways, NatGateway, NginxGateway
from brokernat.testbed.namespaces import Namespace, join, tool
from brokernat.testbed.place import Launcher, Place
from brokernat.testbed.topology import Advertise, BrokerPlan, ClusterOptions, ClusterPlan, Protocol, WorldPlan, planned
from brokernat.testbed.world import World

NETNS_SLOTS = range(1, 100)
CLIENT, LOCAL = "172.10.1.10", "172.10.1.60"
HQ_GATEWAY = "192.168.1.40"
GATEWAYS = {"hq": "172.10.1.40", "hq2": "172.10.1.41"}
NAT_NETWORKS = {"hq": "10.99.1", "hq2": "10.99.2"}
HQ_NETWORK = "192.168.1"

_FIRST_HOST = 23
_PORT = 9092
_PEER_PORT, _CONTROLLER_PORT = 19090, 19091
_GATEWAY_FIRST_PORT = 9093
_MORE = 9110
PREFIX = "brokernat-"


class Between(StrEnum):
    """The kind of gateway between the client and headquarters."""

    NGINX = "nginx"
    NFTABLES = "nftables"


def netns_plan(
    name: str,
    *,
    hq: ClusterOptions | None = None,
    local: ClusterOptions | None = None,
    second_hq: ClusterOptions | None = None,
    between: Between = Between.NGINX,
) -> WorldPlan:
    """The plan of a world; a cluster that is None is left out."""
    headquarters = {"hq": hq, "hq2": second_hq}
    clusters = [_headquarters(each, options, between) for each, options in headquarters.items() if options is not None]
    forwards: list[Forward] = []
    nats: list[HostNat] = []
    for broker in (broker for cluster in clusters for broker in cluster.brokers):
        if between is Between.NGINX:
            forwards.append(Forward(broker.reachable, broker.bound))
        else:
            nats.append(HostNat(broker.reachable.host, broker.bound.host))
    if local is not None:
        clusters.append(_local(local))
    return WorldPlan(name, tuple(clusters), tuple(forwards), tuple(nats))


def _headquarters(name: str, options: ClusterOptions, between: Between) -> ClusterPlan:
    brokers = []
    for index in range(options.brokers):
        host = f"{HQ_NETWORK}.{_FIRST_HOST + index}"
        bound = Endpoint(host, _PORT)
        advertised = Endpoint(f"kafka-{index + 1}.hq.internal", _PORT) if options.advertise is Advertise.NAME else bound
        if between is Between.NGINX:
            reachable = Endpoint(GATEWAYS[name], _GATEWAY_FIRST_PORT + index)
        else:
            reachable = Endpoint(f"{NAT_NETWORKS[name]}.{_FIRST_HOST + index}", _PORT)
        peer, controller = Endpoint(host, _PEER_PORT), Endpoint(host, _CONTROLLER_PORT)
        more = planned(options.listeners, index + 1, host, first_local_port=_PORT + index)
        brokers.append(BrokerPlan(index + 1, bound, advertised, reachable, peer, controller, more))
    return ClusterPlan(name, tuple(brokers), options)


def _local(options: ClusterOptions) -> ClusterPlan:
    brokers = []
    for index in range(options.brokers):
        bound = Endpoint(LOCAL, _PORT + index)
        peer, controller = Endpoint(LOCAL, _PEER_PORT + 10 * index), Endpoint(LOCAL, _CONTROLLER_PORT + 10 * index)
        # All brokers share the address.
        more = planned(
            options.listeners,
            index + 1,
            LOCAL,
            first_local_port=_PORT + 100 + 10 * index,
            first_port=_MORE + 10 * index,
        )
        brokers.append(BrokerPlan(index + 1, bound, bound, bound, peer, controller, more))
    return ClusterPlan("local", tuple(brokers), options)


class NetnsWorld(World):
    """`hq` behind a host in both networks, `local` in the client's network."""

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
            hq: headquarters, from 192.168.1.23 on, or None.
            local: the cluster in the client's network, or None.
            second_hq: another headquarters with the same addresses, behind its own gateway.
            between: the kind of the gateways.
            detached: the world continues after this process (`brokernat testbed up`).
        """
        super().__init__(detached=detached)
        self._cluster_options = {"hq": hq, "local": local, "second_hq": second_hq}
        self._between = between

    def up(self) -> None:
        """Start everything and check the plan, see `World.up`.

        Raises:
            WorldError: this user is not root, or see `World.up`.
        """
        if os.geteuid() != 0:
            raise WorldError("the netns testbed needs root", hint="the loopback testbed does not")
        super().up()

    def namespace(self, host: str) -> Namespace:
        """The namespace of `hq`, `gw`, `hq2`, `gw2`, `client` or `local`."""
        return Namespace(f"{PREFIX}{self.plan.name}-{host}")

    def _plan_for_slot(self, slot: int) -> WorldPlan | None:
        return netns_plan(f"{self.kind}-{slot}", **self._cluster_options, between=self._between)

    def _create_network(self, launcher: Launcher) -> Gateway:
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
        """Create one namespace for the brokers, each with its address, and one for the gateway, in both networks."""
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
