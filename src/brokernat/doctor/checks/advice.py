"""What the evidence alone allows to advise: listeners that work, DNS records, nodes that moved, and what lies between
this machine and an address that it has no route to, by the ICMP messages that came back; pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brokernat.address.endpoint import bracketed
from brokernat.doctor.checks.failures import home_cluster, once
from brokernat.doctor.checks.proven_rules import any_reached_directly, proven_lines
from brokernat.doctor.evidence import Attempt, BrokerPath, EndpointProbe, Evidence, ListenerSeen
from brokernat.doctor.host_kinds import address, inside_name, is_link_local, is_loopback, neighbours, network
from brokernat.text import listed

_FEW = 3


def stale_record(evidence: Evidence, path: BrokerPath) -> str | None:
    """How to correct the DNS record of a node that is proven at another address. If no other node is reached at its
    advertised endpoint, the names may all be right in another network.
    """
    host, here = path.broker.host, path.probe.addresses if path.probe is not None else ()
    if path.rule or not here or address(host) is not None or not any_reached_directly(evidence):
        return None
    own = ((place, place) for place in _at_its_port(evidence, path))
    others = ((place, _shown(place, name)) for place, name in _on_other_listeners(evidence, path))
    for place, shown in (*own, *others):
        if place not in here:
            leads = f"`{host}` resolves here to {', '.join(here)}"
            return f"correct the DNS record (or the hosts file): {leads}, and node {path.broker.node_id} is at {shown}"
    return None


def moved(evidence: Evidence, path: BrokerPath) -> str | None:
    """What to correct if a node advertises an address and is proven at another one, in the network of nodes that are
    reached where they advertise, or with a listener that has the same host as this one at all of them.
    """
    if path.rule or address(path.broker.host) is None:
        return None
    here = [each.broker.host for each in evidence.paths if each.answers and each.rule is None]
    end = proven_end(evidence, path)
    if end is None or not any(neighbours(end.rpartition(":")[0].strip("[]"), each) for each in here):
        end = _at_host_of_others(evidence, path)
    if end is None:
        return None
    had = f"node {path.broker.node_id} answers at {end}: if it has moved, correct its `advertised.listeners`, which has"
    return f"{had} {path.broker.endpoint}"


def _at_host_of_others(evidence: Evidence, path: BrokerPath) -> str | None:
    """The address of a node on a listener that has another host there, and at all other nodes the host of this one."""
    reached = {each.broker.node_id: each.broker.host for each in evidence.paths if each.answers and each.rule is None}
    for place, name in _on_other_listeners(evidence, path):
        hosts = {each.node_id: each.endpoint.rpartition(":")[0] for each in evidence.listeners if each.name == name}
        others = hosts.keys() & reached.keys()
        if place != path.broker.host and others and all(hosts[each].strip("[]") == reached[each] for each in others):
            return _shown(place, name)
    return None


def _shown(place: str, listener: str) -> str:
    return f"{place} (listener {listener})"


def odd_host(evidence: Evidence, path: BrokerPath) -> str | None:
    """What to correct if one node advertises an address or a name of the inside, and all others advertise names."""
    host = path.broker.host
    inside = inside_name(host)
    if path.rule or not (inside or address(host)):
        return None
    others = [other.broker.host for other in evidence.paths if other is not path]
    # Two other nodes show what is usual.
    if len(others) < 2 or any(map(address, others)) or (inside and any(map(inside_name, others))):
        return None
    odd = f"`{host}`, which only its own network knows" if inside else f"the address {host}"
    correct = "correct its `advertised.listeners`; if a proxy gives these names, it lacks this node"
    return f"node {path.broker.node_id} advertises {odd}, and the others names such as `{others[0]}`: {correct}"


def proven_end(evidence: Evidence, path: BrokerPath) -> str | None:
    """The address at which a node has proven its id, with the advertised port; None if its name leads there."""
    here = path.probe.addresses if path.probe is not None else ()
    places = (place for place in _at_its_port(evidence, path) if place not in here)
    return next((f"{bracketed(place)}:{path.broker.port}" for place in places), None)


def _at_its_port(evidence: Evidence, path: BrokerPath) -> Iterator[str]:
    """The addresses at which a node has proven its id, at the advertised port."""
    nodes = (each.probe for each in evidence.paths if each.probe is not None and each.rule is None)
    for probe in (*(each for each in evidence.bootstraps if each.rule is None), *nodes):
        if probe.endpoint.endswith(f":{path.broker.port}") and (place := _place_of(probe, path)):
            yield place


def _on_other_listeners(evidence: Evidence, path: BrokerPath) -> Iterator[tuple[str, str]]:
    """The addresses of a node on other listeners, each with the listener's name, in networks where nodes are reached.

    A listener of another network may be the address of a gateway.
    """
    reached = {each for other in evidence.paths if other.answers and other.probe for each in other.probe.addresses}
    for seen in evidence.listeners:
        place = _place_of(seen.probe, path) if seen.probe is not None else None
        if place and seen.node_id == path.broker.node_id and any(neighbours(place, each) for each in reached):
            yield place, seen.name


def _place_of(probe: EndpointProbe, path: BrokerPath) -> str | None:
    """The address of an endpoint at which this node has proven its id; None if it may be another one."""
    met = probe.identity
    proven = met is not None and met.node_id == path.broker.node_id and met.alone
    return probe.addresses[0] if proven and len(probe.addresses) == 1 else None


def forward_advice(evidence: Evidence) -> Iterator[str]:
    """Advice for bootstrap servers that are forwards on this machine, if nodes lack one."""
    local = [probe for probe in evidence.bootstraps if probe.answers and is_loopback(probe.endpoint.rpartition(":")[0])]
    if local and len(proven_lines(evidence)) < len(evidence.paths):
        ends = ", ".join(probe.endpoint for probe in local[:_FEW])
        nodes = sorted({probe.node_id for probe in local if probe.node_id is not None})
        led = f"node {', '.join(map(str, nodes))}" if nodes else "its own node"
        opened = "`brokernat tunnel --ssh user@HOST -b HOST:PORT -- COMMAND` opens them"
        yield f"{ends} on this machine leads to {led} only: each node needs a forward of its own ({opened})"


def dropped(attempts: Sequence[Attempt]) -> bool:
    """Whether no address of an endpoint sends any answer, though routers can forward packets to all of them."""
    return bool(attempts) and all(each.outcome == "timeout" and not is_link_local(each.address) for each in attempts)


def dropped_advice(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """Advice if no address of an endpoint sends any answer."""
    if not dropped(attempts):
        return ()
    return ("if this machine is meant to reach the advertised endpoints: have the firewalls on the path allow it",)


def balancer_advice(evidence: Evidence, rules: Sequence[str]) -> Iterator[str]:
    """Why no bootstrap server can be the reachable side of a rule that is to be filled in."""
    for probe in evidence.bootstraps if rules else ():
        if probe.identity is not None and probe.identity.others:
            nodes = sorted({node_id for _, node_id in probe.identity.met})
            leads = f"{probe.endpoint} leads to nodes {', '.join(map(str, nodes))} in turn"
            yield f"{leads}, so no rule can use it: each node needs an endpoint of its own"


def reached_listeners(evidence: Evidence) -> tuple[str, ...]:
    """Other listeners that name every node and accept this client: bootstrap servers there need no map."""
    found, inner = _whole_listeners(evidence), _of_brokers(evidence)
    names = [name for name in found if name not in inner] or [*found]
    # The brokers' own listener may be closed to clients one day.
    of_brokers = "; it is the brokers' own (`inter.broker.listener.name`), so ask whether clients may use it"
    return tuple(
        f"bootstrap at {','.join(each.endpoint for each in found[name][:_FEW])}: listener {name} works from here, and "
        f"no map is needed{of_brokers if name in inner else ''}"
        for name in names[:2]
    )


def reaches_clients_listener(evidence: Evidence) -> bool:
    """Whether another listener than the brokers' own names every node and accepts this client."""
    return not _whole_listeners(evidence).keys() <= _of_brokers(evidence)


