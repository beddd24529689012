"""Checks of where packets stop: what rejects them, and what drops them while other endpoints beside it answer."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.checks.advice import moved, odd_host, reached_listeners, stale_record
from brokernat.doctor.checks.failures import once
from brokernat.doctor.checks.places import ProbedEndpoint, dialled_nodes, every_probe, probed_endpoints
from brokernat.doctor.checks.proven_rules import any_reached_directly, known_line
from brokernat.doctor.checks.reachability import REMOVE, remedy_of_name
from brokernat.doctor.checks.registry import check, finding
from brokernat.doctor.checks.remedies import other_port, port_of_another
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy
from brokernat.doctor.host_kinds import neighbours, network


@check("BN308", explains=("BN103", "BN302", "BN305", "BN202", "BN505"))
def firewall(evidence: Evidence) -> Iterator[CheckFinding]:
    """A firewall blocks an endpoint.

    Cause: A firewall blocks {subjects}{reason}.
    What: an ICMP message rejects the connection, not the port itself; or packets get no answer while other endpoints of
    the same host or network answer.
    Why: a firewall or a security group allows some brokers or ports and blocks this one. It may be the firewall of this
    machine itself, which then sends the ICMP message. If packets get no answer, the host may also be off.
    Remedy: have this endpoint opened for this machine, as the others are.
    """
    for probed in probed_endpoints(evidence):
        if probed.failure is None or probed.failure.stage != "connect":
            continue
        attempts = probed.probe.attempts
        rejected = [
            f"{each.address}: ICMP {each.icmp}, sent by {each.reported_by or 'a router'}"
            for each in attempts
            if each.rejected
        ]
        if rejected and len(rejected) == len(attempts):
            own = all(each.reported_here for each in attempts)
            message = "this machine's own firewall rejects the connection" if own else "it rejects the connection"
            remedy = _to_open_here(probed) if own else _to_open(probed)
            yield finding(probed.severity, probed, message, rejected, remedy=remedy)
        elif all(each.outcome == "timeout" for each in attempts) and not _may_be_wrong(probed):
            yield from _dropped(probed)


def _to_open(probed: ProbedEndpoint) -> Remedy:
    """The remedy for an endpoint that a firewall blocks."""
    end, path = probed.probe.endpoint, probed.path
    instead = reached_listeners(probed.evidence) if path is not None else ()
    opened = f"open {end} for this machine{_AS_OTHERS if _any_connected(probed.evidence) else ''}"
    first = (opened, *instead) if any_reached_directly(probed.evidence) else (*instead, opened)
    client = (*first, REMOVE) if probed.removable else first
    allow = f"allow {end} in the firewall"
    if path is None:
        return Remedy(client, (allow,))
    if path.rule:
        forward = "check the port of the rule, that the forward to this node exists, and that the node runs"
        return Remedy(client, (allow, forward))
    return Remedy(client, (*port_of_another(probed.evidence, path), allow), known_line(probed.evidence, path))


_AS_OTHERS = ", as the endpoints that answer are"


@once
def _any_connected(evidence: Evidence) -> bool:
    return any(each.connected for each in every_probe(evidence))


def _to_open_here(probed: ProbedEndpoint) -> Remedy:
    """The remedy for an endpoint that the firewall of this machine itself blocks: the brokers' side is not to blame."""
    opened = f"allow connections to {probed.probe.endpoint} in the firewall or the endpoint protection of this machine"
    instead = reached_listeners(probed.evidence) if probed.path is not None else ()
    return Remedy((opened, *instead))


def _may_be_wrong(probed: ProbedEndpoint) -> bool:
    """Whether the rule, the DNS record, the forward or what the node advertises is at least as likely as a firewall."""
    evidence, path = probed.evidence, probed.path
    if path is None:
        return False
    if not path.rule:
        # A gateway that leads to other nodes drops what it does not forward.
        at_gateway = bool(probed.reached_beside)
        return at_gateway or any(found(evidence, path) for found in (stale_record, moved, odd_host, other_port))
    gateways = [each.probe.addresses for each in dialled_nodes(evidence) if each.path.rule and each.probe.connected]
    # One gateway takes all the other rules.
    elsewhere = len(gateways) > 1 and len({*gateways}) == 1 and {*gateways[0]}.isdisjoint(probed.probe.addresses)
    return bool(known_line(evidence, path)) or not gateways or elsewhere


