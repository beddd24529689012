"""What was seen at an endpoint, in a few words: the same in every part of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brokernat.doctor.evidence import ListenerSeen, Look


def told(look: Look) -> str:
    """How far this client got."""
    if look.brokers is not None:
        who = f"node {look.identity.node_id}" if look.identity and look.identity.node_id is not None else "a broker"
        return f"{who} of {len(look.brokers)}, cluster {look.cluster_id}"
    if look.dns_error:
        return "the name does not resolve"
    return "no Kafka for this client" if look.connected else "no connection"


def listener_line(seen: ListenerSeen) -> str:
    """One listener of a node: what clients that come in on it are told, and what this client meets there."""
    start = f"listener {seen.name} of node {seen.node_id} sends clients to {seen.endpoint}"
    met = "not dialled" if seen.look is None else told(seen.look)
    return f"{start}: {met}{' (the bootstrap servers came in here)' if seen.entered else ''}"