@once
def _whole_listeners(evidence: Evidence) -> dict[str, list[ListenerSeen]]:
    every = {path.broker.node_id for path in evidence.paths}
    entered = {each.name for each in evidence.listeners if each.entered}
    working = working_listeners(evidence).items()
    return {name: ends for name, ends in working if name not in entered and every <= {each.node_id for each in ends}}


def _of_brokers(evidence: Evidence) -> set[str]:
    names = (dict(probe.settings).get("inter.broker.listener.name") for probe in evidence.bootstraps)
    return {name for name in names if name}


@once
def working_listeners(evidence: Evidence) -> dict[str, list[ListenerSeen]]:
    """Listeners whose every advertised endpoint works for this client."""
    seen: dict[str, list[ListenerSeen]] = {}
    for each in evidence.listeners:
        seen.setdefault(each.name, []).append(each)
    home = home_cluster(evidence)
    return {name: ends for name, ends in seen.items() if _works(ends, home)}


def _works(ends: Sequence[ListenerSeen], cluster: str | None) -> bool:
    """Whether every broker answers at its own endpoint."""
    own, nodes = {each.endpoint for each in ends}, {each.node_id for each in ends}
    return len(own) == len(nodes) == len(ends) and all(
        each.probe is not None
        and each.probe.answers
        and each.probe.cluster_id == cluster
        and each.probe.node_id in (None, each.node_id)
        and own.issuperset(broker.endpoint for broker in each.probe.brokers or ())
        for each in ends
    )


