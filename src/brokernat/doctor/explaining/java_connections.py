"""Lines of Kafka's Java clients about connections and names (NetworkClient, ClientUtils); they are Spark's and
Spring's, too, which have the same client inside.

The node in the line says whose endpoint it is: below 0 a bootstrap server, 0 and above a broker that metadata named,
near 2147483647 the coordinator's own connection (2147483647 minus the node id, up to 4.3).
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import LOOK_AT_BOOTSTRAP, OTHER_PROTOCOL, UNREACHABLE, UNRESOLVED
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

# `2 (name/10.0.0.1:9092)`, `2 (/10.0.0.1:9092)`, `2 (name/<unresolved>:9092)`; before 1.1 the id alone.
NODE: Final = r"node (?P<node>-?\d+)(?: \((?P<host>[^/()\s]*)/(?P<ip>[^()\s]+):(?P<port>\d+)\))?"
# Node.toString: `10.0.0.1:9092 (id: 2 rack: null)`, since 4.0 with `isFenced`.
NODE_TEXT: Final = r"(?P<host>\S+):(?P<port>\d+) \(id: (?P<node>-?\d+) rack: "

# Brokers have the same client inside; what it says about other brokers is in `brokers.py`.
PEER: Final = (
    r"\[(?:ReplicaFetcher |Controller id=|RaftManager |NodeToController|BrokerToController|Transaction Marker |"
    r"AddPartitionsToTxn)"
)
_OF_A_CLIENT: Final = rf"^(?!.*{PEER}).*?"

SYMPTOMS: Final = (
    Symptom(
        "java-no-connection",
        Family.JAVA,
        "no connection to a node",
        ("could not be established. ",),
        rf"{_OF_A_CLIENT}Connection to {NODE} could not be established\. (?:Broker|Node) may not be available\.",
        UNREACHABLE,
        wordings="`Broker may not be available.` to 3.6, `Node may not be available.` from 3.7",
    ),
    Symptom(
        "java-bootstrap-disconnected",
        Family.JAVA,
        "a bootstrap server ended the connection, or took none",
        ("Bootstrap broker ",),
        r"Bootstrap broker (?P<host>\S+):(?P<port>\d+) (?:\(id: (?P<node>-?\d+) rack: .*\) )?disconnected",
        says(
            "The connection to the bootstrap server {endpoint} is gone. Where another line says that it could not be "
            "established, that is why; else it was taken and ended without an answer that the client understands: a "
            "gateway with nothing behind it, a port of TLS or of another service.",
            OTHER_PROTOCOL + "; look whether something listens behind the gateway",
            "BN103",
            "BN401",
            "BN104",
        ),
        Telling.EFFECT,
        wordings="without `(id: …)` to 0.10.1",
    ),
    Symptom(
        "java-error-connecting",
        Family.JAVA,
        "the name of a node does not resolve",
        ("Error connecting to node ",),
        # An address is never looked up: then it is something else.
        rf"{_OF_A_CLIENT}Error connecting to node (?!\d+\.\d+\.\d+\.\d+:|\[){NODE_TEXT}",
        UNRESOLVED,
    ),
    Symptom(
        "java-error-before-connecting",
        Family.JAVA,
        "a connection could not even be tried",
        ("Error connecting to node ",),
        rf"Error connecting to node (?=\d+\.\d+\.\d+\.\d+:|\[){NODE_TEXT}",
        says(
            "The client failed before it could dial {endpoint}: its own settings for TLS or login, or its Java.",
            "explain the exception below it",
            "BN404",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "java-unknown-host",
        Family.JAVA,
        "a name does not resolve",
        ("java.net.UnknownHostException: ",),
        r"java\.net\.UnknownHostException: (?P<host>[\w.-]+)(?=[:\s\"',;)\]]|$)(?!.*; it is dialled for )",
        UNRESOLVED,
    ),
    Symptom(
        "java-cannot-resolve",
        Family.JAVA,
        "a name does not resolve",
        ("java.io.IOException: Can't resolve address: ",),
        r"java\.io\.IOException: Can't resolve address: (?P<host>[\w.-]+)(?:/<unresolved>)?:(?P<port>\d+)",
        UNRESOLVED,
        wordings="to 2.0; the line above it says whose name it is",
    ),
    Symptom(
        "java-bootstrap-unresolved",
        Family.JAVA,
        "the name of a bootstrap server does not resolve",
        ("from bootstrap.servers as DNS resolution failed",),
        r"Couldn't resolve server (?P<endpoint>\S+) from bootstrap\.servers as DNS resolution failed",
        says("The name of the bootstrap server {endpoint} does not resolve here.", LOOK_AT_BOOTSTRAP, "BN102"),
    ),
    Symptom(
        "java-no-resolvable-bootstrap",
        Family.JAVA,
        "no bootstrap server's name resolves",
        ("No resolvable bootstrap urls", "Failed to resolve bootstrap servers after "),
        r"No resolvable bootstrap urls given in bootstrap\.servers|Failed to resolve bootstrap servers after \d+ms",
        says(
            "None of the names in `bootstrap.servers` resolves here.",
            "use addresses, or names that this machine's DNS or hosts file knows; up to 4.3 they are looked up once, "
            "when the client is made",
            "BN102",
        ),
        Telling.FAULT,
        wordings="`No resolvable bootstrap urls` to 4.3, `Failed to resolve bootstrap servers` from 4.4",
    ),
    Symptom(
        "java-bootstrap-url",
        Family.JAVA,
        "a bootstrap server is not written as host:port",
        ("Invalid url in bootstrap.servers: ",),
        r"Invalid url in bootstrap\.servers: (?P<text>.+?)\s*$",
        says(
            "`{text}` is no endpoint: `bootstrap.servers` holds `host:port`, without a scheme, separated by commas.",
            "write `host:port`; `brokernat config check` finds it in `brokernat.yaml`",
            "BN101",
            then="brokernat config check",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-setup-timeout",
        Family.JAVA,
        "a connection is neither taken nor refused",
        ("due to socket connection setup timeout",),
        r"Disconnecting from node (?P<node>-?\d+) due to socket connection setup timeout",
        says(
            "Node {node} neither takes nor refuses the connection (below 0 is a bootstrap server): packets to it are "
            "dropped, by a firewall or because nothing is routed there.",
            "ask for the route or the port to be opened, or lead the client around by an address map",
            "BN302",
            "BN103",
        ),
        wordings="from 2.7",
    ),
    Symptom(
        "java-terminated-in-login",
        Family.JAVA,
        "a node ended the connection during TLS or login",
        ("terminated during authentication. ",),
        rf"Connection to {NODE} terminated during authentication\. This may happen due to any of the following",
        says(
            "{endpoint} took the connection and closed it while the client shook hands (TLS) or logged in (SASL). "
            "Kafka names three guesses; the usual one is the fourth: the port's listener has another protocol.",
            "compare `security.protocol` with the listener behind this port; then look for a firewall that inspects "
            "TLS",
            "BN401",
            "BN404",
            "BN104",
        ),
    ),
    Symptom(
        "java-rebootstrapping",
        Family.JAVA,
        "the brokers that metadata named are all gone; the client starts over",
        ("Rebootstrapping with ",),
        r"Rebootstrapping with (?:\[|Cluster\()",
        says(
            "No broker that metadata named could be used, so the client went back to its bootstrap servers. When this "
            "repeats, what the brokers advertise does not work from here.",
            "compare what is advertised with what can be dialled",
            "BN302",
            "BN301",
            "BN601",
        ),
        Telling.EFFECT,
        wordings="from 3.8; by default from 4.0",
    ),
)
