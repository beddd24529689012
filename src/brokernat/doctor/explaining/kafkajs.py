"""Lines of kafkajs, which are JSON objects unless the program has a logger of its own.

kafkajs does not say whose endpoint a connection was for, except for seed brokers (bootstrap servers).
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import (
    LOGIN,
    MAP_RULE,
    MECHANISM,
    OTHER_PROTOCOL,
    UNREACHABLE,
    UNRESOLVED,
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
        ("[Connection] Connection timeout", "KafkaJSConnectionError: Connection timeout"),
        r"(?:\[Connection\]|KafkaJSConnectionError:) Connection timeout(?:[^}]*?\"broker\":\"(?P<endpoint>[^\"]+)\")?",
        says(
            "{endpoint} neither takes nor refuses the connection: packets to it are dropped.",
            MAP_RULE,
            "BN302",
            "BN103",
        ),
    ),
    Symptom(
        "kafkajs-all-addresses",
        Family.KAFKAJS,
        "no address of a broker's name takes a connection",
        ('Connection error: ",', "Connection error: AggregateError"),
        r"(?:\[Connection\]|Failed to connect to (?P<node>seed broker), [^:]*:) Connection error: "
        r"(?:AggregateError|\",)(?:[^}]*?\"broker\":\"(?P<endpoint>[^\"]+)\")?",
        UNREACHABLE,
        wordings="Node.js 20 and later, where a name has several addresses: the message is empty",
    ),
    Symptom(
        "kafkajs-closed",
        Family.KAFKAJS,
        "the other side ended the connection",
        ("Closed connection",),
        r"(?:KafkaJSConnectionClosedError: |\[BrokerPool\] )Closed connection",
        says(
            "A broker took the connection and ended it: the listener speaks TLS or demands a login and the client does "
            "not, it is no Kafka, or nothing is behind a gateway.",
            OTHER_PROTOCOL + "; look whether something listens behind the gateway",
            "BN401",
            "BN404",
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
)
