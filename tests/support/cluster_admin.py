"""Rights of the client's user, for clusters with `authorize`, and the end of topics, in the testbed's own way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from kio.schema.create_acls.v1.request import AclCreation, CreateAclsRequest
from kio.schema.create_acls.v1.response import CreateAclsResponse
from kio.schema.delete_topics.v1.request import DeleteTopicsRequest
from kio.schema.delete_topics.v1.response import DeleteTopicsResponse
from kio.schema.describe_acls.v1.request import DescribeAclsRequest
from kio.schema.describe_acls.v1.response import DescribeAclsResponse
from kio.schema.types import TopicName
from kio.static.primitive import i8

from brokernat.testbed import RunningCluster
from brokernat.testbed.kafka import Connection, metadata_of, milliseconds

_LITERAL, _ALLOW = i8(3), i8(3)


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


def allow(cluster: RunningCluster, *rights: Allow) -> None:
    """Give the client's user rights and wait until every broker acts on them."""
    principal = f"User:{cluster.plan.options.username}"
    creations = tuple(
        AclCreation(
            resource_type=i8(right.resource),
            resource_name=right.name,
            resource_pattern_type=_LITERAL,
            principal=principal,
            host="*",
            operation=i8(right.operation),
            permission_type=_ALLOW,
        )
        for right in rights
    )
    cluster.operations.request_controller(
        "give rights",
        CreateAclsRequest(creations=creations),
        CreateAclsResponse,
        lambda answer: [(one.error_code, one.error_message) for one in answer.results],
    )

    def in_force(connection: Connection) -> bool:
        return all(_exists(connection, right, principal) for right in rights)

    cluster.operations.known_everywhere(in_force, "rights in force")


def delete_topics(cluster: RunningCluster, *names: str) -> None:
    """Delete topics and wait until no broker knows a leader of theirs."""
    cluster.operations.request_controller(
        "delete topics",
        DeleteTopicsRequest(topic_names=tuple(map(TopicName, names)), timeout=milliseconds(30_000)),
        DeleteTopicsResponse,
        lambda answer: [(one.error_code, one.name) for one in answer.responses],
    )
    cluster.operations.known_everywhere(
        lambda connection: not any(metadata_of(connection, names).leaders.values()), f"end of {', '.join(names)}"
    )


def _exists(connection: Connection, right: Allow, principal: str) -> bool:
    request = DescribeAclsRequest(
        resource_type_filter=i8(right.resource),
        resource_name_filter=right.name,
        pattern_type_filter=_LITERAL,
        principal_filter=principal,
        host_filter="*",
        operation=i8(right.operation),
        permission_type=_ALLOW,
    )
    return bool(connection.ask(request, DescribeAclsResponse, timeout=5).resources)
