"""The certificates of a connection, as presented or as verified; and whether every client takes where they end.

With its flag for partial chains OpenSSL is content with the first trusted certificate that it meets, as Java is.
librdkafka and Python (before 3.13) do not set the flag: they want a root, signed by itself, at the end.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from brokernat.doctor.evidence import Presented
from brokernat.doctor.probes.certificate_names import common_names
from brokernat.doctor.probes.dialling import Streams

Info = Mapping[str, Any]


def chain(streams: Streams, *, verified: bool) -> Sequence[Info]:
    """From the peer's own to the anchor, or to the last one presented."""
    # Python has this for everybody from 3.13 on, and as bytes only; what is below has it since 3.10, taken apart.
    inner = streams[1].get_extra_info("ssl_object")._sslobj  # noqa: SLF001
    found = inner.get_verified_chain() if verified else inner.get_unverified_chain()
    return [each.get_info() for each in found or ()]


def ends_in_a_root(anchor: Info, trusted: Sequence[Info]) -> bool:
    """Whether the trust store leads on from an anchor to one that signed itself; pure."""
    for _ in range(len(trusted) + 1):
        if anchor["subject"] == anchor["issuer"]:
            return True
        above = [each for each in trusted if each["subject"] == anchor["issuer"]]
        if not above:
            return False
        anchor = above[0]
    return False


def presented(certificate: Info) -> Presented:
    """What evidence keeps of a certificate."""
    subject, issuer = (_said(certificate.get(part)) for part in ("subject", "issuer"))
    since, until = (_moment(certificate[part]) for part in ("notBefore", "notAfter"))
    return Presented(subject, issuer, since, until)


def _moment(text: str) -> str:
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(text), UTC).isoformat(timespec="seconds")


def _said(subject: object) -> str:
    """The common name, or everything where there is none."""
    named = common_names(subject)
    parts = subject if isinstance(subject, tuple) else ()
    return named[-1] if named else ", ".join(f"{kind}={value}" for part in parts for kind, value in part)
