"""A connection's certificates: their names, which clients take them for a host, and where their chain ends.

All clients agree about whole names (RFC 6125, 6.4.1) and about the subject's common name, which counts only without a
DNS alternative name (some old certificates have none). They differ in the rest:

| certificate | host | Java (`HostnameChecker`) | librdkafka and Python (`X509_check_host`) |
|---|---|---|---|
| `*.hq` | `kafka-1.hq` | takes it | want two dots behind a star |
| `kafka-*.hq.internal` | `kafka-1.hq.internal` | takes it | want a star alone in the first label |
| `kafka_1` | `kafka_1` | `Illegal given domain name` | take it |

Seen with JDK 17, librdkafka 2.16 and Python 3.11.

An address is compared only with the addresses of a certificate. So a name that looks like an address is kept as
`DNS:10.0.0.5`, which matches no host and is clear in the report.

With its flag for partial chains, OpenSSL accepts the first trusted certificate of a chain, as Java does. librdkafka and
Python (before 3.13) do not set the flag: they need a self-signed root at the end.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from brokernat.doctor.evidence import Client, Presented
from brokernat.doctor.host_kinds import address, canonical
from brokernat.doctor.probes.network import Streams

Info = Mapping[str, Any]
"""A certificate as `ssl` returns it; subject and issuer are parts of pairs (kind, value)."""

# The names that Java's SNIHostName accepts (STD3, RFC 1122): letters, digits and hyphens inside.
_STD3 = re.compile(r"(?!-)[a-z0-9-]+(?<!-)(\.(?!-)[a-z0-9-]+(?<!-))*")


def certificate_names(certificate: Info) -> tuple[str, ...]:
    """All names of a certificate that may be a host."""
    alternatives = certificate.get("subjectAltName", ())
    found = [_told_apart(kind, value) for kind, value in alternatives if kind in ("DNS", "IP Address")]
    if not any(kind == "DNS" for kind, _ in alternatives):
        found += [_told_apart("CN", name) for name in common_names(certificate, "subject")]
    return tuple(found)


def common_names(certificate: Info, part: Literal["subject", "issuer"]) -> list[str]:
    """The common names in the subject or the issuer."""
    return [value for pairs in certificate.get(part, ()) for kind, value in pairs if kind == "commonName"]


def covers(names: Iterable[str], host: str) -> bool:
    """Whether any client accepts a certificate with these names for the host."""
    return bool(taken_by(names, host))


def taken_by(names: Iterable[str], host: str) -> frozenset[Client]:
    """The clients that accept a certificate with these names for the host."""
    wanted = canonical(host)
    patterns = [canonical(name) for name in names]
    if address(wanted) is not None:
        return frozenset(_MATCHING) if wanted in patterns else frozenset()
    return frozenset(
        client for client, matches in _MATCHING.items() if any(matches(pattern, wanted) for pattern in patterns)
    )


def _java(pattern: str, host: str) -> bool:
    """A star may stand anywhere in a label, if a dot follows it somewhere; a host must be a name of RFC 1122."""
    stars = "*" in pattern
    if not _STD3.fullmatch(host) or (stars and "." not in pattern.rpartition("*")[2].removesuffix(".")):
        return False
    return _labels_match(pattern, host) if stars else pattern == host


def _openssl(pattern: str, host: str) -> bool:
    """A star stands alone in the first label, and two dots follow."""
    if "*" not in pattern:
        return pattern == host
    first, _, rest = pattern.partition(".")
    return first == "*" and "*" not in rest and "." in rest and _labels_match(pattern, host)


_MATCHING: Mapping[Client, Callable[[str, str], bool]] = {"java": _java, "librdkafka": _openssl, "python": _openssl}


def _labels_match(pattern: str, host: str) -> bool:
    """Compares label by label; a star never matches a dot."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", "[^.]*"), host) is not None


def _told_apart(kind: str, value: str) -> str:
    return f"{kind}:{value}" if kind != "IP Address" and address(value) is not None else value


def chain(streams: Streams, *, verified: bool) -> Sequence[Info]:
    """From the peer's certificate to the trust anchor, or to the last presented one."""
    # Python has a public API for this from 3.13 on, but only as bytes; the private one has parsed values since 3.10.
    inner = streams[1].get_extra_info("ssl_object")._sslobj  # noqa: SLF001
    found = inner.get_verified_chain() if verified else inner.get_unverified_chain()
    return [each.get_info() for each in found or ()]


def ends_in_a_root(anchor: Info, trusted: Sequence[Info]) -> bool:
    """Whether the trust store has the issuers of an anchor up to a self-signed root; pure."""
    for _ in range(len(trusted) + 1):
        if anchor["subject"] == anchor["issuer"]:
            return True
        above = [each for each in trusted if each["subject"] == anchor["issuer"]]
        if not above:
            return False
        anchor = above[0]
    return False


def presented(certificate: Info) -> Presented:
    """The part of a certificate that evidence keeps."""
    seconds = (ssl.cert_time_to_seconds(certificate[part]) for part in ("notBefore", "notAfter"))
    since, until = (datetime.fromtimestamp(each, UTC).isoformat(timespec="seconds") for each in seconds)
    return Presented(_name(certificate, "subject"), _name(certificate, "issuer"), since, until)


def _name(certificate: Info, part: Literal["subject", "issuer"]) -> str:
    """The common name, or the whole name if there is none."""
    if named := common_names(certificate, part):
        return named[-1]
    return ", ".join(f"{kind}={value}" for pairs in certificate.get(part, ()) for kind, value in pairs)
