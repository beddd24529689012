"""What: both sides speak TLS and do not come to terms: no version or cipher suite in common, a name that is not known
there, or no answer.
Why: `ssl.enabled.protocols` or `ssl.cipher.suites` of one side leave the other no choice; a gateway chooses by the name
that TLS is told and knows another one; a gateway that is no Kafka wants a certificate of the client.
Remedy: what both sides have, `TLSv1.2,TLSv1.3` and no list of suites unless one is demanded.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

CODE = "BN407"
# OpenSSL's names of alerts (RFC 8446, 6.2) and of its own complaints, in the order in which they are looked for.
_SAID = {
    "PROTOCOL": (
        "the versions of TLS have none in common",
        Remedy(
            ("compare `ssl.enabled.protocols` with the brokers'",),
            ("see that the listener's `ssl.enabled.protocols` has TLSv1.2 or TLSv1.3",),
        ),
    ),
    "UNRECOGNIZED_NAME": (
        "the name that TLS is told is not known there",
        Remedy(
            ("give the name that the gateway knows, with a rule of the address map that leads there",),
            ("see which names the gateway chooses by",),
        ),
    ),
    "no answer": (
        "the port takes the connection and does not answer the TLS hello",
        Remedy(("see that this is the listener's port",), ("see that the broker is not overloaded",)),
    ),
}
_ELSE = (
    "the TLS handshake fails",
    Remedy(
        ("compare `ssl.enabled.protocols` and `ssl.cipher.suites` with the brokers'",),
        ("if a gateway ends TLS here: see whether it wants a certificate of the client",),
    ),
)


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        tls = spot.look.tls
        if tls is not None and tls.outcome == "failed":
            message, remedy = next((said for word, said in _SAID.items() if word in tls.detail), _ELSE)
            yield Finding(CODE, Severity.ERROR, spot.subject, message, (tls.detail,), remedy=remedy)


CHECK = Check(
    CODE,
    "The TLS handshake fails",
    "The client and {subjects} do not come to terms about TLS{reason}.",
    _find,
)
