"""What: the broker ends the handshake because the client shows no certificate, or one that it does not accept.
Why: the listener has `ssl.client.auth=required`, and the client has no key store, or an authority signed its
certificate that the broker's trust store does not hold.
Remedy: a key store for the client, or its authority in the broker's trust store.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

CODE = "BN405"
_SAID = {
    False: (
        "the broker demands a certificate of the client",
        Remedy(("give the client a key store: `ssl.keystore.location`",)),
    ),
    True: (
        "the broker does not accept the certificate that the client shows",
        Remedy(
            ("show one that an authority of the brokers' trust store signed, and whose time is not over",),
            ("add the authority that signed the client's to the listener's `ssl.truststore.location`",),
        ),
    ),
}


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        tls = spot.look.tls
        if tls is not None and tls.outcome == "client-certificate":
            message, remedy = _SAID[tls.showed]
            yield Finding(CODE, Severity.ERROR, spot.subject, message, (tls.detail,), remedy=remedy)


CHECK = Check(
    CODE,
    "A client certificate is demanded",
    "{subjects} lets nobody in without a certificate that it accepts{reason}.",
    _find,
)
