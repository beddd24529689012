"""What to change at one endpoint: the smallest change first, nothing that would break endpoints that work; pure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from brokernat.doctor.broker_files.listeners import Listener, node_listeners
from brokernat.doctor.checks.advice import (
    balancer_advice,
    dropped,
    dropped_advice,
    forward_advice,
    host_advice,
    moved,
    odd_host,
    reached_listeners,
    reaches_clients_listener,
    route_advice,
    stale_record,
)
from brokernat.doctor.checks.failures import once
from brokernat.doctor.checks.places import (
    DialledNode,
    ProbedEndpoint,
    dialled_nodes,
    failing,
    node,
    nodes_by_id,
    nodes_of,
    server_of,
    unreachable,
)
from brokernat.doctor.checks.proven_rules import (
    advice_to_test,
    any_reached_directly,
    corrected,
    discover_advice,
    known_line,
    proven_line,
    shifted_port,
    unmapped_advice,
)
from brokernat.doctor.evidence import BrokerPath, Evidence, Stage
from brokernat.doctor.finding import Remedy
from brokernat.doctor.host_kinds import address, is_loopback, known_kind, neighbours, network
from brokernat.text import listed

_FEW = 3


def mended_here(probed: ProbedEndpoint) -> Remedy:
    """The remedy for one faulty endpoint among working ones: it changes nothing that would break those."""
    if probed.path is None:
        return Remedy((f"remove {server_of(probed.probe)} from the bootstrap servers, or correct its host and port",))
    end, rule, right = probed.probe.endpoint, probed.path.rule, probed.proven_elsewhere
    must = f"it must lead to {probed.node}, on the same listener as at the other nodes"
    forward = f"check where the forward at {end} leads: {must}"
    if by_name := probed.chosen_by_name:
        return Remedy(broker=(by_name,))
    if record := _odd_record(probed):
        return Remedy((record,), (forward,), right)
    if rule:
        return Remedy((corrected(probed.path, right),), () if right else (forward,), right)
    of_another_cluster = probed.failure is not None and probed.failure.stage == "cluster"
    if right and (of_another_cluster or len(probed.evidence.paths) == 1):
        there, had = right[0].rpartition(" = ")[2], probed.path.broker.endpoint
        own = f"{probed.node} answers at {there}: correct its `advertised.listeners`, which has {had}"
        return Remedy(broker=(own,), rules=right)
    if probed.is_behind_gateway:
        return Remedy(broker=(forward, *_own_listener(probed)[:1]), rules=right)
    return Remedy(broker=_own_listener(probed), rules=right)


def _odd_record(probed: ProbedEndpoint) -> str | None:
    """How to correct the address of a name, if the names of all other nodes lead to their nodes at one address."""
    if probed.path is None or probed.path.rule or address(probed.host) is not None:
        return None
    others = [each for each in dialled_nodes(probed.evidence) if each.node != probed.node]
    right = all(each.failure is None and not each.path.rule and address(each.host) is None for each in others)
    # Two other names with one address show where the names lead.
    if not right or len(others) < 2 or len({each.probe.addresses for each in others}) != 1:
        return None
    if others[0].shares_address(probed):
        return None
    leads = f"`{probed.host}` resolves here to {', '.join(probed.probe.addresses)}"
    there = f"the names of {nodes_of(others)} to {', '.join(others[0].probe.addresses)}"
    return f"correct the DNS record (or the hosts file): {leads}, and {there}"


def _own_listener(probed: ProbedEndpoint) -> tuple[str, ...]:
    """What to correct if a node advertises the endpoint itself, and clients dial it there."""
    assert probed.path is not None  # noqa: S101
    end = probed.path.broker.endpoint
    if port := other_port(probed.evidence, probed.path):
        others = f"the other nodes advertise port {port} for this listener"
        return (f"correct `advertised.listeners` of {probed.node}, which has {end}: {others}",)
    if len(probed.evidence.paths) == 1:
        return (f"correct `advertised.listeners` of {probed.node}, which has {end}, or the forward there",)
    compared = f"compare the listeners of {probed.node} with those of the other nodes"
    # A NAT or a proxy on the path is not seen from here.
    between = f"if a forward or a proxy is in between at {end}: correct its port, so that it leads to {probed.node}"
    return (f"{compared} (`listeners`, `advertised.listeners`): {end} must be the same listener", between)


def unless_it_works_elsewhere(probed: ProbedEndpoint, stage: Stage, remedy: Remedy) -> Remedy:
    """The given change of the client's settings, unless they work at other nodes or bootstrap servers."""
    if probed.others_past(stage):
        return mended_here(probed)
    if probed.path is None or not probed.bootstraps_past(stage):
        return remedy
    fix = f"keep `security.protocol: {probed.evidence.security_protocol}`, which the bootstrap servers accept"
    if probed.probe.tls is not None:
        fix += "; with rules, their certificate must contain the advertised names too"
    own = "advertise the endpoints of the proxy of the bootstrap servers, on a separate listener"
    return Remedy((*reached_listeners(probed.evidence), fix), (own,), proven_line(probed.evidence, probed.path))


