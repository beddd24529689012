"""Advertised endpoints by listener: the table of brokers' files, as lines."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listener_table import AdvertisedEndpoint, ListenerPort, listener_table
from brokernat.doctor.diagnosis import Diagnosis

_WORKS = {
    "anywhere": "",
    "same-machine": ": from the broker's own machine alone",
    "same-network": ": where this name is known",
    "nowhere": ": nobody can dial that",
}


def told_lines(diagnosis: Diagnosis) -> Iterator[tuple[int, str]]:
    """Lines with their depth; none where no file was given."""
    for row in listener_table(diagnosis.evidence):
        protocol = row.protocol or "no one protocol"
        others = ", the brokers among themselves too" if row.inter_broker else ""
        ports = ", ".join(map(_port, row.ports)) or "no port"
        yield 0, f"who comes in on {row.listener} ({protocol}{others}), that is {ports}, is told"
        for endpoint in row.endpoints:
            yield 1, _endpoint(endpoint)
        if not row.endpoints:
            yield 1, "of no broker at all"


def _port(port: ListenerPort) -> str:
    host = f"[{port.host}]" if ":" in port.host else port.host
    published = f" (published as {port.published})" if port.published is not None else ""
    return f"{_node(port)} {host}:{port.port}{published}"


def _endpoint(advertised: AdvertisedEndpoint) -> str:
    host = f"[{advertised.host}]" if ":" in advertised.host else advertised.host or "(its machine's own name)"
    return f"{_node(advertised)} at {host}:{advertised.port}{_WORKS[advertised.where]}"


def _node(place: ListenerPort | AdvertisedEndpoint) -> str:
    return place.broker if place.node_id is None else f"node {place.node_id}"
