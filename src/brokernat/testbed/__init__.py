"""Real brokers behind unreachable advertised addresses: on loopback without root, in network namespaces with root."""

from brokernat.testbed.kafka import Topic
from brokernat.testbed.loopback import LoopbackWorld
from brokernat.testbed.netns import Between, NetnsWorld
from brokernat.testbed.record_batches import Record
from brokernat.testbed.running_cluster import RunningCluster
from brokernat.testbed.topology import Advertise, ClusterOptions, Listener, Mechanism, Protocol
from brokernat.testbed.world import World

__all__ = [
    "Advertise",
    "Between",
    "ClusterOptions",
    "Listener",
    "LoopbackWorld",
    "Mechanism",
    "NetnsWorld",
    "Protocol",
    "Record",
    "RunningCluster",
    "Topic",
    "World",
]
