"""Lines of Kafka's Java clients about what brokers answer: metadata, leaders, identity, rights.

A repeated NOT_LEADER is the mark of an address that leads to another broker than its name says: the client asks the
leader of the metadata, reaches somebody else, fetches the same metadata again. A single one is a leader that moved.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import LOOK_WHO_ANSWERS, WRONG_BROKER
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

SYMPTOMS: Final = (
    Symptom(
        "java-not-leader",
        Family.JAVA,
        "the broker that answered does not lead the partition",
        ("NotLeader",),
        r"due to [\w.]+\.errors\.NotLeader(?:OrFollower|ForPartition)Exception|"
        r"NotLeaderOrFollowerException: For requests intended only for the leader|"
        r"NotLeaderForPartitionException: This server is not the leader for that topic-partition",
        says(WRONG_BROKER, LOOK_WHO_ANSWERS, "BN601", "BN602"),
    ),
    Symptom(
        "java-produce-error-not-leader",
        Family.JAVA,
        "a write reached a broker that does not lead the partition",
        ("Got error produce response",),
        r"Got error produce response .* on topic-partition (?P<partition>\S+), .*Error: NOT_LEADER",
        says(
            "A write to {partition} reached a broker that does not lead it. Repeated, the endpoint of one broker leads "
            "to another one: exchanged rules or ports, or a balancer.",
            LOOK_WHO_ANSWERS,
            "BN601",
            "BN602",
        ),
    ),
    Symptom(
        "java-rebootstrap-requested",
        Family.JAVA,
        "a broker says that it is another one than the client took it for",
        ("Rebootstrap requested by server",),
        r"Rebootstrap requested by server due to cluster metadata mismatch for cluster \S+ and node (?P<node>-?\d+)",
        says(
            "The client told node {node} which cluster and node it takes it for, and the broker denied (KIP-1242). So "
            "that endpoint leads to another broker, or to another cluster: this is proof.",
            LOOK_WHO_ANSWERS,
            "BN601",
            "BN501",
        ),
        Telling.FAULT,
        wordings="from 4.4, with brokers from 4.4",
    ),
    Symptom(
        "java-topic-id-changed",
        Family.JAVA,
        "a topic's id changes between answers",
        ("since the associated topicId changed from ",),
        r"epoch of partition (?P<partition>\S+) to \S+ since the associated topicId changed from (?!null)\S+ to ",
        says(
            "{partition} had another topic id a moment ago. Unless it was deleted and made again, two clusters answer "
            "this client: bootstrap servers or rules lead to different ones.",
            "compare the cluster ids behind all bootstrap servers and rules",
            "BN501",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-listener-missing",
        Family.JAVA,
        "leaders do not have the listener that the client came in on",
        ("partitions have leader brokers without a matching listener",),
        r"(?P<count>\d+) partitions have leader brokers without a matching listener, including \[(?P<some>[^\]]*)\]",
        says(
            "The leaders of {count} partitions ({some}) lack the listener whose port was dialled: a broker tells of "
            "those brokers only that have a listener of the same NAME.",
            "give every broker a listener of that name, or bootstrap through one that all have; a broker that is just "
            "starting shows the same for a while",
            "BN504",
            "BN502",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-unknown-topic",
        Family.JAVA,
        "the topic is not there",
        ("=UNKNOWN_TOPIC_OR_PARTITION", "UnknownTopicOrPartitionException: "),
        r"\bmetadata\b[^{}]*\{[^{}]*=UNKNOWN_TOPIC_OR_PARTITION|UnknownTopicOrPartitionException: This "
        r"server does not host this topic-partition",
        says(
            "The cluster that answered has no such topic: a wrong name, or another cluster than one thinks.",
            "list the topics; compare the cluster id with the one you expect",
            "BN501",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-leader-not-available",
        Family.JAVA,
        "a partition has no leader for this listener",
        ("LEADER_NOT_AVAILABLE",),
        r"\bmetadata\b[^{}]*\{[^{}]*?(?P<topic>[\w.-]+)=LEADER_NOT_AVAILABLE",
        says(
            "A partition of `{topic}` has no leader that this listener may tell of: just made, its broker is down, or "
            "its broker lacks the listener (old clients say it so).",
            "look at the topic's leaders; when it lasts, at the listeners of all brokers",
            "BN504",
            "BN503",
        ),
    ),
    Symptom(
        "java-not-authorized",
        Family.JAVA,
        "the user may not do this",
        ("Not authorized to access ", "Topic authorization failed for topics "),
        r"(?:Not authorized to access (?:topics|group): |Topic authorization failed for topics )"
        r"\[?(?P<name>[^\]]+?)\]?\s*$",
        says(
            "The login worked; its user has no right to `{name}`.",
            "ask the cluster's people for the ACL (READ, WRITE, DESCRIBE on topics, READ on the group)",
            "BN003",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-topic-not-authorized",
        Family.JAVA,
        "the user may not see the topic",
        ("TOPIC_AUTHORIZATION_FAILED",),
        r"\bmetadata\b[^{}]*\{[^{}]*?(?P<topic>[\w.-]+)=TOPIC_AUTHORIZATION_FAILED",
        says(
            "The login worked; its user has no right to `{topic}`.",
            "ask the cluster's people for the ACL (DESCRIBE comes with READ or WRITE)",
            "BN003",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-cluster-not-authorized",
        Family.JAVA,
        "the user has no right on the cluster or its transactional id",
        ("AuthorizationException: ",),
        r"AuthorizationException: (?P<what>Cluster|Transactional Id) authorization failed\.",
        says(
            "The login worked; its user lacks a right ({what}).",
            "ask for it, or do without: an idempotent producer of a broker before 2.8 needs IDEMPOTENT_WRITE",
            "BN003",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-controller",
        Family.JAVA,
        "the bootstrap server is a controller's port",
        ("EndpointTypeException", " does not support "),
        r"MismatchedEndpointTypeException|UnsupportedEndpointTypeException|The (?:broker|node) does not support "
        r"(?:METADATA|PRODUCE|INIT_PRODUCER_ID|FIND_COORDINATOR)\b",
        says(
            "What answers is a KRaft controller: its port is for brokers and administration, not for clients.",
            "give the port of a broker's listener",
            "BN105",
        ),
        Telling.FAULT,
    ),
)
