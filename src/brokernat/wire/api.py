"""The allowed requests and their highest versions.

A response with a broker's endpoint must be rewritten, and in Produce and Fetch responses that would mean reading every
record. So the proxy does not offer versions whose data responses contain endpoints: clients negotiate (KIP-35) and use
a lower version. The table limits both the versions that a broker offers and every request. So a client that does not
negotiate gets a closed connection and never an endpoint that was not rewritten.

A key or version that is not in the table is refused, because its response may contain an endpoint. The table was
checked against Kafka 4.3; `ApiVersions` 5 is from 4.4 (KIP-1242) and changes only its request.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

PRODUCE: Final = 0
METADATA: Final = 3
FIND_COORDINATOR: Final = 10
SASL_HANDSHAKE: Final = 17
API_VERSIONS: Final = 18
DESCRIBE_CLUSTER: Final = 60


@dataclass(frozen=True, slots=True)
class Api:
    """A request with Kafka's name; `highest` is its newest allowed version; `reason`: why newer ones are refused."""

    name: str
    highest: int
    reason: str = ""


_LEADERS = "its response carries the endpoints of new leaders (KIP-951)"
_QUORUM = "it is a request between controllers"
_BROKERS = "it is a request between brokers"
_TRANSACTIONS = "transactions v2 (KIP-890) need Produce 12"
_HIDDEN = -1