def route_advice(
    evidence: Evidence, attempts: Sequence[Attempt], *, this_machine_only: bool = False
) -> tuple[str, ...]:
    """Advice if this machine or a router has no route; addresses of one network share a line.

    Args:
        this_machine_only: only if this machine may lack IPv6, or has an address in the brokers' network.
    """
    lost = [*filter(_unrouted, attempts)]
    if this_machine_only:
        lost = [each for each in lost if each.without_ipv6 or own_address(evidence, each)]
    return tuple(dict.fromkeys(_route_line(evidence, each) for each in lost))


def host_advice(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """The brokers' side if the last router reports that the host does not answer."""
    return tuple(f"check that the host {each.address} is up" for each in attempts if each.icmp == "host-unreachable")


def own_address(evidence: Evidence, lost: Attempt) -> str | None:
    """This machine's address in the network of an address that it has no route to, if nothing of that network answers.

    It is then probably not the network of the brokers, but another one with the same addresses on this machine.
    """
    own = lost.reported_by
    if not _unrouted(lost) or lost.icmp or not neighbours(own, lost.address):
        return None
    return None if network(own) in _networks_met(evidence) else own


def _unrouted(attempt: Attempt) -> bool:
    return attempt.outcome == "unreachable" and not attempt.rejected


def _route_line(evidence: Evidence, lost: Attempt) -> str:
    alike = _unrouted_addresses(evidence)[_way(lost)]
    hosts = listed(alike)
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
    if address(alike[0]) is not None and network(alike[0], small=True) in _networks_answering(evidence):
        return f"nothing answers at {hosts}, and other addresses of its network do: {off}, or the address is wrong"
    missing = "a route or a VPN of this machine may be missing, its firewall may reject the packets"
    return f"check {command}: {'this machine may have no IPv6' if ':' in lost.address else missing}, or {off}"


def _way(lost: Attempt) -> tuple[object, str, str]:
    """What addresses without a route have in common: the network, the ICMP type, the reporting router."""
    return _network(lost.address), lost.icmp, lost.reported_by


def _network(place: str) -> object:
    return place if address(place) is None else network(place)


@once
def _unrouted_addresses(evidence: Evidence) -> dict[tuple[object, str, str], list[str]]:
    """The addresses without a route, by `_way`."""
    found: dict[tuple[object, str, str], dict[str, None]] = {}
    for each in (each for probe in evidence.probes for each in probe.attempts if _unrouted(each)):
        found.setdefault(_way(each), {})[each.address] = None
    return {key: [*addresses] for key, addresses in found.items()}


@once
def _networks_answering(evidence: Evidence) -> set[object]:
    """The small networks of addresses that accept connections."""
    ends = (each for probe in evidence.probes for each in probe.attempts if each.outcome == "connected")
    return {network(each.address, small=True) for each in ends if address(each.address) is not None}


@once
def _networks_met(evidence: Evidence) -> set[object]:
    """The networks of addresses at which another machine answers; a program of another protocol does not count."""
    probes = [probe for probe in evidence.probes if probe.protocol in ("", "TLS")]
    return {_network(each.address) for probe in probes for each in probe.attempts if each.answered}
