"""Checks of TCP connections: endpoints that accept none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from brokernat.address.endpoint import is_wildcard
from brokernat.doctor.checks.advice import host_advice, route_advice
from brokernat.doctor.checks.failures import once
from brokernat.doctor.checks.places import (
    DialledNode,
    ProbedEndpoint,
    bootstrap_servers,
    dialled_nodes,
    every_probe,
    node,
    place_of,
    unreachable,
)
from brokernat.doctor.checks.proven_rules import (
    advice_to_test,
    any_reached_directly,
    corrected,
    derived_line,
    discover_advice,
    proven_line,
    shifted_port,
)
from brokernat.doctor.checks.registry import Need, check, error, finding, info, warning
from brokernat.doctor.checks.remedies import record_remedy, remedy_for, restart_advice
from brokernat.doctor.evidence import EndpointProbe, Evidence
from brokernat.doctor.finding import CheckFinding, Remedy
from brokernat.doctor.host_kinds import is_loopback, neighbours
from brokernat.text import listed


@check("BN101")
def doubtful_bootstrap(evidence: Evidence) -> Iterator[CheckFinding]:
    """A bootstrap server is given twice.

    Cause: {subjects} is given more than once.
    What: the list of bootstrap servers holds one endpoint more than once.
    Why: usually one of them was meant to be another broker, so the client has fewer bootstrap servers than it seems.
    Remedy: write each endpoint once.
    """
    # A gateway may choose the broker by the name in TLS (SNI).
    given = [(probe.endpoint, probe.name if probe.tls is not None else "") for probe in evidence.bootstraps]
    for (endpoint, _), times in Counter(given).items():
        if times > 1:
            message = f"the endpoint is given {times} times"
            yield warning(f"bootstrap {endpoint}", message, client="write each bootstrap server once")


@check("BN103")
def bootstrap_unreachable(evidence: Evidence) -> Iterator[CheckFinding]:
    """A bootstrap server accepts no connection.

    Cause: {subjects} cannot be reached from here{reason}.
    What: no address of a bootstrap server accepts a TCP connection. Refused: the host is up and nothing listens at the
    port. No answer: a firewall drops the packets, or the host does not exist. No route: this machine has no route to
    the host.
    Why: the port is wrong, the broker or gateway is down, or a firewall blocks it. If another server answers, even if
    it only rejects the login, clients use that one, so the finding is a warning.
    Remedy: correct the endpoint, start the broker or gateway, or have the port opened.
    """
    for probed in bootstrap_servers(evidence):
        reason = unreachable(probed.probe)
        if reason and not probed.probe.dns_error:
            yield finding(probed.severity, probed, reason, remedy=_remedy_of_server(probed))


def _remedy_of_server(probed: ProbedEndpoint) -> Remedy:
    """The remedy for a bootstrap server that accepts no connection."""
    remove = (REMOVE,) if probed.removable else ()
    if routes := route_advice(probed.evidence, probed.probe.attempts):
        return Remedy((*routes, *remove), host_advice(probed.probe.attempts))
    if _nothing_listens(probed.probe):
        start = f"nothing listens at {probed.probe.endpoint} of this machine: start the broker, tunnel or forward there"
        return Remedy((start, "if another one is meant, correct the endpoint in `bootstrap_servers`", *remove))
    if is_wildcard(probed.host):
        return Remedy((f"write the broker's host in `bootstrap_servers`: servers bind {probed.host}, nobody dials it",))
    opened = "correct the endpoint in `bootstrap_servers`, or open the port for this machine"
    return Remedy((opened, *remove), ("check that the broker or the gateway runs and listens at this port",))


def _nothing_listens(probe: EndpointProbe) -> bool:
    """Whether nothing listens at a port of this machine."""
    return bool(probe.attempts) and all(
        is_loopback(each.address) and each.outcome == "refused" and not each.icmp for each in probe.attempts
    )


# With one rule, a wrong port explains as much.
_SEVERAL = 2
REMOVE = "if no broker is there any more, remove it from `bootstrap_servers`: clients work without it"
"""Advice on one of several bootstrap servers."""


@check("BN302", Need.METADATA, explains=("BN103", "BN104", "BN202", "BN203"))
def advertised_unreachable(evidence: Evidence) -> Iterator[CheckFinding]:
    """An advertised endpoint accepts no connection.

    Cause: Bootstrapping works, but the brokers advertise endpoints that cannot be reached from here: {subjects}.
    What: metadata names an endpoint that accepts no TCP connection from here, or at which another machine answers, and
    no rule translates it.
    Why: the broker advertises an internal address (NAT, gateway, container, `localhost`). Clients bootstrap, then log
    `Connection to node 2 could not be established. Broker may not be available.`
    Remedy: add a rule to the address map; or add a listener that advertises an endpoint reachable from here.
    """
    for probed in dialled_nodes(evidence):
        path, reason = probed.path, unreachable(probed.probe) or _of_another_machine(probed)
        if path.rule is None and reason and not probed.probe.dns_error:
            seen = ("no rule of the address map matches it (`unmapped: pass`)",) if evidence.rules else ()
            remedy, of_name = remedy_for(evidence, path), remedy_of_name(probed)
            if _is_of_this_machine(probed.probe) or probed.at_own_name:
                reason = f"{reason}, and is {'the name' if probed.at_own_name else 'an address'} of this machine"
                named = f"correct `advertised.listeners` of {probed.node}: it names this machine"
                remedy = Remedy(broker=(f"{named}; if {probed.node} runs here, start it",), rules=remedy.rules)
                of_name = Remedy()
            client, broker = (*of_name.client, *remedy.client), (*remedy.broker, *of_name.broker)
            yield error(probed, reason, seen, remedy=replace(remedy, client=client, broker=broker))


def _is_of_this_machine(probe: EndpointProbe) -> bool:
    """Whether this machine itself refused, at an address that others can dial."""
    attempts = probe.attempts
    return bool(attempts) and all(each.at_own_address and not is_loopback(each.address) for each in attempts)


def _of_another_machine(probed: DialledNode) -> str | None:
    """What answers at an address that is another machine's here: the node is proven elsewhere, or other nodes of its
    network accept no connection; and no node is reached at its advertised endpoint.
    """
    protocol = probed.probe.protocol
    if protocol in ("", "TLS") or any_reached_directly(probed.evidence) or is_loopback(probed.host):
        return None
    lost = (each for each in dialled_nodes(probed.evidence) if unreachable(each.probe))
    if not probed.proven_elsewhere and not any(neighbours(each.host, probed.host, small=True) for each in lost):
        return None
    return f"a machine that is no broker answers there ({protocol})"


def remedy_of_name(probed: ProbedEndpoint) -> Remedy:
    """What to change where an advertised name leads, if its addresses accept no connection at any port."""
    if shifted_port(probed.evidence):
        return Remedy()
    remedy = record_remedy(probed)
    if remedy.client and _nothing_listens(probed.probe):
        start = f"nothing listens at {probed.probe.endpoint} of this machine: start the tunnel or the forward there"
        return replace(remedy, client=(start, *remedy.client))
    if remedy.broker and all(each.without_ipv6 for each in probed.probe.attempts):
        return Remedy(broker=("for clients without IPv6, give the advertised names IPv4 addresses too (A records)",))
    return remedy


@check("BN304", Need.METADATA, Need.MAP)
def reached_by_map(evidence: Evidence) -> Iterator[CheckFinding]:
    """A node is reached only because of the map.

    Cause: {subjects} are reached only through the address map.
    What: the advertised endpoint accepts no connection from here, and the rule's target does.
    Why: this is the purpose of the map. A client without the map fails.
    Remedy: none is needed; every client of this cluster needs the map.
    """
    for path in evidence.paths:
        failure = place_of(path, evidence).failure
        if failure is not None and failure.stage in ("identity", "cluster", "metadata") and not failure.doubt:
            # Another node, cluster or listener answers.
            continue
        if path.rule and path.direct and path.probe and path.probe.answers and unreachable(path.direct):
            seen = (f"advertised: {unreachable(path.direct)}", f"rule: {path.rule}")
            yield info(node(path), "reached through the address map only", seen)


@check("BN305", Need.METADATA, Need.MAP, explains=("BN102", "BN103"))
def unreachable_with_map(evidence: Evidence) -> Iterator[CheckFinding]:
    """A node is not reached even with the map.

    Cause: The address map leads to endpoints that cannot be reached: {subjects}.
    What: a rule matches the advertised endpoint, and its target does not resolve or accepts no connection.
    Why: the rule has a wrong host or port, the gateway has no forward, or the broker is down.
    Remedy: correct the rule, or the forward.
    """
    for probed in dialled_nodes(evidence):
        path, reason = probed.path, unreachable(probed.probe)
        if path.rule and reason:
            right = derived_line(evidence, path)
            if _nothing_listens(probed.probe):
                message = f"the rule leads to {probed.probe.endpoint}, and nothing listens at that port of this machine"
                remedy = Remedy(tuple(_start_it(probed)), rules=right)
                yield error(probed, message, (f"rule: {path.rule}", reason), remedy=remedy)
                continue
            message, rules = f"the rule leads to {probed.probe.endpoint}: {reason}", proven_line(evidence, path)
            if kept := _keeps_port(probed):
                remedy = Remedy((kept, *discover_advice(rules)), rules=rules)
                yield error(probed, message, (f"rule: {path.rule}",), remedy=remedy)
                continue
            fix = [corrected(path, right)]
            if not right and _gateway_answers(probed):
                fix = [f"compare the port in the rule `{path.rule}` with the gateway's forward to {probed.node}"]
            seen = [f"rule: {path.rule}"]
            if path.direct is not None and path.direct.connected and not is_loopback(path.broker.host):
                seen.append(f"{path.broker.endpoint} accepts connections from here")
                fix.append(f"if {probed.node} answers at {path.broker.endpoint}, it needs no rule")
            forward = "check that the forward to this node exists and that the node runs"
            routes, restart = route_advice(evidence, probed.probe.attempts), restart_advice(evidence, path)
            tested = advice_to_test(evidence, right)
            # Beside rules that work, this rule is more likely wrong than a route is missing.
            first = (*fix, *routes) if _some_rule_works(evidence) else (*_left_gateway(evidence), *routes, *fix)
            remedy = Remedy((*first, *restart, *tested), () if right else (forward,), right)
            yield error(probed, message, seen, remedy=remedy)


@once
def _some_rule_works(evidence: Evidence) -> bool:
    """Whether a node works for clients at the target of its rule."""
    return any(each.path.rule and each.failure is None for each in dialled_nodes(evidence))


@once
def _left_gateway(evidence: Evidence) -> tuple[str, ...]:
    """The host of all rules if nothing of it answers, and where a bootstrap server does: the gateway may have moved."""
    ruled = [each for each in dialled_nodes(evidence) if each.path.rule]
    hosts = {each.host for each in ruled}
    alive = [each for each in bootstrap_servers(evidence) if each.probe.answers and each.host not in hosts]
    if len(ruled) < _SEVERAL or len(hosts) != 1 or not alive or not all(unreachable(each.probe) for each in ruled):
        return ()
    moved_to = f"the bootstrap server {alive[0].probe.endpoint} answers"
    return (f"all rules lead to {hosts.pop()}, where nothing answers, and {moved_to}: change the host in the rules",)


def _keeps_port(probed: DialledNode) -> str | None:
    """What to change if a rule without a port leads to a host whose other ports lead to nodes."""
    path, port = probed.path, probed.probe.port
    if path.rule is None or path.rule.rpartition(":")[2].isdigit():
        return None
    others = [each for each in every_probe(probed.evidence) if each.answers and each.port != port]
    ports = [str(each.port) for each in others if not set(each.addresses).isdisjoint(probed.probe.addresses)]
    if not ports:
        return None
    keeps = f"rules without a port keep port {port}, and {probed.host} answers at {listed([*dict.fromkeys(ports)])}"
    return f"{keeps}: give each node a rule of its own with a port on both sides"


def _gateway_answers(probed: DialledNode) -> bool:
    """Whether other rules lead to the same address, and their nodes answer there."""
    ruled = (each for each in dialled_nodes(probed.evidence) if each.path.rule and each.failure is None)
    return any(each.shares_address(probed) for each in ruled)


def _start_it(probed: ProbedEndpoint) -> Iterator[str]:
    """Advice for rules that lead to ports of this machine where nothing listens."""
    ruled = [each.probe for each in dialled_nodes(probed.evidence) if each.path.rule]
    ends = [*dict.fromkeys(each.endpoint for each in ruled if _nothing_listens(each))]
    yield f"nothing listens at {listed(ends)} of this machine: start the tunnel or the forward there"
    if any(each.connected and all(map(is_loopback, each.addresses)) for each in ruled) and probed.path is not None:
        yield f"if it runs at another port, correct the rule `{probed.path.rule}`"
