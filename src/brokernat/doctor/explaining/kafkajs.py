"""Lines of kafkajs, which are JSON objects unless the program has a logger of its own.

kafkajs does not say whose endpoint a connection was for, except for seed brokers (bootstrap servers).
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import (
    LOGIN,
    LOOK_WHO_ANSWERS,
    MAP_RULE,
    MECHANISM,
    OTHER_PROTOCOL,
    UNREACHABLE,
    UNRESOLVED,
    WRONG_BROKER,
)
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

_SEED = r"(?:Failed to connect to (?P<node>seed broker), [^:]*: )?"

SYMPTOMS: Final = (
    Symptom(
        "kafkajs-no-connection",
        Family.KAFKAJS,
        "no connection to a broker",
        ("Connection error: connect E",),
        rf"{_SEED}Connection error: connect (?P<reason>E\w+) (?P<host>\S+?):(?P<port>\d+)",
        UNREACHABLE,
    ),
    Symptom(
        "kafkajs-unresolved",
        Family.KAFKAJS,
        "a broker's name does not resolve",
        ("Connection error: getaddrinfo ",),
        rf"{_SEED}Connection error: getaddrinfo \w+ (?P<host>[\w.-]+)",
        UNRESOLVED,
    ),
    Symptom(
        "kafkajs-timeout",
        Family.KAFKAJS,
        "a connection is neither taken nor refused",
        ('"[Connection] Connection timeout"', "KafkaJSConnectionError: Connection timeout"),
        r"Connection timeout\"?,?(?:\"broker\":\"(?P<endpoint>[^\"]+)\")?",
        says(
            "{endpoint} neither takes nor refuses the connection: packets to it are dropped.",
            MAP_RULE,
            "BN302",
            "BN103",
        ),
    ),
    Symptom(
        "kafkajs-silent",
        Family.KAFKAJS,
        "a broker takes requests and does not answer",
        (") timed out",),
        r"Request (?P<request>\w+)\(key: \d+, version: \d+\) timed out",
        says(
            "A broker took the connection and did not answer {request}: another service, a gateway with nothing behind "
            "it, or a TLS port that waits for a hello.",
            "look what really listens there; " + OTHER_PROTOCOL,
            "BN104",
            "BN401",
        ),
    ),
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
        "kafkajs-login",
        Family.KAFKAJS,
        "user or password is refused",
        ("authentication failed: ",),
        r"SASL (?P<mechanism>[\w-]+) authentication failed: ",
        says("The broker refused user or password ({mechanism}).", LOGIN, "BN404"),
        Telling.FAULT,
    ),
    Symptom(
        "kafkajs-mechanism",
        Family.KAFKAJS,
        "the listener does not offer the client's SASL mechanism",
        ("does not support the requested SASL mechanism",),
        r"The broker does not support the requested SASL mechanism",
        says("The listener does not offer the mechanism by which the client logs in.", MECHANISM, "BN404"),
        Telling.FAULT,
    ),
    Symptom(
        "kafkajs-login-at-plain-listener",
        Family.KAFKAJS,
        "a login at a listener that has none",
        ("given the current SASL state",),
        r"Request is not valid given the current SASL state",
        says("The client logs in, and the listener behind this port has no login.", OTHER_PROTOCOL, "BN404"),
        Telling.FAULT,
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
)
