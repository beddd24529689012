"""The client's TLS as OpenSSL takes it: whom it trusts, what it shows, which versions it speaks.

It is made twice. Java asks no certificate of its trust store for its time and OpenSSL does, so the second one asks
none, and `probes/refused_certificate.py` looks at the times itself.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from brokernat.doctor.stores import OwnCertificate, own_certificate, trusted_certificates
from brokernat.errors import ConfigError, Problem

_NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME, which Python has no name for
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
"""What Java still speaks: JDKs since 2021 refuse TLS 1.0 and 1.1, as OpenSSL does."""


@dataclass(frozen=True, slots=True)
class TlsSide:
    """`undated` asks no certificate for its time; `certificate` is whether the client has one to show."""

    context: ssl.SSLContext = field(repr=False)
    undated: ssl.SSLContext = field(repr=False)
    certificate: bool


def tls_side(properties: Mapping[str, str]) -> TlsSide:
    """The client's `ssl.` properties.

    Raises:
        ConfigError: a store cannot be read, or no version is left.
    """
    trusted = trusted_certificates(properties)
    context, undated = _trusting(trusted), _trusting(trusted)
    undated.verify_flags |= _NO_CHECK_TIME
    with own_certificate(properties) as own:
        for each in (context, undated):
            _limit(each, properties.get("ssl.enabled.protocols"))
            if own is not None:
                _show(each, own)
    return TlsSide(context, undated, own is not None)


def _trusting(certificates: str | None) -> ssl.SSLContext:
    if certificates is None:
        context = ssl.create_default_context()
        context.check_hostname = False
        return context
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    # Java takes any certificate of its trust store for an anchor, a broker's own among them.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cadata=certificates)
    except (OSError, ValueError):
        raise _unreadable("a certificate of the trust store cannot be read") from None
    return context


def _show(context: ssl.SSLContext, own: OwnCertificate) -> None:
    try:
        context.load_cert_chain(own.file, password=own.password)
    except (OSError, ValueError):
        # OpenSSL's own words hold no secret, and no help either.
        hint = "check `ssl.key.password`, and that the certificate is that of the key and comes first"
        raise _unreadable("the client's key or its certificate cannot be read", hint) from None


def _limit(context: ssl.SSLContext, names: str | None) -> None:
    if names is None:
        return
    known = [_VERSIONS[name.strip()] for name in names.split(",") if name.strip() in _VERSIONS]
    if not known:
        message = f"`ssl.enabled.protocols: {names}` names no version of TLS that Java still speaks"
        raise ConfigError(Problem("tls-version", message, f"write `{','.join(_VERSIONS)}`, or leave it out"))
    context.minimum_version, context.maximum_version = min(known), max(known)


def _unreadable(message: str, hint: str | None = None) -> ConfigError:
    return ConfigError(Problem("store-unreadable", message, hint))
