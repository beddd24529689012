"""Lines of the brokers' own logs: what they made of the bytes of clients that came to the wrong port.

A size is the first four bytes of something that is no Kafka request, read as a length: 0x16030100 is a TLS hello.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import LOGIN, OTHER_PROTOCOL
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

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
        r"\[SocketServer .*Failed authentication with [^/\s]*/(?P<ip>\S+) \((?:channelId=\S+\) \()?(?P<reason>[^)]+)\)",
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
)
