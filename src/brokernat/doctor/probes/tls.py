"""The handshake that the client would make, and the names of the certificate held against the advertised one.

The chain is verified by OpenSSL with the client's trust store; the name is compared here, so that a wrong name is told
apart from a wrong chain, and with the ORIGINAL advertised name, which clients verify even where a map leads elsewhere.

OpenSSL asks for the time of every certificate, the trusted one too. Java asks nothing of what is in its trust store: a
chain ends at the first certificate that is there (`sun.security.validator.PKIXValidator`), and an anchor is no part of
a path (RFC 5280, 6.1). So where the broker's own certificate is trusted, or an authority's, Java goes on when its time
is over, and librdkafka and Python do not. Each question is a handshake of its own, because OpenSSL ends a refused one.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from contextlib import suppress
from dataclasses import replace
from typing import Literal, get_args

from brokernat.doctor.credentials import ClientSide
from brokernat.doctor.evidence import Client, Objection, Presented, TlsHandshake
from brokernat.doctor.probes.certificates import Info, certificate_names, chain, ends_in_a_root, presented, taken_by
from brokernat.doctor.probes.network import Streams, connect, connected, start_tls
from brokernat.wire.protocols import protocol_of_server

_EXPIRED = (9, 10)  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
_UNTRUSTED = (2, 18, 19, 20, 21, 27)  # X509_V_ERR_: no issuer of it is found, or none is trusted
_REFUSED = ("expired", "untrusted", "unfit", "name-mismatch")
_ANSWERED = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
_HUNG_UP = "UNEXPECTED_EOF_WHILE_READING"
# Alerts about what the client shows (RFC 8446, 6.2), as OpenSSL names them.
_ABOUT_THE_CLIENT = ("CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED")
HTTP, _HEAD = b"GET / HTTP/1.0\r\n\r\n", 64
ALL_CLIENTS: tuple[Client, ...] = get_args(Client)


async def shake_hands(
    streams: Streams, client: ClientSide, name: str, address: str, port: int, patience: float
) -> tuple[TlsHandshake, Streams]:
    """Turn the connection into a TLS one, and what there is about a certificate that is refused; never raises.

    The streams to go on with are others where only Java takes the certificate.
    """
    seen = await first_handshake(streams, client, name, patience)
    if seen.outcome == "expired":
        as_java = await _undated(client, name, address, port, patience)
        if as_java is not None:
            streams[1].transport.abort()
            return as_java
    if seen.outcome not in _REFUSED:
        return seen, streams
    shown, page = await presented_chain(address, port, name, patience)
    if protocol_of_server(page) == "HTTP":
        return TlsHandshake("not-tls", detail=seen.detail, protocol="HTTPS"), streams
    return replace(seen, chain=shown), streams


async def first_handshake(streams: Streams, client: ClientSide, name: str, patience: float) -> TlsHandshake:
    """The handshake alone, as OpenSSL judges it."""
    assert client.tls is not None  # noqa: S101
    if streams[0].head:
        # A server of TLS waits for the client's hello, and what came before it is lost to the handshake.
        return TlsHandshake("not-tls", detail="the peer speaks first")
    try:
        await start_tls(streams, client.tls.context, name, patience)
    except ssl.SSLCertVerificationError as error:
        return TlsHandshake(_refused(error.verify_code), detail=error.verify_message)
    except ssl.SSLError as error:
        reason = error.reason or type(error).__name__
        if about_client_certificate(reason):
            return client_refused(reason, client)
        if reason == _HUNG_UP:
            return TlsHandshake("closed", detail="the peer closed the connection")
        return TlsHandshake("not-tls" if reason in _ANSWERED else "failed", detail=reason)
    except TimeoutError:
        return TlsHandshake("silent", detail=f"no answer within {patience:g} s")
    except OSError as error:
        outcome: Literal["reset", "closed"] = "reset" if isinstance(error, ConnectionResetError) else "closed"
        return TlsHandshake(outcome, detail=error.strerror or type(error).__name__)
    return accepted(streams, client, name)


def accepted(streams: Streams, client: ClientSide, name: str, *before: Objection) -> TlsHandshake:
    """What other clients make of a certificate that is verified, and what its names are worth."""
    assert client.tls is not None  # noqa: S101
    anchor = chain(streams, verified=True)[-1]
    objections = [*before]
    if not ends_in_a_root(anchor, client.tls.context.get_ca_certs()):
        objections.append(Objection(("librdkafka", "python"), "untrusted", f"`{presented(anchor).subject}`"))
    names = certificate_names(streams[1].get_extra_info("peercert") or {})
    takers = taken_by(names, name) if client.verify_name else ALL_CLIENTS
    if not takers:
        return TlsHandshake("name-mismatch", names, objections=tuple(objections))
    others = tuple(each for each in ALL_CLIENTS if each not in takers)
    if others:
        objections.append(Objection(others, "name-mismatch"))
    return TlsHandshake("ok", names, objections=tuple(objections))


def about_client_certificate(reason: str) -> bool:
    """Whether an alert is about the client's certificate. In TLS 1.3 it comes with the first answer only."""
    return "ALERT" in reason and any(part in reason for part in _ABOUT_THE_CLIENT)


