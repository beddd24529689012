"""Lines of librdkafka about TLS and login. It says the same for a certificate of another name, of a stranger and for an
expired one.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.librdkafka_connections import BROKER
from brokernat.doctor.explaining.readings import LOGIN, MECHANISM, OTHER_PROTOCOL
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

SYMPTOMS: Final = (
    Symptom(
        "rdkafka-tls-to-plain",
        Family.LIBRDKAFKA,
        "TLS to a port without TLS",
        ("wrong version number", "packet length too long"),
        rf"{BROKER}SSL routines:\w*:(?:wrong version number|packet length too long)",
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
        "rdkafka-tls-closed",
        Family.LIBRDKAFKA,
        "the other side ends the connection when TLS starts",
        ("SSL connection closed by peer", "unexpected eof while reading", "Disconnected"),
        rf"{BROKER}(?:SSL routines:\w*:unexpected eof while reading|Disconnected(?:: SSL connection closed by peer|"
        r": connecting to a PLAINTEXT broker listener| \(after \d+ms in state (?:CONNECT|SSL_HANDSHAKE)))",
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
)