def remedy_for(evidence: Evidence, path: BrokerPath) -> Remedy:
    """The remedy for an unreachable advertised endpoint, smallest change first; it names only probed endpoints.

    A listener that works from here needs no map, and proven rules no route. If other nodes are reached at their
    advertised endpoints, only the path to this one is faulty.
    """
    instead = reached_listeners(evidence)
    attempts = path.probe.attempts if path.probe is not None else ()
    for_clients = bool(instead) and reaches_clients_listener(evidence)
    # A map that lacks the rule of a node is to be completed, and the brokers' own listener may be closed to clients.
    if evidence.rules or not for_clients:
        rules = proven_line(evidence, path)
    else:
        rules = known_line(evidence, path) if _all_lines_known(evidence) else ()
    if any_reached_directly(evidence):
        unmapped = unmapped_advice(evidence, rules)
        if path.probe is not None and path.probe.dns_error:
            if odd := odd_host(evidence, path):
                return Remedy((*instead, *unmapped), (odd,), rules)
            # The other names of this listener work.
            inside = known_kind(path.broker.host)
            if inside and [known_kind(each.broker.host) for each in evidence.paths].count(inside) == 1:
                odd = f"node {path.broker.node_id} alone advertises such a name: {inside[1]}"
                return Remedy((*instead, *unmapped), (odd,), rules)
            # Only the record is missing.
            client = (f"add `{path.broker.host}` to {_place_of_names(evidence)}", *unmapped, *instead)
            right = f"check that node {path.broker.node_id} advertises the right name{_near_name(evidence, path)}"
            return Remedy(client, (right,), rules)
        if record := stale_record(evidence, path):
            return Remedy((record, *unmapped), (), rules)
        if there := moved(evidence, path) or odd_host(evidence, path):
            opened = f"if {path.broker.endpoint} is right, open it for this machine"
            return Remedy((*unmapped, *instead), (there, opened), rules)
        routes, restart = route_advice(evidence, attempts), restart_advice(evidence, path)
        if one_place := _forward_beside_others(evidence, path):
            at_own, forward = is_loopback(path.broker.host), (one_place,)
            client = (*(forward if at_own else ()), *instead, *restart)
            return Remedy(client, () if at_own else forward, known_line(evidence, path))
        return Remedy((*instead, *routes, *restart, *unmapped), _node_advice(evidence, path), rules)
    another = "add a listener that advertises an endpoint that is reachable from here"
    kind, broker = known_kind(path.broker.host) or ("", another)
    routes = route_advice(evidence, attempts, this_machine_only=bool(known_line(evidence, path)))
    forwards = (kind,) if kind else (*forward_advice(evidence), *discover_advice(rules))
    tested, turns = advice_to_test(evidence, rules), balancer_advice(evidence, rules)
    unknown = path.probe is not None and path.probe.dns_error and not kind
    named = (f"or add the advertised names to {_place_of_names(evidence)}",) if instead and unknown else ()
    client = (*named, *routes, *forwards, *tested, *turns, *dropped_advice(attempts))
    client = (*instead, *client) if for_clients else (*client, *instead)
    own = port_of_another(evidence, path)
    if not own and (ports := shifted_port(evidence)):
        own = (f"`advertised.listeners` has port {ports[0]}, and these brokers answer at {ports[1]}: correct it",)
    return Remedy(client, (*own, *(() if for_clients else (broker,))), rules)


