"""The handshake that the client would make, and the names of the certificate held against the advertised one.

The chain is verified by OpenSSL with the client's trust store; the name is compared here, so that a wrong name is told
apart from a wrong chain, and with the ORIGINAL advertised name, which clients verify even where a map leads elsewhere.
"""

from __future__ import annotations

import ssl
from typing import Literal, get_args

from brokernat.doctor.client_side import ClientSide
from brokernat.doctor.evidence import Client, Objection, TlsSeen
from brokernat.doctor.probes.certificate_names import certificate_names, taken_by
from brokernat.doctor.probes.chain import chain, ends_in_a_root, presented
from brokernat.doctor.probes.dialling import Streams, start_tls

_EXPIRED = (9, 10)  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
_UNTRUSTED = (2, 18, 19, 20, 21, 27)  # X509_V_ERR_: no issuer of it is found, or none is trusted
_ANSWERED = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
_HUNG_UP = "UNEXPECTED_EOF_WHILE_READING"
# Alerts about what the client shows (RFC 8446, 6.2), as OpenSSL names them.
_ABOUT_THE_CLIENT = ("CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED")


async def shake_hands(streams: Streams, client: ClientSide, name: str, patience: float) -> TlsSeen:
    """Turn the connection into a TLS one; never raises."""
    assert client.tls is not None  # noqa: S101
    try:
        await start_tls(streams, client.tls.context, name, patience)
    except ssl.SSLCertVerificationError as error:
        return TlsSeen(_refused(error.verify_code), detail=error.verify_message)
    except ssl.SSLError as error:
        reason = error.reason or type(error).__name__
        if about_client_certificate(reason):
            return TlsSeen("client-certificate", detail=reason, showed=client.tls.certificate)
        if reason == _HUNG_UP:
            return TlsSeen("closed", detail="the peer closed the connection")
        return TlsSeen("not-tls" if reason in _ANSWERED else "failed", detail=reason)
    except TimeoutError:
        return TlsSeen("failed", detail=f"no answer within {patience:g} s")
    except OSError as error:
        return TlsSeen("closed", detail=error.strerror or type(error).__name__)
    return accepted(streams, client, name)


def accepted(streams: Streams, client: ClientSide, name: str) -> TlsSeen:
    """What other clients make of a certificate that is verified, and what its names are worth."""
    assert client.tls is not None  # noqa: S101
    anchor = chain(streams, verified=True)[-1]
    objections = []
    if not ends_in_a_root(anchor, client.tls.context.get_ca_certs()):
        objections.append(Objection(("librdkafka", "python"), "untrusted", f"`{presented(anchor).subject}`"))
    names = certificate_names(streams[1].get_extra_info("peercert") or {})
    takers = taken_by(names, name) if client.verify_name else ALL_CLIENTS
    if not takers:
        return TlsSeen("name-mismatch", names, objections=tuple(objections))
    others = tuple(each for each in ALL_CLIENTS if each not in takers)
    if others:
        objections.append(Objection(others, "name-mismatch"))
    return TlsSeen("ok", names, objections=tuple(objections))


def about_client_certificate(reason: str) -> bool:
    """Whether an alert is about the client's certificate. In TLS 1.3 it comes with the first answer only."""
    return "ALERT" in reason and any(part in reason for part in _ABOUT_THE_CLIENT)


def _refused(code: int) -> Literal["expired", "untrusted", "unfit"]:
    if code in _EXPIRED:
        return "expired"
    return "untrusted" if code in _UNTRUSTED else "unfit"


ALL_CLIENTS: tuple[Client, ...] = get_args(Client)
