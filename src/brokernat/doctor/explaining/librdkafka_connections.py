"""Lines of librdkafka: of confluent-kafka in Python, Go and .NET, of kcat, of PHP, Ruby, Rust and C programs.

The name of the broker says whose endpoint it is: `host:port/bootstrap` a bootstrap server, `host:port/ID` a broker that
metadata named, `GroupCoordinator` the coordinator. What a program prints of an error (`KafkaError{code=…}`) has lost
it: without a log handler or `log_level`, set `debug=broker`.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import CUT_OFF, OTHER_PROTOCOL, UNREACHABLE, UNRESOLVED
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

# `127.0.0.1:9092/bootstrap: `, `sasl_ssl://kafka-1:9093/7: `, `GroupCoordinator: `
BROKER: Final = (
    r"(?P<node>(?:[a-z_]+://)?(?:(?P<endpoint>[^\s/\"]+:\d+)/)?"
    r"(?:bootstrap|(?:Group|Txn)Coordinator(?:/\d+)?|\d+)): .*?"
)

SYMPTOMS: Final = (
    Symptom(
        "rdkafka-no-connection",
        Family.LIBRDKAFKA,
        "no connection to a broker",
        ("Connect to ipv",),
        rf"{BROKER}Connect to ipv[46]#(?P<ip>\S+):(?P<port>\d+) failed: (?P<reason>[\w ]+)",
        UNREACHABLE,
    ),
    Symptom(
        "rdkafka-setup-timeout",
        Family.LIBRDKAFKA,
        "a connection is neither taken nor refused, or nobody answers on it",
        ("Connection setup timed out in state",),
        rf"{BROKER}Connection setup timed out in state (?P<state>\w+)",
        UNREACHABLE,
    ),
    Symptom(
        "rdkafka-unresolved",
        Family.LIBRDKAFKA,
        "a broker's name does not resolve",
        ("Failed to resolve '",),
        rf"{BROKER}Failed to resolve '(?P<host>\S+):(?P<port>\d+)'(?!: Destination address required)",
        UNRESOLVED,
    ),
    Symptom(
        "rdkafka-refused-by-map",
        Family.LIBRDKAFKA,
        "brokernat's plug-in refused an endpoint",
        ("': Destination address required",),
        r"Failed to resolve '(?P<endpoint>\S+)': Destination address required",
        says(
            "The address map of this client names no {endpoint} (or cannot be read) and `unmapped` is `fail`: "
            "librdkafka knows no other words for a refusal of the plug-in.",
            "the `BROKERNAT` line above it has the rule to add",
            "BN605",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "rdkafka-closed",
        Family.LIBRDKAFKA,
        "the other side ends the connection when it is asked for its versions",
        ("in state APIVERSION_QUERY", "Disconnected while requesting ApiVersion"),
        rf"{BROKER}Disconnected(?:: connection closed by peer.*in state APIVERSION_QUERY| while requesting ApiVersion|"
        r" \(after \d+ms in state APIVERSION_QUERY\))",
        CUT_OFF,
    ),
    Symptom(
        "rdkafka-disconnected",
        Family.LIBRDKAFKA,
        "the other side ended the connection",
        (" in state UP", ": Disconnected", "Receive failed: ", "Send failed: "),
        rf"{BROKER}(?:Disconnected(?:: connection closed by peer.* in state UP| \(after \d+ms in state UP|\s*$)|"
        r"(?:Receive|Send) failed: (?!Invalid response size|error:|SSL |SASL )\w)",
        says(
            "{endpoint} ended the connection. At once and again and again, the listener demands a login that the "
            "client does not make; once in a while, it is a broker that restarts or a gateway's time-out.",
            OTHER_PROTOCOL + "; look at `proxy_timeout` and the like in between",
            "BN404",
            "BN302",
        ),
        Telling.EFFECT,
        wordings="`Disconnected (after …)` or `Disconnected` alone to 1.9",
    ),
    Symptom(
        "rdkafka-silent",
        Family.LIBRDKAFKA,
        "a broker takes requests and does not answer",
        ("Timed out ", "timed out: disconnect", "equest failed: Local: Timed out"),
        rf"{BROKER}(?:Timed out (?P<request>\w+Request) in flight|\d+ request\(s\) timed out: disconnect|Timed out \d+ "
        r"in-flight|(?:ApiVersionRequest|Metadata request) failed: Local: Timed out)",
        says(
            "A broker took the connection and did not answer in time: another service, a gateway with nothing behind "
            "it, a TLS port that waits for a hello, or a broker that is stuck.",
            "look what really listens there; " + OTHER_PROTOCOL,
            "BN104",
            "BN401",
            "BN302",
        ),
    ),
    Symptom(
        "rdkafka-size-http",
        Family.LIBRDKAFKA,
        "what answers is no Kafka: HTTP",
        ("Invalid response size 1213486160",),
        rf"{BROKER}Invalid response size 1213486160 ",
        says(
            "{endpoint} answered `HTTP`: 1213486160 are these four letters, read as a length.",
            "give the port of a Kafka listener",
            "BN104",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-size-ssh",
        Family.LIBRDKAFKA,
        "what answers is no Kafka: SSH",
        ("Invalid response size 1397966893",),
        rf"{BROKER}Invalid response size 1397966893 ",
        says(
            "{endpoint} answered `SSH-`: 1397966893 are these four letters, read as a length.",
            "give the port of a Kafka listener",
            "BN104",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-all-down",
        Family.LIBRDKAFKA,
        "no broker is connected",
        ("brokers are down", "Local: All broker connections are down"),
        r"\b(?P<down>[1-9]\d*)/(?P<all>\d+) brokers are down|Local: All broker connections are down(?!: \d)",
        says(
            "None of the brokers that the client knows of is connected.",
            "look for the `FAIL` lines above it, which say it for each broker",
            "BN302",
            "BN301",
            "BN103",
        ),
        Telling.EFFECT,
    ),
)
