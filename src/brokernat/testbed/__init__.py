"""Real brokers behind addresses that cannot be reached: on loopback without root, in namespaces with it."""

from brokernat.testbed.acls import Allow, Operation, Resource
from brokernat.testbed.kafka import Record, Topic
from brokernat.testbed.listeners import Certificate, Listener
from brokernat.testbed.loopback import LoopbackWorld
from brokernat.testbed.netns import NetnsWorld
from brokernat.testbed.netns_plan import Between
from brokernat.testbed.running_cluster import RunningCluster
from brokernat.testbed.security import Mechanism, Protocol
from brokernat.testbed.topology import Advertise, ClusterOptions
from brokernat.testbed.world import World

__all__ = [
    "Advertise",
    "Allow",
    "Between",
    "Certificate",
    "ClusterOptions",
    "Listener",
    "LoopbackWorld",
    "Mechanism",
    "NetnsWorld",
    "Operation",
    "Protocol",
    "Record",
    "Resource",
    "RunningCluster",
    "Topic",
    "World",
]
