"""Lines of Kafka's Java clients about TLS and login. The same reason appears in a warning with the node and in an
exception without it, so the rows look for the reason.

Between TLS and SASL the words mislead: a client that speaks SASL to a TLS port, or TLS to a plain one, reports
whatever it made of the other's bytes.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import LOGIN, MECHANISM, OTHER_PROTOCOL
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

SYMPTOMS: Final = (
    Symptom(
        "java-wrong-password",
        Family.JAVA,
        "user or password is refused",
        ("Authentication failed",),
        # The words are the broker's, so other clients and the broker's own log have them, too.
        r"(?:due to: |SaslAuthenticationException: |Failed authentication with [^()]+ \()Authentication failed"
        r"(?:: Invalid username or password| during authentication due to invalid credentials with SASL mechanism)",
        says("The broker understood the login and refused user or password.", LOGIN, "BN404"),
        Telling.FAULT,
    ),
    Symptom(
        "java-mechanism-not-offered",
        Family.JAVA,
        "the listener does not offer the client's SASL mechanism",
        ("not enabled in the server, enabled mechanisms are",),
        r"(?<!\) \()Client SASL mechanism '(?P<mechanism>[\w-]+)' not enabled in the server, enabled mechanisms are "
        r"\[(?P<offered>[^\]]*)\]",
        says("The client logs in with {mechanism}, and this listener offers {offered}.", MECHANISM, "BN404"),
        Telling.FAULT,
    ),
    Symptom(
        "java-login-at-plain-listener",
        Family.JAVA,
        "a login at a listener that has none",
        ("Unexpected handshake request with client mechanism",),
        r"(?<!\) \()Unexpected handshake request with client mechanism (?P<mechanism>[\w-]+), enabled mechanisms "
        r"are \[\]",
        says(
            "The client logs in with {mechanism}, and the listener behind this port has no login (PLAINTEXT or SSL).",
            OTHER_PROTOCOL,
            "BN404",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-no-login-given",
        Family.JAVA,
        "SASL without a login",
        ("Could not find a 'KafkaClient' entry in the JAAS configuration",),
        r"Could not find a 'KafkaClient' entry in the JAAS configuration",
        says(
            "`security.protocol` asks for a login and the client has none: neither `sasl.jaas.config` nor a JAAS file.",
            "set `sasl.jaas.config`; in `brokernat.yaml`, `sasl.username` and `sasl.password` make that line",
            "BN404",
            then="brokernat config check",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-get-subject",
        Family.JAVA,
        "a client before 3.9 logs in on Java 24 or later",
        ("getSubject is not supported",),
        r"getSubject is not supported",
        says(
            "This kafka-clients asks the JVM for something that Java 24 took away (JEP 486): no SASL login works, with "
            "no cluster. Addresses are not the matter.",
            "run it on Java 23 or older (17, 21), or take kafka-clients 3.9 or later",
            then="java -version",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-tls-to-plain",
        Family.JAVA,
        "TLS to a port without TLS",
        ("SSL message",),
        r"Unsupported or unrecognized SSL message|Unrecognized SSL message, plaintext connection",
        says("The client speaks TLS, and what answers does not.", OTHER_PROTOCOL, "BN401"),
        Telling.FAULT,
    ),
    Symptom(
        "java-untrusted",
        Family.JAVA,
        "the broker's certificate is signed by nobody whom the client trusts",
        ("PKIX path building failed",),
        r"PKIX path building failed: [\w.]+: unable to find valid certification path",
        says(
            "The broker's certificate is signed by an authority that is not in the client's trust store.",
            "put the cluster's CA into `ssl.truststore.location` (or `ssl.truststore.certificates`)",
            "BN403",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-expired",
        Family.JAVA,
        "the broker's certificate has expired",
        ("NotAfter: ",),
        r"CertificateExpiredException: NotAfter: (?P<when>.+?)\s*$",
        says(
            "The broker's certificate is not valid any more; it ended on {when}.",
            "have the certificate renewed; is this machine's clock right?",
            "BN403",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-certificate-name",
        Family.JAVA,
        "the certificate names another host than the one that was dialled",
        ("No ",),
        r"No (?:subject alternative (?:names (?:present|matching IP address (?P<ip>\S+) found)|DNS name matching "
        r"(?P<host>\S+) found)|name matching (?P<name>\S+) found)",
        says(
            "The certificate is of another name than the client knows the broker by. A gateway's or a hosts file's "
            "name is never in it; an address map keeps the broker's own name for this comparison.",
            "bootstrap by a name that the certificate has and let the map lead it; do not switch the verification off",
            "BN402",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-client-certificate",
        Family.JAVA,
        "the broker demands a certificate of the client",
        ("Received fatal alert: ",),
        r"Received fatal alert: (?:certificate_required|bad_certificate)",
        says(
            "The listener demands a client certificate (`ssl.client.auth=required`), and the client shows none or one "
            "that is not trusted.",
            "give the client its key: `ssl.keystore.location` and its passwords",
            "BN405",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-no-common-tls",
        Family.JAVA,
        "the two sides have no TLS version or cipher in common",
        ("Received fatal alert: ",),
        r"Received fatal alert: (?:handshake_failure|protocol_version)",
        says(
            "Both speak TLS and share no version or cipher.",
            "compare `ssl.enabled.protocols` and `ssl.cipher.suites` of both sides; old JVMs lack TLS 1.3",
            "BN401",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-tls-failed",
        Family.JAVA,
        "a TLS handshake failed; the reason stands in the lines below it",
        ("SSL handshake failed",),
        r"failed authentication due to: SSL handshake failed|SslAuthenticationException: SSL handshake failed|"
        r"Failed authentication with \S+ \(SSL handshake failed\)",
        says(
            "The TLS handshake failed. The `Caused by:` below this line says whether it is the name, the chain, or a "
            "port without TLS.",
            "paste the last `Caused by:` line, or the whole log",
            "BN401",
            "BN402",
            "BN403",
        ),
        Telling.EFFECT,
    ),
)
