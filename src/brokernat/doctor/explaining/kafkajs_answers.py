"""Lines of kafkajs about what brokers answer: leaders, coordinators, topics, rights."""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import (
    LOOK_AT_OFFSETS_TOPIC,
    LOOK_WHO_ANSWERS,
    NO_COORDINATOR,
    WRONG_BROKER,
)
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

SYMPTOMS: Final = (
    Symptom(
        "kafkajs-no-listener",
        Family.KAFKAJS,
        "leaders do not have the listener that the client came in on",
        ("There is no listener on the leader broker",),
        r"There is no listener on the leader broker that matches the listener",
        says(
            "A partition's leader lacks the listener whose port was dialled: a broker tells of those brokers only that "
            "have a listener of the same NAME.",
            "give every broker a listener of that name, or bootstrap through one that all have",
            "BN504",
            "BN502",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "kafkajs-not-leader",
        Family.KAFKAJS,
        "the broker that answered does not lead the partition",
        ("This server is not the leader",),
        r"(?:KafkaJSProtocolError: |\"error\":\"|Failed to send messages: )This server is not the leader",
        says(WRONG_BROKER, LOOK_WHO_ANSWERS, "BN601", "BN602"),
    ),
    Symptom(
        "kafkajs-not-coordinator",
        Family.KAFKAJS,
        "the broker that answered does not coordinate the group",
        ("This is not the correct coordinator",),
        r"KafkaJS\w+: This is not the correct coordinator|\"error\":\"This is not the correct coordinator",
        says(WRONG_BROKER, LOOK_WHO_ANSWERS, "BN601", "BN701"),
    ),
    Symptom(
        "kafkajs-unknown-topic",
        Family.KAFKAJS,
        "the topic is not there",
        ("This server does not host this topic-partition",),
        r"(?:KafkaJSProtocolError: |\"error\":\")This server does not host this topic-partition",
        says(
            "The cluster that answered has no such topic: a wrong name, or another cluster than one thinks.",
            "list the topics",
            "BN501",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "kafkajs-controller",
        Family.KAFKAJS,
        "the bootstrap server is a controller's port",
        ("does not support the requested API version",),
        r"KafkaJSNonRetriableError: The Kafka server does not support the requested API version",
        says(
            "What answers knows no question for metadata: a KRaft controller, whose port is not for clients.",
            "give the port of a broker's listener",
            "BN105",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "kafkajs-not-authorized",
        Family.KAFKAJS,
        "the user may not do this",
        ('"Not authorized to access ',),
        r"\"error\":\"Not authorized to access (?:topics|group)",
        says(
            "The login worked; its user lacks a right to the topic or the group.",
            "ask the cluster's people for the ACL",
            "BN003",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "kafkajs-no-leader",
        Family.KAFKAJS,
        "a partition has no leader",
        ("There is no leader for this topic-partition",),
        r"(?:KafkaJSProtocolError: |\"error\":\"|Failed to send messages: )There is no leader for this topic-partition",
        says(
            "A partition of the topic has no leader: the topic was just made, or the brokers that hold the partition "
            "are down.",
            "once, after a topic was made, it is normal; when it lasts, look which brokers are down",
            "BN503",
            "BN504",
        ),
    ),
    Symptom(
        "kafkajs-no-coordinator",
        Family.KAFKAJS,
        "the cluster names no coordinator",
        ("The group coordinator is not available", "KafkaJSGroupCoordinatorNotFound: "),
        r"(?:KafkaJS\w+: |\"error\":\")The group coordinator is not available|KafkaJSGroupCoordinatorNotFound: ",
        says(NO_COORDINATOR, LOOK_AT_OFFSETS_TOPIC, "BN703", "BN504"),
    ),
)
