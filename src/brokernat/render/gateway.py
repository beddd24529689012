"""What every gateway file says to the people who run it, whatever program it is for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from brokernat.address.host import as_ip
from brokernat.render.forwards import Forward
from brokernat.render.header import Header, map_lines
from brokernat.render.subject import Subject

CAN = ("Carry any protocol of Kafka: login and TLS stay between client and broker.",)
CANNOT = (
    "Change what brokers advertise: a client still asks the brokers who they are and dials what they answer, so each "
    "client needs the map as well.",
    "Follow the cluster: a broker added later needs one more port here and one more rule in the map.",
)
_NAMES = (
    "Start while a broker's name cannot be looked up, or notice that its address has changed: names are looked up when "
    "the file is loaded, so reload then."
)


def gateway_header(header: Header, subject: Subject, forwards: Iterable[Forward]) -> str:
    """The header of a gateway's file, with the limits of gateways and the map that its clients need."""
    named = any(as_ip(forward.upstream.host) is None for forward in forwards)
    limits = (*CANNOT, *([_NAMES] if named else []), *header.cannot)
    extra = ("For each client, with brokernat's agent or plug-in:", *(f"  {line}" for line in map_lines(subject)))
    return replace(header, can=(*CAN, *header.can), cannot=limits).text(subject, extra)
