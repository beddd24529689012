"""Rights in the numbers of Kafka's protocol, for clusters with `authorize`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from brokernat.testbed.kafka.primitives import int8, string

_LITERAL, _ALLOW = 3, 3


class Resource(IntEnum):
    """`org.apache.kafka.common.resource.ResourceType`."""

    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5


class Operation(IntEnum):
    """`org.apache.kafka.common.acl.AclOperation`."""

    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DESCRIBE = 8
    DESCRIBE_CONFIGS = 10
    IDEMPOTENT_WRITE = 12


@dataclass(frozen=True, slots=True)
class Allow:
    """One right; the name `*` stands for every resource of the kind, the cluster is called `kafka-cluster`."""

    operation: Operation
    resource: Resource = Resource.TOPIC
    name: str = "*"

    def creation(self, username: str) -> bytes:
        """The element of a CreateAcls request (version 1)."""
        who = string(f"User:{username}") + string("*")
        what = int8(self.resource) + string(self.name) + int8(_LITERAL)
        return what + who + int8(self.operation) + int8(_ALLOW)
