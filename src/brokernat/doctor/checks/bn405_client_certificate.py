"""What: the broker ends the handshake because the client shows no certificate, or one that it does not accept.
Why: the listener has `ssl.client.auth=required`.
Remedy: a key store for the client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brokernat.doctor.evidence import Evidence

CODE = "BN405"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        if spot.look.tls is not None and spot.look.tls.outcome == "client-certificate":
            remedy = Remedy(("give the client a key store: `ssl.keystore.location`",))
            yield Finding(
                CODE,
                Severity.ERROR,
                spot.subject,
                "the broker demands a certificate of the client",
                (spot.look.tls.detail,),
                remedy=remedy,
            )


CHECK = Check(
    CODE,
    "A client certificate is demanded",
    "{subjects} demands a certificate of the client.",
    _find,
)
