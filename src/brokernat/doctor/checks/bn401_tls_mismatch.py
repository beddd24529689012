"""What: the client is configured without TLS and the port speaks it, or the reverse.
Why: `security.protocol` is that of another listener, or the port is. A plain client may take the alert for a length and
run out of memory; a broker logs `Invalid receive (size = 369295616)`.
Remedy: the `security.protocol` of the listener, or the port of the other listener.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

CODE = "BN401"
_OTHER = {
    "PLAINTEXT": "SSL` or `SASL_SSL",
    "SSL": "PLAINTEXT",
    "SASL_PLAINTEXT": "SASL_SSL",
    "SASL_SSL": "SASL_PLAINTEXT",
}


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        plain = spot.look.tls is None and spot.look.speaks == "tls"
        if plain or (spot.look.tls is not None and spot.look.tls.outcome == "not-tls"):
            message = (
                "the port speaks TLS and the client does not"
                if plain
                else "the client speaks TLS and the port does not"
            )
            message += f" (`security.protocol: {evidence.security_protocol}`)"
            other = _OTHER.get(evidence.security_protocol, "PLAINTEXT")
            remedy = Remedy((f"set `security.protocol: {other}`, or give the port of the other listener",))
            yield Finding(CODE, Severity.ERROR, spot.subject, message, remedy=remedy)


CHECK = Check(
    CODE,
    "One side speaks TLS, the other does not",
    "The client and {subjects} do not agree about TLS{reason}.",
    _find,
)
