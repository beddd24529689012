"""Parses candidates: endpoints that may lead to a broker; pure.

    172.10.1.40:9093          one endpoint
    172.10.1.40:9090-9100     every port of a range
    10.9.0.0/28:9092          every address of a network
    [fd00::1]:9092-9094       IPv6 in brackets, networks too: [fd00::/124]:9092

Entries are separated by `,`. They are counted before they are listed. A network with too many addresses is an error, so
a typo does not scan a foreign network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_network
from itertools import chain

from brokernat.address import Endpoint
from brokernat.address.endpoint import bracketed, format_ip, parse_host, parse_port
from brokernat.errors import ConfigError, Finding, read_all

MOST = 1024
_HINT = "write `host:port`, `host:first-last` or `network/length:port`, separated by `,`"


def parse_candidates(texts: Iterable[str]) -> tuple[Endpoint, ...]:
    """The endpoints that the texts name, without duplicates, in their order.

    Raises:
        ConfigError: lists every invalid entry, or there are more than `MOST` endpoints.
    """
    entries = (entry.strip() for text in texts for entry in text.split(","))
    found = dict.fromkeys(chain.from_iterable(read_all(lambda entry: _endpoints(entry, MOST), entries)))
    if len(found) > MOST:
        raise ConfigError(_too_many("the candidates", len(found), MOST))
    return tuple(found)


def parse_scan(text: str) -> tuple[Endpoint, ...]:
    """The ports of one host, without a limit: `172.10.1.40:1024-65535`.

    Raises:
        ConfigError: it is not one host with ports.
    """
    if "," in text or "/" in text:
        message = f"`{text}` is not one host and a range of its ports"
        raise ConfigError(Finding("bad-scan", message, "a scan is `host:first-last`; `--candidates` takes lists"))
    return tuple(_endpoints(text.strip(), 1 << 16))


def _endpoints(entry: str, most: int) -> Iterator[Endpoint]:
    if not entry:
        raise ConfigError(Finding("bad-candidate", "a candidate is empty", f"{_HINT}; is a shell variable not set?"))
    host, colon, ports = entry.rpartition(":")
    if not colon or host.startswith("[") != host.endswith("]") or "[" in host[1:] or (":" in host and host[0] != "["):
        raise _no_candidate(entry, "host and port are not told apart" if colon else "the port is missing")
    hosts = host.removeprefix("[").removesuffix("]")
    try:
        low, high = _range(ports)
        addresses, number = _hosts(hosts)
    except ConfigError as error:
        problem = error.problems[0]
        raise _no_candidate(entry, problem.message, problem.hint) from None
    if number * (high - low + 1) > most:
        raise ConfigError(_too_many(f"`{entry}`", number * (high - low + 1), most))
    return (Endpoint(address, port) for address in addresses for port in range(low, high + 1))


def _range(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    low = parse_port(first.strip())
    high = parse_port(last.strip()) if dash else low
    if high < low:
        raise ConfigError(Finding("bad-port", f"the range `{text}` ends before it begins"))
    return low, high


def _hosts(text: str) -> tuple[Iterable[str], int]:
    if "/" not in text:
        return (parse_host(text),), 1
    try:
        network = ip_network(text)
    except ValueError:
        raise ConfigError(
            Finding("bad-cidr", f"`{bracketed(text)}` is not a network with its host bits zero")
        ) from None
    return map(format_ip, network), network.num_addresses


def _no_candidate(entry: str, reason: str, hint: str | None = None) -> ConfigError:
    return ConfigError(Finding("bad-candidate", f"candidate `{entry}`: {reason}", hint or _HINT))


def _too_many(what: str, number: int, most: int) -> Finding:
    hint = "name fewer; `--scan host:first-last` takes every port of one host"
    return Finding("too-many-candidates", f"{what} would be {number} endpoints, at most {most} are looked at", hint)