def client_refused(detail: str, client: ClientSide) -> TlsHandshake:
    """A handshake that the broker ends because of the client's certificate; `chain` is the client's then."""
    own = client.tls.certificate if client.tls is not None else None
    shown = () if own is None else (presented(own),)
    return TlsHandshake("client-certificate", detail=detail, chain=shown, showed=own is not None)


def _refused(code: int) -> Literal["expired", "untrusted", "unfit"]:
    if code in _EXPIRED:
        return "expired"
    return "untrusted" if code in _UNTRUSTED else "unfit"


async def _undated(
    client: ClientSide, name: str, address: str, port: int, patience: float
) -> tuple[TlsHandshake, Streams] | None:
    """A handshake that asks for times as Java does, and its connection; None where Java refuses the chain too."""
    assert client.tls is not None  # noqa: S101
    _, streams = await connect(address, port, patience)
    if streams is None:
        return None
    with suppress(OSError):
        await start_tls(streams, client.tls.undated, name, patience)
        *path, anchor = chain(streams, verified=True)
        if all(map(_valid_now, path)):
            about = presented(anchor)
            dates = f"`{about.subject}`: {about.since} to {about.until}"
            return accepted(streams, client, name, Objection(("librdkafka", "python"), "expired", dates)), streams
    streams[1].transport.abort()
    return None


async def presented_chain(address: str, port: int, name: str, patience: float) -> tuple[tuple[Presented, ...], bytes]:
    """What a server shows to a client that refuses nothing, and answers to HTTP; empty where that fails too."""
    async with connected(address, port, patience) as streams:
        if streams is not None:
            with suppress(OSError):
                await start_tls(streams, _trusting_all(), name, patience)
                return tuple(map(presented, chain(streams, verified=False))), await said(streams, HTTP, patience / 4)
    return (), b""


async def answer_in_tls(question: bytes, address: str, port: int, patience: float) -> bytes | None:
    """What is answered inside of TLS; None where a TLS hello is not answered as TLS, be it with an alert."""
    async with connected(address, port, patience) as streams:
        if streams is None:
            return None
        try:
            await start_tls(streams, _trusting_all(), address, patience)
        except OSError as error:
            return b"" if isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or "") else None
        return await said(streams, question, patience)


async def said(streams: Streams, question: bytes, patience: float) -> bytes:
    """The start of an answer, empty where none comes."""
    with suppress(OSError):
        streams[1].write(question)
        return await asyncio.wait_for(streams[0].read(_HEAD), patience)
    return b""


def _trusting_all() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _valid_now(certificate: Info) -> bool:
    begins, ends = (ssl.cert_time_to_seconds(certificate[part]) for part in ("notBefore", "notAfter"))
    return begins <= time.time() <= ends
