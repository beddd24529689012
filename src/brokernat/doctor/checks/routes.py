"""What lies between this machine and an address that it has no route to, by the ICMP messages that came back."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.checks.failures import once
from brokernat.doctor.evidence import Attempt, EndpointProbe, Evidence
from brokernat.doctor.host_kinds import address, neighbours, network

_FEW = 3


def route_advice(evidence: Evidence, probe: EndpointProbe | None) -> tuple[str, ...]:
    """Advice if this machine or a router has no route; addresses of one network share a line."""
    lost = [] if probe is None else [each for each in probe.attempts if _unrouted(each)]
    return tuple(dict.fromkeys(_route_line(evidence, each) for each in lost))


def own_network_advice(evidence: Evidence, probe: EndpointProbe | None) -> tuple[str, ...]:
    """The part of `route_advice` that is about this machine alone: no IPv6, or an address in the brokers' network."""
    lost = [] if probe is None else [each for each in probe.attempts if _unrouted(each) and not each.icmp]
    return tuple(
        dict.fromkeys(
            _route_line(evidence, each) for each in lost if ":" in each.address or own_address(evidence, each)
        )
    )


def host_advice(probe: EndpointProbe | None) -> tuple[str, ...]:
    """The brokers' side if the last router reports that the host does not answer."""
    attempts = probe.attempts if probe is not None else ()
    return tuple(f"check that the host {each.address} is up" for each in attempts if each.icmp == "host-unreachable")


def own_address(evidence: Evidence, lost: Attempt) -> str | None:
    """This machine's address in the network of an address that it has no route to, if nothing of that network answers.

    It is then probably not the network of the brokers, but another one with the same addresses on this machine.
    """
    own = lost.reported_by
    if not _unrouted(lost) or lost.icmp or not own or not neighbours(own, lost.address):
        return None
    return None if network(own) in _networks_met(evidence) else own


def _unrouted(attempt: Attempt) -> bool:
    return attempt.outcome == "unreachable" and not attempt.rejected


def _route_line(evidence: Evidence, lost: Attempt) -> str:
    alike = _unrouted_addresses(evidence)[_way(lost)]
    hosts = ", ".join(alike[:_FEW]) + (f" and {len(alike) - _FEW} more" if len(alike) > _FEW else "")
    if lost.icmp:
        said = (
            f"router {lost.reported_by} sends ICMP {lost.icmp}" if lost.reported_by else f"ICMP {lost.icmp} comes back"
        )
        return f"check the route or the VPN to {hosts}, and the firewalls on the path: {said}"
    command = f"`ip route get {alike[0]}`"
    if own := own_address(evidence, lost):
        bridge = f"this machine itself has the address {own} in the network of {hosts}, perhaps a bridge of Docker"
        return f"{bridge}: packets then do not leave it. Check {command}, and give the bridge another subnet"
    off = "the host is off" if len(alike) == 1 else "the hosts are off"
    missing = "a route or a VPN of this machine may be missing, its firewall may reject the packets"
    return f"check {command}: {'this machine may have no IPv6' if ':' in lost.address else missing}, or {off}"


def _attempts(evidence: Evidence) -> Iterator[Attempt]:
    probes = (*evidence.bootstraps, *(path.probe for path in evidence.paths if path.probe is not None))
    return (each for probe in probes for each in probe.attempts)


def _way(lost: Attempt) -> tuple[object, str, str]:
    """What addresses without a route have in common: the network, the ICMP type, the reporting router."""
    return _network(lost.address), lost.icmp, lost.reported_by


def _network(place: str) -> object:
    return place if address(place) is None else network(place)


@once
def _unrouted_addresses(evidence: Evidence) -> dict[tuple[object, str, str], list[str]]:
    """The addresses without a route, by `_way`."""
    found: dict[tuple[object, str, str], dict[str, None]] = {}
    for each in filter(_unrouted, _attempts(evidence)):
        found.setdefault(_way(each), {})[each.address] = None
    return {key: [*addresses] for key, addresses in found.items()}


@once
def _networks_met(evidence: Evidence) -> set[object]:
    """The networks of addresses to which there is a route."""
    return {_network(each.address) for each in _attempts(evidence) if each.outcome != "unreachable"}
