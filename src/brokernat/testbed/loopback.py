"""The loopback world: real brokers behind dead addresses on one machine, without root.

A slot S has the network 127.S.0.0/16, so several worlds can run at the same time:

| address | what |
|---|---|
| 127.S.1.23 .. | the advertised addresses of headquarters' brokers: nothing listens there |
| 127.S.2.23 .. | the addresses on which these brokers listen |
| 127.S.3.40 | the gateway, one port for each broker from 9093 on |
| 127.S.4.1 | the local cluster, which advertises the address on which it listens |
| 127.S.5.23 .., 127.S.6.40 | a second headquarters that advertises the SAME 127.S.1.23 .., and its gateway |

All of 127.0.0.0/8 is this machine, so a broker on 0.0.0.0 would answer at each advertised address. Therefore each
broker listens on one address. Names end in `.invalid`, for which resolvers send no query (RFC 6761). IPv6 has only one
loopback address, so brokers differ by their ports there, and also on 127.0.0.1 if they advertise `localhost`.

Packet loss, dropped packets and delays need a network; use the netns world for them.
"""

from __future__ import annotations

import socket
from typing import ClassVar

from brokernat.address import Endpoint
from brokernat.render import Forward
from brokernat.testbed.gateways import ForwarderGateway, Gateway
from brokernat.testbed.place import Here, Launcher, Place, connects
from brokernat.testbed.topology import Advertise, BrokerPlan, ClusterOptions, ClusterPlan, WorldPlan, planned
from brokernat.testbed.world import World

SLOTS = range(10, 250)
PORTS = (9092, 29092, 39092, 49092)
"""The ports to try in order: with a Kafka of the user on 0.0.0.0:9092, every 127.x:9092 answers."""

_FIRST_HOST = 23
_GATEWAY_FIRST_PORT = 9093
_LOCAL_PORT = 19092
_PEER_PORT, _CONTROLLER_PORT = 19090, 19091
# Lower than the ports that the kernel uses for outgoing connections (from 32768 on).
_IPV6_FIRST, _IPV6_PER_SLOT = 12000, 40


def loopback_plan(
    slot: int,
    *,
    hq: ClusterOptions | None = None,
    local: ClusterOptions | None = None,
    second_hq: ClusterOptions | None = None,
    port: int = PORTS[0],
) -> WorldPlan:
    """The plan of slot `slot`; a cluster that is None is left out. Brokers listen on `port` and advertise it."""
    clusters: list[ClusterPlan] = []
    if hq is not None:
        clusters.append(_headquarters("hq", slot, hq, bound_net=2, gateway_net=3, port=port))
    if second_hq is not None:
        clusters.append(_headquarters("hq2", slot, second_hq, bound_net=5, gateway_net=6, port=port))
    forwards = tuple(Forward(broker.reachable, broker.bound) for cluster in clusters for broker in cluster.brokers)
    if local is not None:
        clusters.append(_local(slot, local))
    return WorldPlan(f"loopback-{slot}", tuple(clusters), forwards)


def _headquarters(
    name: str, slot: int, options: ClusterOptions, *, bound_net: int, gateway_net: int, port: int
) -> ClusterPlan:
    brokers = []
    for index in range(options.brokers):
        host = f"127.{slot}.{bound_net}.{_FIRST_HOST + index}"
        reachable = Endpoint(f"127.{slot}.{gateway_net}.40", _GATEWAY_FIRST_PORT + index)
        if options.advertise is Advertise.IPV6:
            reachable = Endpoint("::1", _ipv6_port(slot, gateway_net) + index)
        brokers.append(
            BrokerPlan(
                node_id=index + 1,
                bound=Endpoint(host, port),
                advertised=_advertised(slot, index, options.advertise, port),
                reachable=reachable,
                peer=Endpoint(host, _PEER_PORT),
                controller=Endpoint(host, _CONTROLLER_PORT),
                more=planned(options.listeners, index + 1, host, first_local_port=_ipv6_port(slot, gateway_net)),
            )
        )
    return ClusterPlan(name, tuple(brokers), options)


def _advertised(slot: int, index: int, kind: Advertise, port: int) -> Endpoint:
    match kind:
        case Advertise.ADDRESS:
            return Endpoint(f"127.{slot}.1.{_FIRST_HOST + index}", port)
        case Advertise.NAME:
            return Endpoint(f"kafka-{index + 1}.hq.invalid", port)
        case Advertise.IPV6:
            return Endpoint("::1", _ipv6_port(slot, 0) + index)


def _local(slot: int, options: ClusterOptions) -> ClusterPlan:
    brokers = []
    for index in range(options.brokers):
        host = f"127.{slot}.4.{index + 1}"
        bound = Endpoint(host, _LOCAL_PORT)
        peer, controller = Endpoint(host, _PEER_PORT), Endpoint(host, _CONTROLLER_PORT)
        more = planned(options.listeners, index + 1, host, first_local_port=_ipv6_port(slot, 0))
        brokers.append(BrokerPlan(index + 1, bound, bound, bound, peer, controller, more))
    return ClusterPlan("local", tuple(brokers), options)


def _ipv6_port(slot: int, net: int) -> int:
    return _IPV6_FIRST + slot * _IPV6_PER_SLOT + net * 5


class LoopbackWorld(World):
    """`hq` behind a gateway, with unreachable advertised addresses; `local` without a gateway."""

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
            hq: the cluster behind the gateway, or None.
            local: the cluster that can be reached directly, or None.
            second_hq: a cluster that advertises the same addresses as `hq`, behind its own gateway.
            detached: the world continues after this process (`brokernat testbed up`).
        """
        super().__init__(detached=detached)
        self._cluster_options = {"hq": hq, "local": local, "second_hq": second_hq}
        self.client = Here()

    def _plan_for_slot(self, slot: int) -> WorldPlan | None:
        for port in PORTS:
            plan = loopback_plan(slot, **self._cluster_options, port=port)
            if not any(connects(endpoint, self.client) for endpoint in plan.dead()) and all(
                _can_bind(endpoint) for endpoint in plan.binds()
            ):
                return plan
        return None

    def _create_network(self, launcher: Launcher) -> Gateway:
        log = launcher.state / "gateway.log"
        return ForwarderGateway(self.plan.forwards, launcher=launcher, place=self.client, log=log)

    def _place(self, cluster: str) -> Place:  # noqa: ARG002 - all clusters share one place
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