APIS: Final = MappingProxyType({
    PRODUCE: Api("Produce", 9, _LEADERS),
    1: Api("Fetch", 15, _LEADERS),
    2: Api("ListOffsets", 11),
    METADATA: Api("Metadata", 13),
    4: Api("LeaderAndIsr", _HIDDEN, _BROKERS),
    5: Api("StopReplica", _HIDDEN, _BROKERS),
    6: Api("UpdateMetadata", _HIDDEN, _BROKERS),
    7: Api("ControlledShutdown", _HIDDEN, _BROKERS),
    8: Api("OffsetCommit", 10),
    9: Api("OffsetFetch", 10),
    FIND_COORDINATOR: Api("FindCoordinator", 6),
    11: Api("JoinGroup", 9),
    12: Api("Heartbeat", 4),
    13: Api("LeaveGroup", 5),
    14: Api("SyncGroup", 5),
    15: Api("DescribeGroups", 6),
    16: Api("ListGroups", 5),
    SASL_HANDSHAKE: Api("SaslHandshake", 1),
    API_VERSIONS: Api("ApiVersions", 5),
    19: Api("CreateTopics", 7),
    20: Api("DeleteTopics", 6),
    21: Api("DeleteRecords", 2),
    22: Api("InitProducerId", 6),
    23: Api("OffsetForLeaderEpoch", 4),
    24: Api("AddPartitionsToTxn", 5),
    25: Api("AddOffsetsToTxn", 4),
    26: Api("EndTxn", 4, _TRANSACTIONS),
    27: Api("WriteTxnMarkers", _HIDDEN, _BROKERS),
    28: Api("TxnOffsetCommit", 4, _TRANSACTIONS),
    29: Api("DescribeAcls", 3),
    30: Api("CreateAcls", 3),
    31: Api("DeleteAcls", 3),
    32: Api("DescribeConfigs", 4),
    33: Api("AlterConfigs", 2),
    34: Api("AlterReplicaLogDirs", 2),
    35: Api("DescribeLogDirs", 5),
    36: Api("SaslAuthenticate", 2),
    37: Api("CreatePartitions", 3),
    38: Api("CreateDelegationToken", 3),
    39: Api("RenewDelegationToken", 2),
    40: Api("ExpireDelegationToken", 2),
    41: Api("DescribeDelegationToken", 3),
    42: Api("DeleteGroups", 2),
    43: Api("ElectLeaders", 2),
    44: Api("IncrementalAlterConfigs", 1),
    45: Api("AlterPartitionReassignments", 1),
    46: Api("ListPartitionReassignments", 0),
    47: Api("OffsetDelete", 0),
    48: Api("DescribeClientQuotas", 1),
    49: Api("AlterClientQuotas", 1),
    50: Api("DescribeUserScramCredentials", 0),
    51: Api("AlterUserScramCredentials", 0),
    52: Api("Vote", _HIDDEN, _QUORUM),
    53: Api("BeginQuorumEpoch", _HIDDEN, _QUORUM),
    54: Api("EndQuorumEpoch", _HIDDEN, _QUORUM),
    55: Api("DescribeQuorum", 1, "its response carries the endpoints of controllers (KIP-853)"),
    56: Api("AlterPartition", _HIDDEN, _BROKERS),
    57: Api("UpdateFeatures", 2),
    58: Api("Envelope", _HIDDEN, _BROKERS),
    59: Api("FetchSnapshot", _HIDDEN, _QUORUM),
    DESCRIBE_CLUSTER: Api("DescribeCluster", 2),
    61: Api("DescribeProducers", 0),
    62: Api("BrokerRegistration", _HIDDEN, _BROKERS),
    63: Api("BrokerHeartbeat", _HIDDEN, _BROKERS),
    64: Api("UnregisterBroker", 0),
    65: Api("DescribeTransactions", 0),
    66: Api("ListTransactions", 2),
    67: Api("AllocateProducerIds", _HIDDEN, _BROKERS),
    68: Api("ConsumerGroupHeartbeat", 1),
    69: Api("ConsumerGroupDescribe", 1),
    70: Api("ControllerRegistration", _HIDDEN, _QUORUM),
    71: Api("GetTelemetrySubscriptions", 0),
    72: Api("PushTelemetry", 0),
    73: Api("AssignReplicasToDirs", _HIDDEN, _BROKERS),
    74: Api("ListConfigResources", 1),
    75: Api("DescribeTopicPartitions", 0),
    76: Api("ShareGroupHeartbeat", _HIDDEN, "share groups need ShareFetch"),
    77: Api("ShareGroupDescribe", 1),
    78: Api("ShareFetch", _HIDDEN, _LEADERS),
    79: Api("ShareAcknowledge", _HIDDEN, _LEADERS),
    80: Api("AddRaftVoter", 1),
    81: Api("RemoveRaftVoter", 0),
    82: Api("UpdateRaftVoter", _HIDDEN, _QUORUM),
    83: Api("InitializeShareGroupState", _HIDDEN, _BROKERS),
    84: Api("ReadShareGroupState", _HIDDEN, _BROKERS),
    85: Api("WriteShareGroupState", _HIDDEN, _BROKERS),
    86: Api("DeleteShareGroupState", _HIDDEN, _BROKERS),
    87: Api("ReadShareGroupStateSummary", _HIDDEN, _BROKERS),
    88: Api("StreamsGroupHeartbeat", 0),
    89: Api("StreamsGroupDescribe", 0),
    90: Api("DescribeShareGroupOffsets", 1),
    91: Api("AlterShareGroupOffsets", 0),
    92: Api("DeleteShareGroupOffsets", 0),
})  # fmt: skip
"""By key."""

HIGHEST: Final = MappingProxyType({key: api.highest for key, api in APIS.items() if api.highest >= 0})

HIDDEN_FEATURES: Final = frozenset({b"transaction.version", b"share.version"})
"""Features (KIP-584) that clients use and that need a refused version."""

NOT_BROKERS: Final = MappingProxyType({
    15: "the addresses of clients, as the broker sees them",
    29: "the addresses that an ACL is about",
    31: "the addresses that an ACL is about",
    69: "the addresses of clients, as the broker sees them",
    77: "the addresses of clients, as the broker sees them",
    88: "`application.server` of Streams applications; rewriting it would break interactive queries",
    89: "`application.server` of Streams applications, and the addresses of clients",
})  # fmt: skip
"""Responses with a host that is not a broker's, by key; they pass unchanged."""


def request_name(key: int, version: int) -> str:
    """The name and version of a request, for a log line: `Fetch v16`, or `the unknown request 99 v0`."""
    api = APIS.get(key)
    return f"{api.name} v{version}" if api else f"the unknown request {key} v{version}"


def refusal_reason(key: int) -> str:
    """Why a request or its version is refused; the second half of a log line."""
    api = APIS.get(key)
    if api is None:
        return "its response is unknown"
    return api.reason or f"versions above {api.highest} are not known"
