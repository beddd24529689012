"""Makes the client's TLS handshake and compares the names of the certificate with the advertised name.

The chain is verified by OpenSSL with the client's trust store; the name is compared here, which distinguishes a wrong
name from a wrong chain. It is the ORIGINAL advertised name, which clients verify even with a map.

OpenSSL checks the validity dates of every certificate, the trusted one too. Java does not check certificates in its
trust store: a chain ends at the first one that is there (`sun.security.validator.PKIXValidator`), and an anchor is no
part of a path (RFC 5280, 6.1). So Java accepts an expired certificate that is in the trust store, and librdkafka and
Python do not. Each test needs its own handshake, because OpenSSL ends a rejected one.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from dataclasses import replace
from typing import Literal, get_args

from brokernat.doctor.credentials import ClientSide
from brokernat.doctor.evidence import Client, Objection, Presented, TlsHandshake, now
from brokernat.doctor.probes.certificates import certificate_names, chain, ends_in_a_root, presented, taken_by
from brokernat.doctor.probes.network import Streams, close, connect, connected, start_tls
from brokernat.wire.protocols import protocol_of_server

_BY_VERIFY_CODE: dict[int, Literal["expired", "untrusted"]] = {
    **dict.fromkeys((9, 10), "expired"),  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
    **dict.fromkeys((2, 18, 19, 20, 21, 27), "untrusted"),  # X509_V_ERR_: no issuer is found, or none is trusted
}
_REFUSED = ("expired", "untrusted", "unfit", "name-mismatch")
_ANSWERED = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
_HUNG_UP = "UNEXPECTED_EOF_WHILE_READING"
# Alerts about the client's certificate (RFC 8446, 6.2), with OpenSSL's names.
_ABOUT_THE_CLIENT = ("CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED")
# RFC 5246, 7.4.1.2, in a record of handshakes: TLS 1.0, no session, one cipher that is none (RFC 5746, 3.3).
_UNACCEPTABLE = bytes.fromhex("160301002f0100002b0301") + bytes(32) + bytes.fromhex("00000200ff01000000")
_ALERT = b"\x15\x03"
HTTP, _HEAD = b"GET / HTTP/1.0\r\n\r\n", 64
ALL_CLIENTS: tuple[Client, ...] = get_args(Client)


async def shake_hands(
    streams: Streams, client: ClientSide, name: str, address: str, port: int, patience: float
) -> tuple[TlsHandshake, Streams]:
    """Start TLS on the connection, and collect the chain of a rejected certificate; never raises.

    The returned streams are new ones if only Java accepts the certificate.
    """
    seen = await first_handshake(streams, client, name, patience)
    if seen.outcome == "expired":
        as_java = await _undated(client, name, address, port, patience)
        if as_java is not None:
            close(streams)
            return as_java
    if seen.outcome not in _REFUSED:
        return seen, streams
    shown, page = await presented_chain(address, port, name, patience)
    if protocol_of_server(page) == "HTTP":
        return TlsHandshake("not-tls", detail=seen.detail, protocol="HTTPS"), streams
    return replace(seen, chain=shown), streams


async def first_handshake(streams: Streams, client: ClientSide, name: str, patience: float) -> TlsHandshake:
    """Only the handshake, with OpenSSL's verdict."""
    assert client.tls is not None  # noqa: S101
    if streams[0].head:
        # A TLS server waits for the ClientHello, and the handshake loses bytes that came before it.
        return TlsHandshake("not-tls", detail="the peer speaks first")
    try:
        await start_tls(streams, client.tls.context, name, patience)
    except ssl.SSLCertVerificationError as error:
        return TlsHandshake(_BY_VERIFY_CODE.get(error.verify_code, "unfit"), detail=error.verify_message)
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
    """The result for a chain that OpenSSL has verified, with the objections of other clients."""
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
    """Whether an alert is about the client's certificate. In TLS 1.3 it comes only with the first answer."""
    return "ALERT" in reason and any(part in reason for part in _ABOUT_THE_CLIENT)


def client_refused(detail: str, client: ClientSide) -> TlsHandshake:
    """A handshake that the broker ends because of the client's certificate; `chain` is the client's then."""
    own = client.tls.certificate if client.tls is not None else None
    shown = () if own is None else (presented(own),)
    return TlsHandshake("client-certificate", detail=detail, chain=shown, showed=own is not None)


async def _undated(
    client: ClientSide, name: str, address: str, port: int, patience: float
) -> tuple[TlsHandshake, Streams] | None:
    """A handshake that checks dates as Java does, and its connection; None if Java rejects the chain too."""
    assert client.tls is not None  # noqa: S101
    _, streams = await connect(address, port, patience)
    if streams is None:
        return None
    with suppress(OSError):
        await start_tls(streams, client.tls.undated, name, patience)
        *path, anchor = map(presented, chain(streams, verified=True))
        if all(each.since <= now() <= each.until for each in path):
            dates = f"`{anchor.subject}`: {anchor.since} to {anchor.until}"
            return accepted(streams, client, name, Objection(("librdkafka", "python"), "expired", dates)), streams
    close(streams)
    return None


async def presented_chain(address: str, port: int, name: str, patience: float) -> tuple[tuple[Presented, ...], bytes]:
    """The chain that is presented to a client that accepts everything, and the answer to HTTP; empty if that fails."""
    async with connected(address, port, patience) as streams:
        if streams is not None:
            with suppress(OSError):
                await start_tls(streams, _trusting_all(), name, patience)
                return tuple(map(presented, chain(streams, verified=False))), await said(streams, HTTP, patience / 4)
    return (), b""


async def answer_in_tls(question: bytes, address: str, port: int, patience: float) -> bytes | None:
    """The answer inside TLS; None if the peer answers a ClientHello neither with TLS nor with an alert."""
    async with connected(address, port, patience) as streams:
        if streams is None:
            return None
        try:
            await start_tls(streams, _trusting_all(), address, patience)
        except OSError as error:
            return b"" if isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or "") else None
        return await said(streams, question, patience)


async def sends_alert(address: str, port: int, patience: float) -> bool:
    """Whether the peer rejects a ClientHello without any of its versions and ciphers with an alert: 7 bytes."""
    return (await answer_in_plain(_UNACCEPTABLE, address, port, patience)).startswith(_ALERT)


async def answer_in_plain(question: bytes, address: str, port: int, patience: float) -> bytes:
    """The start of the answer on a connection of its own."""
    async with connected(address, port, patience) as streams:
        return b"" if streams is None else await said(streams, question, patience)


async def said(streams: Streams, question: bytes, patience: float) -> bytes:
    """The start of an answer, empty if there is none."""
    with suppress(OSError):
        streams[1].write(question)
        return await asyncio.wait_for(streams[0].read(_HEAD), patience)
    return b""


def _trusting_all() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
