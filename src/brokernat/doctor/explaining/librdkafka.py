"""Lines of librdkafka: of confluent-kafka in Python, Go and .NET, of kcat, of PHP, Ruby, Rust and C programs.

The name of the broker says whose endpoint it is: `host:port/bootstrap` a bootstrap server, `host:port/ID` a broker that
metadata named, `GroupCoordinator` the coordinator. What a program prints of an error (`KafkaError{code=…}`) has lost
it: without a log handler or `log_level`, set `debug=broker`.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import CUT_OFF, LOGIN, MECHANISM, OTHER_PROTOCOL, UNREACHABLE, UNRESOLVED
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

# `127.0.0.1:9092/bootstrap: `, `sasl_ssl://kafka-1:9093/7: `, `GroupCoordinator: `
BROKER: Final = (
    r"(?P<node>(?:[a-z_]+://)?(?:(?P<endpoint>[^\s/\"]+:\d+)/)?(?:bootstrap|\d+|(?:Group|Txn)Coordinator)): .*?"
)
_LOG = "set `debug` to `broker,security` (kcat: `-d broker,security`) and explain those lines"

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
        "rdkafka-tls-to-plain",
        Family.LIBRDKAFKA,
        "TLS to a port without TLS",
        ("wrong version number", "packet length too long"),
        rf"{BROKER}SSL routines::(?:wrong version number|packet length too long)",
        says("The client speaks TLS, and what answers at {endpoint} does not.", OTHER_PROTOCOL, "BN401"),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-certificate",
        Family.LIBRDKAFKA,
        "the broker's certificate does not pass",
        ("certificate verify failed",),
        rf"{BROKER}certificate verify failed",
        says(
            "The certificate at {endpoint} does not pass: its authority is not trusted, it has expired, or it is of "
            "another name than the client knows the broker by. librdkafka says the same for all three.",
            "put the cluster's CA into `ssl.ca.location`; look at the dates and names of the certificate; a gateway's "
            "or a hosts file's name is never in it, the plug-in keeps the broker's own",
            "BN403",
            "BN402",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-no-common-tls",
        Family.LIBRDKAFKA,
        "the two sides have no TLS version or cipher in common",
        ("alert handshake failure", "alert protocol version"),
        rf"{BROKER}(?:sslv3|ssl/tls|tlsv1) alert (?:handshake failure|protocol version)",
        says(
            "The client and {endpoint} both speak TLS and share no version or cipher.",
            "compare the TLS versions and `ssl.cipher.suites` of both sides",
            "BN401",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-closed",
        Family.LIBRDKAFKA,
        "the other side ends the connection when it is asked for its versions",
        ("in state APIVERSION_QUERY", "Disconnected while requesting ApiVersion"),
        rf"{BROKER}Disconnected(?:: connection closed by peer.*in state APIVERSION_QUERY| while requesting ApiVersion)",
        CUT_OFF,
    ),
    Symptom(
        "rdkafka-tls-closed",
        Family.LIBRDKAFKA,
        "the other side ends the connection when TLS starts",
        ("SSL connection closed by peer", "unexpected eof while reading", "connecting to a PLAINTEXT broker listener"),
        rf"{BROKER}(?:SSL routines::unexpected eof while reading|Disconnected: (?:SSL connection closed by peer|"
        r"connecting to a PLAINTEXT broker listener))",
        says(
            "The client speaks TLS to {endpoint}, and what is there ended the connection: a listener without TLS does "
            "this, and so does a gateway with nothing behind it.",
            OTHER_PROTOCOL + "; look whether something listens behind the gateway",
            "BN401",
            "BN103",
        ),
    ),
    Symptom(
        "rdkafka-client-certificate",
        Family.LIBRDKAFKA,
        "the broker demands a certificate of the client",
        ("alert certificate required", "alert bad certificate"),
        rf"{BROKER}(?:sslv3|ssl/tls|tlsv13?) alert (?:certificate required|bad certificate)",
        says(
            "The listener at {endpoint} demands a client certificate, and the client shows none or one that is not "
            "trusted.",
            "give the client its key: `ssl.certificate.location` and `ssl.key.location`",
            "BN405",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-wrong-password",
        Family.LIBRDKAFKA,
        "user or password is refused",
        ("SASL authentication error: ",),
        rf"{BROKER}SASL authentication error: (?P<reason>Authentication failed[\w :-]*)",
        says("{endpoint} understood the login and refused user or password.", LOGIN, "BN404"),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-mechanism-not-offered",
        Family.LIBRDKAFKA,
        "the listener does not offer the client's SASL mechanism",
        ("mechanism handshake failed: Broker: Unsupported SASL mechanism",),
        r"SASL (?P<mechanism>[\w-]+) mechanism handshake failed: Broker: Unsupported SASL mechanism: broker's "
        r"supported mechanisms: (?P<offered>[\w,-]*)",
        says("The client logs in with {mechanism}, and this listener offers {offered}.", MECHANISM, "BN404"),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-login-at-plain-listener",
        Family.LIBRDKAFKA,
        "a login at a listener that has none",
        ("mechanism handshake failed: Broker: Request not valid in current SASL state",),
        r"SASL (?P<mechanism>[\w-]+) mechanism handshake failed: Broker: Request not valid in current SASL state",
        says(
            "The client logs in with {mechanism}, and the listener behind this port has no login (PLAINTEXT or SSL).",
            OTHER_PROTOCOL,
            "BN404",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-plain-to-login",
        Family.LIBRDKAFKA,
        "no login at a listener that demands one",
        ("broker might require SASL authentication",),
        rf"{BROKER}Disconnected: verify that security\.protocol is correctly configured, broker might require SASL",
        says(
            "{endpoint} ended the connection: it may demand a login, and the client has none.", OTHER_PROTOCOL, "BN404"
        ),
        wordings="`Disconnected: connection closed by peer` in state UP from 2.1",
    ),
    Symptom(
        "rdkafka-disconnected",
        Family.LIBRDKAFKA,
        "the other side ended the connection",
        (" in state UP",),
        rf"{BROKER}Disconnected: connection closed by peer.* in state UP",
        says(
            "{endpoint} ended the connection. At once and again and again, the listener demands a login that the "
            "client does not make; once in a while, it is a broker that restarts or a gateway's time-out.",
            OTHER_PROTOCOL + "; look at `proxy_timeout` and the like in between",
            "BN404",
            "BN302",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "rdkafka-no-provider",
        Family.LIBRDKAFKA,
        "SASL without a mechanism",
        ("No provider for SASL mechanism GSSAPI", "Invalid sasl.kerberos.kinit.cmd"),
        r"No provider for SASL mechanism GSSAPI|Invalid sasl\.kerberos\.kinit\.cmd",
        says(
            "`security.protocol` asks for a login, and without `sasl.mechanism` that is Kerberos (GSSAPI).",
            "set `sasl.mechanism`, `sasl.username` and `sasl.password`",
            "BN404",
            then="brokernat config check",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-controller",
        Family.LIBRDKAFKA,
        "the bootstrap server is a controller's port",
        ("Local: Required feature not supported by broker",),
        r"metadata.*: Local: Required feature not supported by broker",
        says(
            "What answers knows no question for metadata: a KRaft controller, whose port is not for clients.",
            "give the port of a broker's listener",
            "BN105",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-too-large",
        Family.LIBRDKAFKA,
        "a record is larger than a limit",
        ("Broker: Message size too large",),
        r"Broker: Message size too large",
        says(
            "A record is larger than `message.max.bytes` of the client or `max.message.bytes` of the topic. Addresses "
            "are not the matter.",
            "raise the limit on that side, or make records smaller",
            then="brokernat pipeline check NAME",
        ),
        Telling.FAULT,
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
        "rdkafka-other-cluster",
        Family.LIBRDKAFKA,
        "two clusters answer one client",
        ("different ClusterId",),
        r"reports different ClusterId \"(?P<one>[\w-]+)\" than previously known \"(?P<other>[\w-]+)\"",
        says(
            "One client is told of two clusters, {one} and {other}: bootstrap servers or rules lead to different ones.",
            "compare the cluster ids behind all bootstrap servers and rules",
            "BN501",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-all-down",
        Family.LIBRDKAFKA,
        "no broker is connected",
        ("brokers are down",),
        r"(?P<down>\d+)/(?P<all>\d+) brokers are down",
        says(
            "None of the {all} brokers that the client knows of is connected.",
            "look for the `FAIL` lines above it, which say it for each broker",
            "BN302",
            "BN301",
            "BN103",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "rdkafka-error-unresolved",
        Family.LIBRDKAFKA,
        "a name does not resolve (the error without its line)",
        ("Local: Host resolution failure",),
        r"Local: Host resolution failure(?!: )",
        says("The name of some broker does not resolve here.", _LOG, "BN301", "BN102"),
        Telling.EFFECT,
    ),
    Symptom(
        "rdkafka-error-transport",
        Family.LIBRDKAFKA,
        "no broker answers (the error without its line)",
        ("Local: Broker transport failure",),
        r"Local: Broker transport failure(?!: )",
        says(
            "No broker could be used, and the reason stands in a log that this program does not show.",
            _LOG,
            "BN103",
            "BN302",
            "BN401",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "rdkafka-error-timed-out",
        Family.LIBRDKAFKA,
        "a record was given up (the error without its line)",
        ("Local: Message timed out",),
        r"Local: Message timed out",
        says(
            "A record waited until `message.timeout.ms` ended: its partition's leader takes no connection.",
            _LOG,
            "BN302",
            "BN301",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "rdkafka-metadata-timed-out",
        Family.LIBRDKAFKA,
        "metadata did not come in time",
        ("Failed to get metadata: Local: Timed out", "Failed to acquire metadata: Local: Timed out"),
        r"Failed to (?:get|acquire) metadata: Local: Timed out",
        says("No broker answered a question for metadata in time.", _LOG, "BN103", "BN401", "BN104"),
        Telling.EFFECT,
    ),
    Symptom(
        "rdkafka-unknown-topic",
        Family.LIBRDKAFKA,
        "the topic is not there",
        ("Broker: Unknown topic or partition",),
        r"Broker: Unknown topic or partition",
        says(
            "The cluster that answered has no such topic, or the user may not see it.",
            "list the topics; compare the cluster id with the one you expect",
            "BN501",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-not-authorized",
        Family.LIBRDKAFKA,
        "the user may not do this",
        ("authorization failed",),
        r"(?:Broker: |response error: )(?P<what>Topic|Group|Cluster) authorization failed",
        says("The login worked; its user lacks a right ({what}).", "ask the cluster's people for the ACL", "BN003"),
        Telling.FAULT,
    ),
)
