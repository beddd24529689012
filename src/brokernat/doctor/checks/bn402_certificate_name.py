"""What: none of the names in the certificate is the one that the client verifies: the advertised one, or that of the
bootstrap server. An address map does not change the name.
Why: the certificate was made for other names; a bootstrap server that is a gateway is not in the brokers' certificates.
Remedy: a certificate with this name among its alternative names, or the name of the certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brokernat.doctor.evidence import Evidence

CODE = "BN402"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        if spot.look.tls is not None and spot.look.tls.outcome == "name-mismatch":
            seen = (f"names of the certificate: {', '.join(spot.look.tls.names) or 'none'}",)
            remedy = Remedy(
                ("use a name that the certificate holds",),
                (f"add `{spot.look.name}` to the certificate's alternative names",),
            )
            message = f"the certificate does not hold `{spot.look.name}`"
            yield Finding(CODE, Severity.ERROR, spot.subject, message, seen, remedy=remedy)


CHECK = Check(
    CODE,
    "The certificate does not hold the broker's name",
    "The certificate of {subjects} is made for other names.",
    _find,
)
