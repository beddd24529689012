"""What Python's own `ssl` says through kafka-python, aiokafka and every other client in pure Python: the reason in
brackets is OpenSSL's, the words behind it say which check of the certificate failed.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import OTHER_PROTOCOL
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

_FAILED = r"\[SSL: CERTIFICATE_VERIFY_FAILED\] certificate verify failed: "

SYMPTOMS: Final = (
    Symptom(
        "python-expired",
        Family.PYTHON,
        "the broker's certificate has expired",
        ("[SSL: CERTIFICATE_VERIFY_FAILED]",),
        rf"{_FAILED}certificate has expired",
        says(
            "The broker's certificate is not valid any more.",
            "have the certificate renewed; is this machine's clock right?",
            "BN403",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "python-untrusted",
        Family.PYTHON,
        "the broker's certificate is signed by nobody whom the client trusts",
        ("[SSL: CERTIFICATE_VERIFY_FAILED]",),
        rf"{_FAILED}(?:self[- ]signed certificate|unable to get (?:local )?issuer certificate)",
        says(
            "The broker's certificate is signed by an authority that the client does not trust.",
            "give the client the cluster's CA: `ssl_cafile`, or an `ssl_context` that loads it",
            "BN403",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "python-certificate-name",
        Family.PYTHON,
        "the certificate names another host than the one that was dialled",
        ("[SSL: CERTIFICATE_VERIFY_FAILED]",),
        rf"{_FAILED}(?:Hostname mismatch, certificate is not valid for|IP address mismatch, certificate is not valid "
        r"for) '(?P<host>[^']+)'",
        says(
            "The certificate is not valid for `{host}`, by which the client knows the broker. A gateway's or a hosts "
            "file's name is never in it; an address map keeps the broker's own name for this comparison.",
            "bootstrap by a name that the certificate has and let the map lead it; do not switch the verification off",
            "BN402",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "python-tls-to-plain",
        Family.PYTHON,
        "TLS to a port without TLS",
        ("[SSL: WRONG_VERSION_NUMBER]", "[SSL: PACKET_LENGTH_TOO_LONG]", "[SSL: RECORD_LAYER_FAILURE]"),
        r"\[SSL: (?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_LAYER_FAILURE)\]",
        says("The client speaks TLS, and what answers does not.", OTHER_PROTOCOL, "BN401"),
        Telling.FAULT,
    ),
    Symptom(
        "python-no-common-tls",
        Family.PYTHON,
        "the two sides have no TLS version or cipher in common",
        ("ALERT_HANDSHAKE_FAILURE]", "ALERT_PROTOCOL_VERSION]"),
        r"\[SSL: \w+_ALERT_(?:HANDSHAKE_FAILURE|PROTOCOL_VERSION)\]",
        says(
            "Both speak TLS and share no version or cipher.",
            "compare the TLS versions and ciphers of both sides",
            "BN401",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "python-client-certificate",
        Family.PYTHON,
        "the broker demands a certificate of the client",
        ("ALERT_CERTIFICATE_REQUIRED]", "ALERT_BAD_CERTIFICATE]"),
        r"\[SSL: \w+_ALERT_(?:CERTIFICATE_REQUIRED|BAD_CERTIFICATE)\]",
        says(
            "The listener demands a client certificate, and the client shows none or one that is not trusted.",
            "give the client its key: `ssl_certfile` and `ssl_keyfile`, or an `ssl_context` that loads them",
            "BN405",
        ),
        Telling.FAULT,
    ),
)
