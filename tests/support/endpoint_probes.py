"""Probes of endpoints made by hand, from flat words: a test says what it is about and nothing else."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from brokernat.doctor.evidence import (
    Advertised,
    ApiVersions,
    Attempt,
    ClusterMetadata,
    Connection,
    EndpointProbe,
    Identity,
    Login,
    NameLookup,
    SizeTest,
    TlsHandshake,
    Tries,
)

Value = TypeVar("Value")
_API_KEYS = {"Produce": 0, "Metadata": 3, "ApiVersions": 18, "DescribeTransactions": 65}
_SPEAKS: dict[str, dict[str, Any]] = {
    "kafka": {"outcome": "ok"},
    "controller": {"outcome": "controller"},
    "tls": {"outcome": "other-protocol", "protocol": "TLS"},
    "http": {"outcome": "other-protocol", "protocol": "HTTP"},
    "ssh": {"outcome": "other-protocol", "protocol": "SSH"},
    "silence": {"outcome": "silent"},
    "closed": {"outcome": "closed"},
    "other": {"outcome": "unreadable"},
}


def probed(
    endpoint: str,
    name: str | None = None,
    addresses: tuple[str, ...] = (),
    *,
    dns_error: str | None = None,
    hosts_entry: str | None = None,
    canonical: tuple[str, ...] = (),
    own_name: bool = False,
    attempts: tuple[Attempt, ...] = (),
    tls: TlsHandshake | None = None,
    speaks: str | None = None,
    knows: tuple[tuple[str, int], ...] = (),
    first_bytes: str = "",
    sasl: Login | None = None,
    brokers: tuple[Advertised, ...] | None = None,
    cluster_id: str | None = None,
    controller_id: int | None = None,
    slow: bool = False,
    identity: Identity | None = None,
    settings: tuple[tuple[str, str], ...] = (),
    size: SizeTest | None = None,
    tries: tuple[Tries, ...] = (),
    rule: str | None = None,
    complete: bool = True,
) -> EndpointProbe:
    """A probe; each word is the property of that name, `knows` the newest version of requests."""
    resolved = NameLookup("ok", addresses, "", hosts_entry, canonical, own_name)
    told = ClusterMetadata("ok", cluster_id, controller_id, brokers) if brokers is not None else None
    return EndpointProbe(
        endpoint,
        name if name is not None else endpoint.rpartition(":")[0],
        NameLookup("unknown", detail=dns_error) if dns_error else resolved,
        Connection(attempts) if attempts else None,
        tls,
        _versions(speaks, knows, first_bytes) if speaks or knows else None,
        sasl,
        ClusterMetadata("silent") if slow else told,
        dataclasses.replace(identity, settings=settings) if identity is not None and settings else identity,
        size,
        tries,
        rule,
        complete,
    )


def replace(value: Value, **words: Any) -> Value:
    """As `dataclasses.replace`; a probe takes the words of `probed`."""
    if isinstance(value, EndpointProbe):
        return _changed(value, words)  # type: ignore[return-value]
    return dataclasses.replace(value, **words)  # type: ignore[type-var]


def _changed(probe: EndpointProbe, words: dict[str, Any]) -> EndpointProbe:
    before: dict[str, Any] = {
        "dns_error": probe.dns_error,
        "hosts_entry": probe.hosts_entry,
        "canonical": probe.canonical,
        "own_name": probe.resolve is not None and probe.resolve.own_name,
        "attempts": probe.attempts,
        "tls": probe.tls,
        "speaks": probe.speaks,
        "knows": tuple((name, probe.newest(name)) for name in _API_KEYS if probe.newest(name) >= 0),
        "first_bytes": probe.first_bytes,
        "sasl": probe.sasl,
        "brokers": probe.brokers,
        "cluster_id": probe.cluster_id,
        "controller_id": probe.controller_id,
        "slow": probe.slow,
        "identity": probe.identity,
        "settings": probe.settings,
        "size": probe.size,
        "tries": probe.tries,
        "rule": probe.rule,
        "complete": probe.complete,
    }
    places = {"endpoint": probe.endpoint, "name": probe.name, "addresses": probe.addresses}
    return probed(**{**places, **before, **words})


def _versions(speaks: str | None, knows: tuple[tuple[str, int], ...], first_bytes: str) -> ApiVersions:
    offered = tuple((_API_KEYS[name], 0, newest) for name, newest in knows)
    return ApiVersions(**_SPEAKS[speaks or "kafka"], offered=offered, first_bytes=first_bytes)
