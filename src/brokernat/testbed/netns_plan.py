"""Where the netns world puts everything: the addresses of the two situations as people have them.

| host | addresses | what |
|---|---|---|
| hq | 192.168.1.23, .24, .25 | headquarters' brokers, port 9092, advertised as they are |
| gw | 192.168.1.40 and 172.10.1.40 | in both networks: nginx on 9093 .., or NAT of 10.99.1.23 .. |
| hq2, gw2 | 192.168.1.23 .., 172.10.1.41 | a second headquarters with the SAME addresses; NAT of 10.99.2.23 .. |
| client | 172.10.1.10 | where the job runs: reaches gateways and the local cluster, nothing else |
| local | 172.10.1.60 | the local cluster, port 9092 |

The client has no route to 192.168.1.0/24. Hosts are namespaces `brokernat-<world>-<host>`.
"""

from __future__ import annotations

from enum import StrEnum

from brokernat.address import Endpoint
from brokernat.render import Forward, HostNat
from brokernat.testbed.topology import Advertise, BrokerPlan, ClusterOptions, ClusterPlan, WorldPlan, planned

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


class Between(StrEnum):
    """What stands between the client and headquarters."""

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
    wanted = {"hq": hq, "hq2": second_hq}
    clusters = [_headquarters(each, options, between) for each, options in wanted.items() if options is not None]
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
        here = Endpoint(host, _PORT)
        advertised = Endpoint(f"kafka-{index + 1}.hq.internal", _PORT) if options.advertise is Advertise.NAME else here
        if between is Between.NGINX:
            reachable = Endpoint(GATEWAYS[name], _GATEWAY_FIRST_PORT + index)
        else:
            reachable = Endpoint(f"{NAT_NETWORKS[name]}.{_FIRST_HOST + index}", _PORT)
        peer, controller = Endpoint(host, _PEER_PORT), Endpoint(host, _CONTROLLER_PORT)
        more = planned(options.listeners, index + 1, host, first_local_port=_PORT + index)
        brokers.append(BrokerPlan(index + 1, here, advertised, reachable, peer, controller, more))
    return ClusterPlan(name, tuple(brokers), options)


def _local(options: ClusterOptions) -> ClusterPlan:
    brokers = []
    for index in range(options.brokers):
        here = Endpoint(LOCAL, _PORT + index)
        peer, controller = Endpoint(LOCAL, _PEER_PORT + 10 * index), Endpoint(LOCAL, _CONTROLLER_PORT + 10 * index)
        # All brokers share the address.
        more = planned(
            options.listeners,
            index + 1,
            LOCAL,
            first_local_port=_PORT + 100 + 10 * index,
            first_port=_MORE + 10 * index,
        )
        brokers.append(BrokerPlan(index + 1, here, here, here, peer, controller, more))
    return ClusterPlan("local", tuple(brokers), options)