def _forward_beside_others(evidence: Evidence, path: BrokerPath) -> str | None:
    """What to add if other nodes are reached at this address by their ports: then it is a gateway, or a machine with
    several brokers, and only this node's port is wrong.
    """
    place = nodes_by_id(evidence).get(path.broker.node_id)
    others = listed(place.reached_beside) if place is not None else ""
    if not others:
        return None
    node_id, end = path.broker.node_id, path.broker.endpoint
    if is_loopback(path.broker.host):
        return f"start the tunnel, the forward or the broker at {end} of this machine: {others} answer at other ports"
    runs = runs_by_replicas(evidence, node_id)
    known = f", and node {node_id} runs (it is an in-sync replica)" if runs else ""
    forward = f"the forward of port {path.broker.port} to node {node_id} there, or its listener if it is there"
    advice = f"{path.broker.host} leads to {others} at other ports{known}: add or correct {forward}"
    unknown = [] if runs else ["that the node runs"]
    if path.probe is not None and dropped(path.probe.attempts):
        unknown.append("that no firewall drops this port alone")
    return f"{advice}, and check {', and '.join(unknown)}" if unknown else advice


def port_of_another(evidence: Evidence, path: BrokerPath) -> tuple[str, ...]:
    """What to correct if the listener of the bootstrap servers advertises the port of another listener."""
    answers = path.probe is not None and path.probe.speaks in ("kafka", "tls")
    for own, other, same_host in _at_ports_of_others(evidence) if path.rule is None else ():
        # A port of another host is not the one of the other listener.
        if own.port == path.broker.port and (answers or same_host):
            return (f"`advertised.listeners` gives listener {own.name} the port of listener {other.name}: correct it",)
    return ()


@once
def _at_ports_of_others(evidence: Evidence) -> list[tuple[Listener, Listener, bool]]:
    """The listeners of the bootstrap servers that advertise the port of another listener, with that one, and whether
    both advertise the same host.
    """
    found = []
    for probe in evidence.bootstraps:
        told, node = {each.endpoint for each in probe.brokers or ()}, node_listeners(probe)
        hosts = {each.name: each.host for each in node.advertised}
        for own in node.advertised:
            others = node.at_port_of(own) if own.endpoint in told else []
            found += [(own, other, hosts.get(other.name) == own.host) for other in others[:1]]
    return found


@once
def _all_lines_known(evidence: Evidence) -> bool:
    """Whether the evidence proves a rule for every node that accepts no connection at its advertised endpoint."""
    lost = [each for each in evidence.paths if each.rule is None and each.probe is not None and unreachable(each.probe)]
    return all(known_line(evidence, each) for each in lost)


@once
def _place_of_names(evidence: Evidence) -> str:
    """Where to add a name that does not resolve: the hosts file if it has the names of all nodes that are reached."""
    reached = [each.probe for each in evidence.paths if each.answers and each.rule is None and each.probe is not None]
    lines = [each.hosts_entry for each in reached]
    if lines and all(lines):
        return f"/etc/hosts, which has the line `{lines[0]}`"
    return "the name server or to the hosts file of this machine"


def _near_name(evidence: Evidence, path: BrokerPath) -> str:
    """A name of the node on another listener, of which the advertised one may be a typo."""
    others = {
        host: each.name
        for each in evidence.listeners
        if each.node_id == path.broker.node_id and (host := each.endpoint.rpartition(":")[0]) != path.broker.host
    }
    # So much of two names must be equal that one may be a typo of the other.
    alike = get_close_matches(path.broker.host, others, n=1, cutoff=0.85)
    return f": its listener {others[alike[0]]} advertises `{alike[0]}`" if alike else ""


def _node_advice(evidence: Evidence, path: BrokerPath) -> tuple[str, ...]:
    """The brokers' side for a node that accepts no connection, if other nodes do. Without a route it is not known
    whether the node runs.
    """
    attempts = path.probe.attempts if path.probe is not None else ()
    if path.probe is not None and path.probe.connected:
        return ()
    if attempts and all(each.outcome == "unreachable" for each in attempts):
        return host_advice(attempts)
    if apart := _lost_networks(evidence).get(_network_of(path)):
        return (apart,)
    # Above this number, one line for each node does not help.
    if _lost(evidence) > _FEW:
        return ("check that these nodes run, and that a listener or a forward is at each advertised endpoint",)
    node_id, end = path.broker.node_id, path.broker.endpoint
    runs = f"check that node {node_id} runs, and that a listener or a forward is at {end}"
    if runs_by_replicas(evidence, node_id):
        runs = f"node {node_id} is an in-sync replica, so it runs unless it has just stopped: check that a listener is "
        runs += f"bound to {end}, or a forward is there, and that no firewall rejects it"
    if port := other_port(evidence, path):
        typo = f"`advertised.listeners` of node {node_id} has port {path.broker.port}, and the other nodes have {port}"
        return (f"{typo} for this listener: correct it if it is a typo", runs)
    others = [each.broker.host for each in evidence.paths if each.answers and each.rule is None]
    if address(path.broker.host) and all(address(each) and not neighbours(each, path.broker.host) for each in others):
        own = f"`advertised.listeners` of node {node_id} has {path.broker.host}, an address of another network"
        return (f"{own} than those of the other nodes: correct it if it is wrong", runs)
    return (runs,)


