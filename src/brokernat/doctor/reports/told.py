"""Who, coming in on which port, will be told what: the table of brokers' files, as lines and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from brokernat.doctor.broker_files.told import Door, Told, ToldEndpoint, told
from brokernat.doctor.diagnosis import Diagnosis

_WORKS = {
    "anywhere": "",
    "same-machine": ": from the broker's own machine alone",
    "same-network": ": where this name is known",
    "nowhere": ": nobody can dial that",
}


def told_lines(diagnosis: Diagnosis) -> Iterator[tuple[int, str]]:
    """Lines with their depth; none where no file was given."""
    for row in told(diagnosis.evidence):
        yield 0, f"who comes in on {row.listener} ({_about(row)}), that is {_doors(row)}, is told"
        for endpoint in row.endpoints:
            yield 1, _endpoint(endpoint)
        if not row.endpoints:
            yield 1, "of no broker at all"


def told_v1(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """The same for programs; `where` is `anywhere`, `same-machine`, `same-network` or `nowhere`."""
    return [
        {
            "listener": row.listener,
            "protocol": row.protocol,
            "inter_broker": row.inter_broker,
            "comes_in_on": [
                {
                    "broker": door.broker,
                    "node_id": door.node_id,
                    "host": door.host,
                    "port": door.port,
                    "published": door.published,
                }
                for door in row.doors
            ],
            "is_told": [
                {
                    "broker": each.broker,
                    "node_id": each.node_id,
                    "host": each.host,
                    "port": each.port,
                    "where": each.where,
                }
                for each in row.endpoints
            ],
        }
        for row in told(diagnosis.evidence)
    ]


def _about(row: Told) -> str:
    return f"{row.protocol or 'no one protocol'}{', the brokers among themselves too' if row.inter_broker else ''}"


def _doors(row: Told) -> str:
    return ", ".join(map(_door, row.doors)) or "no port"


def _door(door: Door) -> str:
    host = f"[{door.host}]" if ":" in door.host else door.host
    published = f" (published as {door.published})" if door.published is not None else ""
    return f"{_node(door)} {host}:{door.port}{published}"


def _endpoint(told: ToldEndpoint) -> str:
    host = f"[{told.host}]" if ":" in told.host else told.host or "(its machine's own name)"
    return f"{_node(told)} at {host}:{told.port}{_WORKS[told.where]}"


def _node(place: Door | ToldEndpoint) -> str:
    return place.broker if place.node_id is None else f"node {place.node_id}"