def _dropped(probed: ProbedEndpoint) -> Iterator[CheckFinding]:
    """The finding for an endpoint that sends no answer, if its host or its network answers elsewhere."""
    attempts = probed.probe.attempts
    own = {each.address for each in attempts}
    beside = _answering_beside(probed, own)
    on_host = [endpoint for endpoint, place in beside.items() if place in own]
    shown = ", ".join((on_host or [*beside])[:3])
    seen, remedy = [f"{each.address}: no answer" for each in attempts], _to_open(probed)
    if on_host:
        message = "packets get no answer, and other endpoints of its host answer"
        seen.append(f"answers on the same host: {shown}")
    elif beside and (silent := _silent_network(probed)):
        message = f"packets get no answer, nor do others into its network {silent}"
        get = f"`ip route get {attempts[0].address}`"
        way = f"check the route, VPN or link to {silent} ({get}), and the firewalls on the path"
        remedy = Remedy((way,)).and_also([remedy])
    elif beside and (elsewhere := probed.answering_listeners):
        message = f"packets get no answer, and the node answers at another listener ({elsewhere[0]})"
        way = f"check the routes between this machine and {', '.join(sorted(own))} in both directions"
        remedy = remedy.and_also([Remedy(broker=(way,)), remedy_of_name(probed)])
    elif beside and probed.path is not None and _one_host_each(probed.evidence):
        message = "packets get no answer, and targets of other rules answer: the gateway may have no entry for this one"
        seen.append(f"answers in the same network: {shown}")
        leads = f"from {probed.probe.endpoint} to {probed.node}"
        correct = f"add or correct the gateway's entry (NAT or forward) {leads}, and check that the node runs"
        entry = f"if the rule `{probed.path.rule}` is right: {correct}"
        broker = (entry, f"allow {probed.probe.endpoint} in the firewall")
        remedy = Remedy(reached_listeners(probed.evidence), broker, remedy.rules)
    elif beside:
        message = "packets get no answer, and other hosts of its network answer: its host may be off"
        seen.append(f"answers in the same network: {shown}")
        whose = "" if probed.path is None or probed.path.rule else f" and is still {probed.node}'s"
        host = f"check that the host {', '.join(sorted(own))} is up{whose}"
        remedy = Remedy(broker=(host,)).and_also([remedy, remedy_of_name(probed)])
    else:
        return
    yield finding(probed.severity, probed, message, seen, remedy=remedy, confidence=Confidence.LIKELY)


@once
def _one_host_each(evidence: Evidence) -> bool:
    """Whether rules lead all nodes to hosts of their own, as a one-to-one NAT does, and some of them work."""
    nodes = dialled_nodes(evidence)
    hosts = {each.host for each in nodes}
    ruled = all(each.path.rule for each in nodes)
    return ruled and len(hosts) == len(nodes) and any(each.failure is None for each in nodes)


def _silent_network(probed: ProbedEndpoint) -> str | None:
    """The small network of this endpoint, if several nodes are in it, and nothing in it answers."""
    own = probed.probe.attempts[0].address
    attempts = (each for probe in every_probe(probed.evidence) for each in probe.attempts)
    if any(each.answered and neighbours(each.address, own, small=True) for each in attempts):
        return None
    nodes = {
        each.node
        for each in dialled_nodes(probed.evidence)
        if any(neighbours(first, own, small=True) for first in each.probe.addresses[:1])
    }
    return str(network(own, small=True)) if len(nodes) > 1 else None


def _answering_beside(probed: ProbedEndpoint, own: set[str]) -> dict[str, str]:
    """The other endpoints that answer at these addresses or in their networks, each with its address."""
    # A gateway is often in the same large network as brokers that only their own network can reach.
    path = probed.path
    inside = path is not None and not path.rule and not any_reached_directly(probed.evidence)
    return {
        other.endpoint: each.address
        for other in every_probe(probed.evidence)
        for each in other.attempts
        if each.answered and other.endpoint != probed.probe.endpoint
        if any(neighbours(each.address, one, small=inside) for one in own)
    }
