"""The handshake that the client would make, and the names of the certificate held against the advertised one.

The chain is verified by OpenSSL with the client's trust store; the name is compared here, so that a wrong name is told
apart from a wrong chain, and with the ORIGINAL advertised name, which clients verify even where a map leads elsewhere.
"""

from __future__ import annotations

import ssl
from ipaddress import ip_address
from typing import TYPE_CHECKING

from brokernat.doctor.evidence import TlsSeen
from brokernat.doctor.probes.dialling import start_tls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brokernat.doctor.client_side import ClientSide
    from brokernat.doctor.probes.dialling import Streams

_EXPIRED = (9, 10)  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
_NOT_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNEXPECTED_EOF_WHILE_READING")


async def shake_hands(streams: Streams, client: ClientSide, name: str, patience: float) -> TlsSeen:
    """Turn the connection into a TLS one; never raises."""
    assert client.context is not None  # noqa: S101
    try:
        await start_tls(streams, client.context, name, patience)
    except ssl.SSLCertVerificationError as error:
        return TlsSeen("expired" if error.verify_code in _EXPIRED else "untrusted", detail=error.verify_message)
    except ssl.SSLError as error:
        reason = error.reason or type(error).__name__
        if "CERTIFICATE_REQUIRED" in reason or "HANDSHAKE_FAILURE" in reason or "BAD_CERTIFICATE" in reason:
            return TlsSeen("client-certificate", detail=reason)
        return TlsSeen("not-tls" if reason in _NOT_TLS else "failed", detail=reason)
    except TimeoutError:
        return TlsSeen("failed", detail=f"no answer within {patience:g} s")
    except OSError as error:
        # A plain listener takes the hello for a length and hangs up.
        return TlsSeen("not-tls", detail=error.strerror or type(error).__name__)
    names = certificate_names(streams[1].get_extra_info("peercert") or {})
    if client.verify_name and not covers(names, name):
        return TlsSeen("name-mismatch", names)
    return TlsSeen("ok", names)


def certificate_names(certificate: Mapping[str, object]) -> tuple[str, ...]:
    """The subject's alternative names of what `ssl` made of a certificate."""
    alternatives = certificate.get("subjectAltName", ())
    assert isinstance(alternatives, tuple)  # noqa: S101
    return tuple(str(value) for kind, value in alternatives if kind in ("DNS", "IP Address"))


def covers(names: Sequence[str], host: str) -> bool:
    """Whether one of the names is the host: an address, a name, or `*.` and one label (RFC 6125, 6.4.3)."""
    wanted = _canonical(host)
    return any(_canonical(name) == wanted or _wildcard(name.lower(), wanted) for name in names)


def _wildcard(pattern: str, host: str) -> bool:
    return pattern.startswith("*.") and host.partition(".")[2] == pattern[2:]


def _canonical(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        return text.lower().removesuffix(".")
