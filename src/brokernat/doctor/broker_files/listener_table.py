"""Advertised endpoints by listener: one row for each listener name, over all files together; pure.

A broker answers with the endpoints of the listener NAME whose port was hit, those of every broker that has one of that
name. So the rows are the names, and a broker without the name is missing from what its clients learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from brokernat.doctor.broker_files.listeners import BrokerListeners, Listener, advertised_listeners, serving
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.host_kinds import inside_name, is_loopback

Where = Literal["anywhere", "same-machine", "same-network", "nowhere"]


@dataclass(frozen=True, slots=True)
class ListenerPort:
    """A port of a broker. An empty host is every address; `published` is the host's port for a container's."""

    broker: str
    node_id: int | None
    host: str
    port: int
    published: int | None = None


@dataclass(frozen=True, slots=True)
class AdvertisedEndpoint:
    """An endpoint that clients receive; `where` is as far as one can see from the text alone."""

    broker: str
    node_id: int | None
    host: str
    port: int
    where: Where


@dataclass(frozen=True, slots=True)
class ListenerRow:
    """One listener's name. `protocol` is None where brokers differ or say none."""

    listener: str
    protocol: str | None
    ports: tuple[ListenerPort, ...]
    endpoints: tuple[AdvertisedEndpoint, ...]
    inter_broker: bool


def listener_table(evidence: Evidence) -> tuple[ListenerRow, ...]:
    """The rows, in the order of the files."""
    brokers = serving(evidence)
    bound = [(broker, each) for broker in brokers for each in broker.of_clients()]
    advertised = advertised_listeners(evidence)
    names = dict.fromkeys(each.name for broker in brokers for each in (*broker.of_clients(), *broker.advertised))
    rows = []
    for name in names:
        protocols = {broker.protocols.get(name) for broker, each in (*bound, *advertised) if each.name == name}
        rows.append(
            ListenerRow(
                name,
                protocols.pop() if len(protocols) == 1 else None,
                tuple(_port(broker, each) for broker, each in bound if each.name == name),
                tuple(_endpoint(broker, each) for broker, each in advertised if each.name == name),
                any(broker.inter_broker == name for broker in brokers),
            )
        )
    return tuple(rows)


def _port(broker: BrokerListeners, listener: Listener) -> ListenerPort:
    published = dict(broker.file.published or ()).get(listener.port)
    return ListenerPort(broker.file.name, broker.node_id, listener.host, listener.port, published)


def _endpoint(broker: BrokerListeners, listener: Listener) -> AdvertisedEndpoint:
    return AdvertisedEndpoint(broker.file.name, broker.node_id, listener.host, listener.port, where(listener.host))


def where(host: str) -> Where:
    """From where a host can be dialled, judged by its text."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        return "nowhere"
    if is_loopback(host):
        return "same-machine"
    # An empty one is the name that the machine calls itself.
    return "same-network" if not host or inside_name(host) else "anywhere"
