"""The names in a certificate, and which clients take it for a host; pure.

All clients agree about whole names (RFC 6125, 6.4.1) and about the subject's common name, which counts only where no
alternative name is one of DNS: certificates of old instructions have nothing else. They differ in the rest:

| certificate | host | Java (`HostnameChecker`) | librdkafka and Python (`X509_check_host`) |
|---|---|---|---|
| `*.hq` | `kafka-1.hq` | takes it | want two dots behind a star |
| `kafka-*.hq.internal` | `kafka-1.hq.internal` | takes it | want a star alone in the first label |
| `kafka_1` | `kafka_1` | `Illegal given domain name` | take it |

Seen with JDK 17, librdkafka 2.16 and Python 3.11.

An address is held against the addresses of a certificate and nothing else. So a name that reads like an address is kept
as `DNS:10.0.0.5`, which is no host and stands in the report as what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import ip_address

from brokernat.doctor.evidence import Client

# What Java's SNIHostName takes, STD3 of RFC 1122: letters, digits and hyphens inside.
_STD3 = re.compile(r"(?!-)[a-z0-9-]+(?<!-)(\.(?!-)[a-z0-9-]+(?<!-))*")


def certificate_names(certificate: Mapping[str, object]) -> tuple[str, ...]:
    """All that may be a host, of what `ssl` made of a certificate."""
    alternatives = _pairs(certificate.get("subjectAltName"))
    found = [_told_apart(kind, value) for kind, value in alternatives if kind in ("DNS", "IP Address")]
    if not any(kind == "DNS" for kind, _ in alternatives):
        found += [_told_apart("CN", name) for name in common_names(certificate.get("subject"))]
    return tuple(found)


def common_names(subject: object) -> list[str]:
    """The common names in a subject or issuer, of what `ssl` made of it."""
    parts = [pair for part in subject for pair in _pairs(part)] if isinstance(subject, tuple) else []
    return [value for kind, value in parts if kind == "commonName"]


def covers(names: Iterable[str], host: str) -> bool:
    """Whether any client takes a certificate with these names for the host."""
    return bool(taken_by(names, host))


def taken_by(names: Iterable[str], host: str) -> frozenset[Client]:
    """The clients that do."""
    wanted = canonical(host)
    patterns = [canonical(name) for name in names]
    if _is_address(wanted):
        return frozenset(_MATCHING) if wanted in patterns else frozenset()
    return frozenset(
        client for client, matches in _MATCHING.items() if any(matches(pattern, wanted) for pattern in patterns)
    )


def canonical(text: str) -> str:
    """A host as it is compared."""
    try:
        return str(ip_address(text))
    except ValueError:
        return text.lower().removesuffix(".")


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


_MATCHING: Mapping[Client, Callable[[str, str], bool]] = {
    "java": _java,
    "librdkafka": _openssl,
    "python": _openssl,
}


def _labels_match(pattern: str, host: str) -> bool:
    """Label by label, a star never for a dot."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", "[^.]*"), host) is not None


def _told_apart(kind: str, value: str) -> str:
    return f"{kind}:{value}" if kind != "IP Address" and _is_address(value) else value


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _pairs(part: object) -> Sequence[tuple[str, str]]:
    return part if isinstance(part, tuple) else ()
