"""Lines of kafkajs, which are JSON objects unless the program has a logger of its own.

kafkajs does not say whose endpoint a connection was for, except for seed brokers (bootstrap servers).
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import MAP_RULE, OTHER_PROTOCOL, UNREACHABLE, UNRESOLVED
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
)
