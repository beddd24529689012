"""Lines of kafka-python, 2.x (`kafka.conn`) and 3.x (`kafka.net`): `node_id=bootstrap-0` is a bootstrap server, a
number a broker that metadata named, `coordinator-ID` the coordinator. 3.x names no endpoint once a connection is gone.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import (
    CUT_OFF,
    LOGIN,
    LOOK_AT_BOOTSTRAP,
    OTHER_PROTOCOL,
    UNREACHABLE,
    UNRESOLVED,
)
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

_GONE = (
    r"<(?:Broker|Kafka)Connection (?:client_id=\S+ )?node_id=(?P<node>[\w-]+)(?: host=\[?(?P<endpoint>[\w.:-]+:\d+))?"
    r".*>: (?:Connection lost:|Closing connection\.) "
)

SYMPTOMS: Final = (
    Symptom(
        "kafka-python-connection-lost",
        Family.KAFKA_PYTHON,
        "no connection to a node",
        ("KafkaConnectionError: ",),
        rf"{_GONE}KafkaConnectionError: (?:\d+ E[A-Z]+|timeout)",
        UNREACHABLE,
        wordings="`Closing connection.` in 2.x, `Connection lost:` in 3.x",
    ),
    Symptom(
        "kafka-python-dns",
        Family.KAFKA_PYTHON,
        "a name does not resolve",
        ("KafkaConnectionError: DNS ",),
        rf"{_GONE}KafkaConnectionError: DNS (?:Resolution )?failure",
        UNRESOLVED,
    ),
    Symptom(
        "kafka-python-dns-lookup",
        Family.KAFKA_PYTHON,
        "a name does not resolve",
        ("DNS lookup failed for ",),
        r"DNS lookup failed for (?P<host>[^\s:]+):(?P<port>\d+)",
        UNRESOLVED,
    ),
    Symptom(
        "kafka-python-closed",
        Family.KAFKA_PYTHON,
        "a node ended the connection",
        ("KafkaConnectionError: socket disconnected",),
        rf"{_GONE}KafkaConnectionError: socket disconnected",
        CUT_OFF,
    ),
    Symptom(
        "kafka-python-tls-closed",
        Family.KAFKA_PYTHON,
        "the other side ends the connection when TLS starts",
        ("SSL connection closed by server during handshake",),
        rf"{_GONE}KafkaConnectionError: SSL connection closed by server during handshake",
        says(
            "The client speaks TLS, and what is there ended the connection: a listener without TLS does this, and so "
            "does a gateway with nothing behind it.",
            OTHER_PROTOCOL + "; look whether something listens behind the gateway",
            "BN401",
            "BN103",
        ),
    ),
    Symptom(
        "kafka-python-not-kafka",
        Family.KAFKA_PYTHON,
        "what answers is no Kafka",
        ("Invalid frame length: ",),
        rf"{_GONE}InvalidReceiveError: Invalid frame length: (?P<size>1397966893|1213486160)\b",
        says(
            "Another service answers: {size} is the length that the letters `SSH-` (1397966893) or `HTTP` (1213486160) "
            "make.",
            "give the port of a Kafka listener",
            "BN104",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "kafka-python-silent",
        Family.KAFKA_PYTHON,
        "a node takes requests and does not answer",
        ("RequestTimedOutError: ",),
        rf"{_GONE}\[Error 7\] RequestTimedOutError: Request timed out",
        says(
            "A node took the connection and did not answer: another service, a gateway with nothing behind it, or a "
            "TLS port that waits for a hello.",
            "look what really listens there; " + OTHER_PROTOCOL,
            "BN104",
            "BN401",
        ),
    ),
    Symptom(
        "kafka-python-bootstrap-failed",
        Family.KAFKA_PYTHON,
        "no bootstrap server could be used",
        ("Unable to bootstrap from ", "NoBrokersAvailable"),
        r"Unable to bootstrap from (?:\[')?[\w.-]+:\d+|kafka\.errors\.NoBrokersAvailable\b(?!\()|"
        r"NoBrokersAvailable: NoBrokersAvailable",
        says(
            "None of the bootstrap servers could be used. In 2.x the same is said when the login fails.",
            LOOK_AT_BOOTSTRAP.replace("`{endpoint}`", "them"),
            "BN103",
            "BN102",
            "BN401",
            "BN404",
        ),
        Telling.EFFECT,
        wordings="`NoBrokersAvailable` in 2.x, `Unable to bootstrap from` in 3.x",
    ),
    Symptom(
        "kafka-python-metadata-timeout",
        Family.KAFKA_PYTHON,
        "metadata did not come in time",
        ("Failed to update metadata after ",),
        r"KafkaTimeoutError: Failed to update metadata after [\d.]+ secs",
        says(
            "In `max_block_ms` no broker told the producer who leads the topic: what is advertised is dead from here, "
            "or the topic is not there.",
            "the first errors of `kafka.conn` or `kafka.net` above it say why: explain the whole log",
            "BN302",
            "BN301",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "kafka-python-controller",
        Family.KAFKA_PYTHON,
        "the bootstrap server is a controller's port",
        ("IncompatibleBrokerVersion: ", "Did you attempt to connect to a kafka controller"),
        r"Kafka broker does not support the 'MetadataRequest_v\d+'|Did you attempt to connect to a kafka controller",
        says(
            "What answers knows no question for metadata: a KRaft controller, whose port is not for clients.",
            "give the port of a broker's listener",
            "BN105",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "kafka-python-login",
        Family.KAFKA_PYTHON,
        "user, password or mechanism is refused",
        ("Sasl",),
        r"^(?!.*Unable connect to \").*?(?:SaslAuthenticationFailedError|UnsupportedSaslMechanismError)",
        says("The broker refused the login.", LOGIN + "; compare the mechanism, too", "BN404"),
        Telling.FAULT,
    ),
)