@once
def _lost_networks(evidence: Evidence) -> dict[object, str]:
    """What the nodes of a network have in common if all are lost and nodes of other networks are reached."""
    networks: dict[object, list[DialledNode]] = {}
    for each in dialled_nodes(evidence):
        if each.path.rule is None and address(each.path.broker.host) is not None:
            networks.setdefault(_network_of(each.path), []).append(each)
    lost = {key: nodes for key, nodes in networks.items() if not any(each.probe.connected for each in nodes)}
    # One node alone may be off.
    several = {key: nodes for key, nodes in lost.items() if len(nodes) > 1}
    return {key: _of_lost_network(evidence, key, nodes) for key, nodes in several.items() if len(lost) < len(networks)}


def _of_lost_network(evidence: Evidence, key: object, nodes: Sequence[DialledNode]) -> str:
    lost = f"{listed([each.node for each in nodes])} are all the nodes of {key}"
    ask = "have it opened for this machine, or check that the nodes listen at these addresses"
    if all(runs_by_replicas(evidence, each.path.broker.node_id) for each in nodes):
        stops = "a firewall or a gateway in front of that network stops the connections"
        return f"{lost} and run (they are in-sync replicas): {stops}; {ask}"
    return f"{lost}: check that they run, and what is in front of that network; {ask}"


def _network_of(path: BrokerPath) -> object:
    return network(path.broker.host, small=True) if address(path.broker.host) is not None else None


def runs_by_replicas(evidence: Evidence, node_id: int) -> bool:
    """Whether a node is an in-sync replica. Without most nodes there may be no controller, and the list is outdated."""
    return node_id in evidence.in_sync and 2 * _lost(evidence) < len(evidence.paths)


@once
def _lost(evidence: Evidence) -> int:
    """The number of nodes that accept no connection."""
    return sum(unreachable(each.probe) is not None for each in dialled_nodes(evidence))


def other_port(evidence: Evidence, path: BrokerPath) -> int | None:
    """The port that all other nodes advertise for this listener, None if they differ or it is that of this node."""
    others = [each.broker for each in evidence.paths if each.broker.node_id != path.broker.node_id]
    ports = {each.port for each in others}
    alone = len(others) > 1 and len(ports) == 1 and path.broker.port not in ports
    return ports.pop() if alone else None


def record_remedy(probed: ProbedEndpoint) -> Remedy:
    """What to change if the advertised name of a node has a wrong address on this machine; nothing if that is known."""
    path, line, places = probed.path, probed.probe.hosts_entry, ", ".join(probed.probe.addresses)
    if path is None or path.rule or address(probed.host) is not None or is_loopback(probed.host):
        return Remedy()
    # The address is right: other nodes are there.
    if probed.reached_beside:
        return Remedy()
    if line is not None:
        return Remedy((f"if {probed.node} is not at {places}, correct the line `{line}` of /etc/hosts",))
    if stale_record(probed.evidence, path):
        return Remedy()
    leads = f"`{probed.host}` resolves here to {places}"
    return Remedy(broker=(f"{leads}: if {probed.node} is not at that address, correct the DNS record",))


def restart_advice(evidence: Evidence, path: BrokerPath) -> tuple[str, ...]:
    """Advice for the only node that fails, if it refuses connections as during a restart."""
    attempts = path.probe.attempts if path.probe is not None else ()
    refused = bool(attempts) and all(each.outcome == "refused" and not each.icmp for each in attempts)
    if not refused or is_loopback(path.broker.host) or failing(evidence) - {node(path)}:
        return ()
    return (f"if node {path.broker.node_id} is just restarting, run the doctor again",)
