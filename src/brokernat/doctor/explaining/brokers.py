"""Lines of the brokers' own logs: what they made of the bytes of clients that came to the wrong port, and what keeps
brokers and controllers from each other.

A size is the first four bytes of something that is no Kafka request, read as a length: 0x16030100 is a TLS hello.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.java_connections import NODE, NODE_TEXT, PEER
from brokernat.doctor.explaining.readings import LOGIN, OTHER_PROTOCOL
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

_FILES: Final = "brokernat doctor --server-properties FILE"
_AMONG_BROKERS: Final = (
    "on the brokers: look whether that node is up, then at what `inter.broker.listener.name` and "
    "`controller.quorum.voters` lead to"
)

SYMPTOMS: Final = (
    Symptom(
        "size-tls-hello",
        Family.BROKER,
        "a client speaks TLS to a listener without TLS",
        ("Invalid receive (size = 36929",),
        r"Invalid receive \(size = (?P<size>3692(?:9[5-6]\d{3}))\b",
        says(
            "A client speaks TLS to a listener that does not: {size} are the first bytes of a TLS hello, read as a "
            "length.",
            "on the client: " + OTHER_PROTOCOL,
            "BN401",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "size-tls-alert",
        Family.BROKER,
        "a client without TLS got a TLS alert",
        ("Invalid receive (size = 3525",),
        r"Invalid receive \(size = (?P<size>3525(?:1[89]\d{3}))\b",
        says(
            "The client does not speak TLS and the port does: {size} are the first bytes of a TLS alert, read as a "
            "length.",
            OTHER_PROTOCOL,
            "BN401",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "size-http",
        Family.BROKER,
        "one side speaks HTTP",
        ("Invalid receive (size = ",),
        r"Invalid receive \(size = (?P<size>1213486160|1195725856|1347375956)\b",
        says(
            "One side speaks HTTP: {size} are the letters `HTTP`, `GET ` or `POST`, read as a length.",
            "a client: give the port of a Kafka listener. A broker: a browser or a health check came to this port",
            "BN104",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "broker-asked-for-another-id",
        Family.BROKER,
        "a broker was asked for the settings of another one",
        ("Unexpected broker id, expected ",),
        r"Unexpected broker id, expected (?P<node>\d+)(?: or empty string)?,? but received (?P<asked>-?\d+)",
        says(
            "A question for broker {asked} reached broker {node}. -1 is the question of brokernat's doctor who it is, "
            "and harmless; any other number means that the endpoint of one broker leads to another one.",
            "compare where each advertised endpoint leads with who answers there",
            "BN601",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "broker-login-failed",
        Family.BROKER,
        "a client's login or handshake failed",
        ("Failed authentication with ",),
        r"\[SocketServer .*Failed authentication with [^/\s]*/(?P<ip>\S+) \((?:channelId=\S+\) \()?"
        r"(?:errorMessage=)?(?!channelId=|errorMessage=|Unexpected Kafka request)(?P<reason>[^)]+)\)",
        says("The broker refused a client at {ip}: {reason}.", "on the client: " + LOGIN, "BN404", "BN401"),
        Telling.FAULT,
    ),
    Symptom(
        "broker-plain-to-sasl",
        Family.BROKER,
        "a client without a login came to a listener that demands one",
        ("during SASL handshake",),
        r"Unexpected Kafka request of type (?P<request>\w+) during SASL handshake",
        says(
            "A client asked ({request}) without logging in, and the listener demands a login.",
            "on the client: " + OTHER_PROTOCOL,
            "BN404",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "broker-no-peer",
        Family.BROKER,
        "a broker or controller does not reach another one",
        ("could not be established. ",),
        rf"{PEER}[^\]]*\] Connection to {NODE} could not be established\.",
        says(
            "The broker that wrote this does not reach node {node} at {endpoint}: that node is down or just starting, "
            "or its endpoint for the other brokers cannot be dialled from there. Clients and their maps have no part "
            "in it.",
            _AMONG_BROKERS,
            "BN819",
            "BN823",
            then=_FILES,
        ),
    ),
    Symptom(
        "broker-peer-unresolved",
        Family.BROKER,
        "the name of another broker does not resolve on a broker",
        ("Error connecting to node ",),
        rf"{PEER}[^\]]*\] Error connecting to node {NODE_TEXT}",
        says(
            "The broker that wrote this was told of node {node} at {endpoint}, and that name does not resolve there. "
            "Clients and their maps have no part in it.",
            _AMONG_BROKERS,
            "BN819",
            "BN824",
            then=_FILES,
        ),
    ),
)
