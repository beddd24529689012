"""What: the certificate is expired or not valid yet, or no authority of the client's trust store signed it.
Why: it was not renewed, the trust store is another one, or something in between ends TLS with a certificate of its own.
Remedy: renew it, or add its authority to the trust store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brokernat.doctor.evidence import Evidence

CODE = "BN403"
_SAID = {
    "expired": (
        "its time is over, or has not begun",
        Remedy(("see that the clock of this machine is right",), ("renew the certificate",)),
    ),
    "untrusted": (
        "no authority of the client's trust store signed it",
        Remedy(
            ("add the authority that signed it to the trust store, or the certificate itself",),
            ("let an authority sign it that clients trust",),
        ),
    ),
    "failed": (
        "the TLS handshake fails",
        Remedy(("compare `ssl.enabled.protocols` and `ssl.cipher.suites` with the brokers'",)),
    ),
}


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        tls = spot.look.tls
        if tls is not None and tls.outcome in _SAID:
            said, remedy = _SAID[tls.outcome]
            yield Finding(CODE, Severity.ERROR, spot.subject, said, (tls.detail,), remedy=remedy)


CHECK = Check(
    CODE,
    "The certificate is not trusted, or is not valid now",
    "The client does not accept the certificate of {subjects}{reason}.",
    _find,
)
