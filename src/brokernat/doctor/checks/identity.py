"""Checks of the node that answers at an endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from brokernat.address.endpoint import bracketed
from brokernat.doctor.checks.advice import proven_end, stale_record
from brokernat.doctor.checks.failures import is_of_another_listener, path_failure, renumbered
from brokernat.doctor.checks.map import hidden_rules
from brokernat.doctor.checks.places import DialledNode, acl_line, bootstrap_servers, dialled_nodes, nodes_of
from brokernat.doctor.checks.proven_rules import proven_line, to_fill_in
from brokernat.doctor.checks.registry import Need, check, error, warning
from brokernat.doctor.checks.remedies import mended_here
from brokernat.doctor.evidence import BrokerPath, Evidence, Identity, ListenerSeen
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy
from brokernat.doctor.host_kinds import address, is_loopback
from brokernat.text import listed


@check("BN601", Need.METADATA, explains=("BN302", "BN305", "BN308", "BN603", "BN607", "BN611"))
def another_node(evidence: Evidence) -> Iterator[CheckFinding]:
    """Another node answers.

    Cause: The wrong node answers: {messages}.
    What: another node answers at the dialled endpoint than the one that metadata names.
    Why: two rules are exchanged, a forward leads to the wrong broker, or a hosts file gives several names one address.
    Clients loop on NOT_LEADER_OR_FOLLOWER; from 4.4 on they bootstrap again and again.
    Remedy: exchange the targets of two rules, or correct the forward or the hosts line that leads to the wrong broker.
    """
    if renumbered(evidence) is not None:
        return
    nodes = dialled_nodes(evidence)
    # BN607 reports rules that hide the right ones.
    hiding = hidden_rules(evidence).values()
    ends = {
        each.probe.identity.node_id: each.probe.endpoint
        for each in reversed(nodes)
        if each.probe.identity and each.probe.identity.alone
    }
    for probed in nodes:
        path, identity = probed.path, probed.probe.identity
        # If several nodes answer, BN602 reports it.
        if identity is None or identity.others or identity.node_id in (None, path.broker.node_id) or path in hiding:
            continue
        right = ends.get(path.broker.node_id)
        if path.rule is None:
            right = proven_end(evidence, path) or right
        lines = (f"{path.broker.endpoint} = {right}",) if right else proven_line(evidence, path)
        message = f"node {identity.node_id} answers at {probed.probe.endpoint}, {probed.node} is expected"
        seen = (f"method: {identity.method}", *((f"rule: {path.rule}",) if path.rule else ()))
        remedy, others = _corrected(probed, identity, lines), _under_one_rule(probed)
        if others:
            wrong = f"it leads {probed.node} to node {identity.node_id}, and {nodes_of(others)} to wrong endpoints too"
            remedy = Remedy((f"correct the rule `{path.rule}`: {wrong}",), rules=lines)
        # Clients look for the node that answers here at another endpoint, where nothing answers.
        missed = [each for each in nodes if each.path.broker.node_id == identity.node_id and _is_lost(each)]
        if missed and probed.probe.endpoint not in (each.broker.endpoint for each in evidence.paths):
            found = tuple(f"{each.path.broker.endpoint} = {probed.probe.endpoint}" for each in missed)
            remedy = replace(remedy, rules=tuple(dict.fromkeys((*remedy.rules, *found))))
        failures = [probed.failure, *(each.failure for each in (*others, *missed))]
        yield error(probed, message, seen, remedy=remedy, explains=failures, confidence=_sureness(identity))


def _is_lost(probed: DialledNode) -> bool:
    return probed.failure is not None and probed.failure.stage == "connect"


def _under_one_rule(probed: DialledNode) -> list[DialledNode]:
    """The other nodes of a rule that leads none of its nodes to the right one: the rule itself is wrong."""
    nodes = [each for each in dialled_nodes(probed.evidence) if each.path.rule and each.path.rule == probed.path.rule]
    one_end = len({each.probe.endpoint for each in nodes}) < len(nodes)
    if one_end or any(each.failure is None for each in nodes):
        return []
    return [each for each in nodes if each.node != probed.node]


def _corrected(probed: DialledNode, met: Identity, lines: tuple[str, ...]) -> Remedy:
    """What leads to the wrong node: a gateway that chooses by the TLS name, the rule, or a record or the forward."""
    if by_name := probed.chosen_by_name:
        return Remedy(broker=(by_name,))
    if probed.path.rule:
        return _corrected_rule(probed, met, probed.path.rule, lines)
    if record := stale_record(probed.evidence, probed.path):
        return Remedy((record,), rules=lines)
    if one := _one_place(probed, met):
        return Remedy(broker=(one,), rules=lines)
    if one := _all_lead_to_one(probed, met):
        return Remedy(broker=(one,))
    if record := _record_of_another(probed, met):
        old = f"if `{probed.host}` is an old name, correct `advertised.listeners` of {probed.node}"
        return Remedy((record,), (old,), lines)
    own = f"check `advertised.listeners` of {probed.node}: it must name its own endpoint"
    forward = f"correct the forward at {probed.probe.endpoint}: it leads to node {met.node_id}"
    if probed.is_behind_gateway:
        return Remedy(broker=(forward, own), rules=lines)
    return Remedy(broker=(own, f"if a gateway is in between, {forward}"), rules=lines)


def _corrected_rule(probed: DialledNode, met: Identity, rule: str, lines: tuple[str, ...]) -> Remedy:
    """Correct the rule if no forward could be right, otherwise the forward."""
    end = probed.probe.endpoint
    sharing = [path for path in probed.evidence.paths if path.probe is not None and path.probe.endpoint == end]
    advertised = end in {path.broker.endpoint for path in probed.evidence.paths}
    if len(sharing) == 1 and not advertised:
        if is_loopback(probed.host) and all(map(to_fill_in, lines)):
            far = (
                f"{end} of this machine leads to node {met.node_id}: correct the target of the forward or tunnel there"
            )
            return Remedy((far,))
        named = f", or the DNS record of `{probed.host}`" if address(probed.host) is None else ""
        return Remedy(broker=(f"correct the forward to this node{named}",), rules=lines)
    if len(sharing) > 1 and {path.rule for path in sharing} == {rule}:
        fix = f"`{rule}` leads {len(sharing)} nodes to one endpoint: write one rule for each node instead"
        # The node that answers there needs its rule, too.
        right = [f"{path.broker.endpoint} = {end}" for path in sharing if path.broker.node_id == met.node_id]
        return Remedy((fix,), ("give each node a forward of its own at the gateway",), (*right, *lines))
    why = "it leads to an advertised endpoint"
    if not advertised:
        others = ", ".join(f"node {each.broker.node_id}" for each in sharing if each is not probed.path)
        why = f"{end} is the target of the rule for {others} too, and each node needs an endpoint of its own"
    return Remedy((f"correct the rule `{rule}`: {why}",), rules=lines)


def _one_place(probed: DialledNode, met: Identity) -> str | None:
    """What to change if the names of several nodes have one address, whose port leads to one node."""
    place, alike = probed.probe.addresses, _dialled_alike(probed)
    # At this machine's own address, tunnels and port-forwards listen.
    few = len({each.host for each in alike}) < _FEWEST and not all(map(is_loopback, place))
    if few or len(place) != 1 or probed.probe.tls is not None:
        return None
    leads = f"the names of {nodes_of(alike)} all resolve to {place[0]}, and port {probed.probe.port} there leads to"
    return f"{leads} node {met.node_id}: each node needs an address or a port of its own, which it advertises"


def _all_lead_to_one(probed: DialledNode, met: Identity) -> str | None:
    """What to change if one node answers for all."""
    nodes = dialled_nodes(probed.evidence)
    if len(nodes) < _FEWEST or any(each.probe.node_id != met.node_id for each in nodes):
        return None
    leads = f"every advertised endpoint leads to node {met.node_id}: the gateway or balancer there must forward each"
    return f"{leads} to its own broker (no shared backend, no affinity by the client's address)"


def _record_of_another(probed: DialledNode, met: Identity) -> str | None:
    """How to correct the DNS record of a node whose name leads to another one, which is proven there."""
    place = probed.probe.addresses
    there = any(
        each.path.broker.node_id == met.node_id and each.failure is None and each.host != probed.host
        for each in _dialled_alike(probed)
    )
    if not there or len(place) != 1 or address(probed.host) is not None:
        return None
    leads = f"`{probed.host}` resolves here to {place[0]}, the address of node {met.node_id}"
    line = probed.probe.hosts_entry
    return f"correct the {f'line `{line}` of /etc/hosts' if line else 'DNS record (or the hosts file)'}: {leads}"


def _dialled_alike(probed: DialledNode) -> list[DialledNode]:
    """The nodes, this one too, that clients dial without a rule at this node's addresses and port."""
    return [each for each in probed.at_same_address if each.path.rule is None]


def _sureness(met: Identity) -> Confidence:
    return Confidence.PROVEN if met.confidence == "proven" else Confidence.LIKELY


_FEWEST = 3
"""Two names with one address may be a single wrong record."""


@check("BN602", Need.METADATA, explains=("BN611",))
def balancer(evidence: Evidence) -> Iterator[CheckFinding]:
    """Several nodes answer behind one endpoint.

    Cause: A load balancer, or a name with several addresses, is in front of {subjects}: {messages}.
    What: connections to one endpoint reached different nodes.
    Why: the endpoint of one broker is a load balancer or a name with several addresses. This is correct for a bootstrap
    server and wrong for a node.
    Remedy: give each broker its own endpoint.
    """
    for probed in dialled_nodes(evidence):
        identity = probed.probe.identity
        if identity is None or not identity.others:
            continue
        met = ", ".join(map(str, (identity.node_id, *identity.others)))
        seen, rules = _leads(probed, identity)
        broker = ["forward each port to one broker"]
        if seen:
            # A name in a rule may be meant for something else.
            own = f"give `{probed.host}` one address in DNS: the address of {probed.node}"
            broker = [*_wrong_forwards(probed, identity)] or ([] if probed.path.rule else [own])
        message = f"different nodes answer at {probed.probe.endpoint}: {met}"
        client, sure = "give each node its own endpoint in the map", _sureness(identity)
        yield error(probed, message, seen, client=client, broker=broker, rules=rules, confidence=sure)


def _wrong_forwards(probed: DialledNode, identity: Identity) -> Iterator[str]:
    """What to correct at some addresses of a name, if its other ports lead to their nodes at all of them."""
    nodes = dialled_nodes(probed.evidence)
    right = [each for each in nodes if each.host == probed.host and each.failure is None]
    for place, node_id in dict.fromkeys(identity.met):
        if right and node_id not in (None, probed.path.broker.node_id):
            others = f"and those of {nodes_of(right)} are right at all addresses"
            end = f"{bracketed(place)}:{probed.probe.port}"
            yield f"correct the forward at {end}: it leads to node {node_id}, {others}"


def _leads(probed: DialledNode, identity: Identity) -> tuple[list[str], tuple[str, ...]]:
    """The nodes at each address of a name, empty if there is one address; and the rule to the right address."""
    if not probed.probe.addresses[1:]:
        return [], ()
    leads = dict.fromkeys(f"{address}: node {node_id} answers" for address, node_id in identity.met)
    right = {address for address, node_id in identity.met if node_id == probed.path.broker.node_id}
    rules = tuple(f"{probed.path.broker.endpoint} = {bracketed(address)}:{probed.probe.port}" for address in right)
    seen = list(leads) or [f"its addresses: {', '.join(probed.probe.addresses)}"]
    return seen, rules if probed.path.rule and len(rules) == 1 else ()


@check("BN603", Need.METADATA, explains=("BN201", "BN202", "BN203", "BN205", "BN301", "BN302", "BN308", "BN605"))
def another_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """The right node, on another listener.

    Cause: The endpoint of {subjects} leads to another listener than it should{reason}.
    What: the dialled endpoint of a node advertises other endpoints than the bootstrap servers that name the node; or a
    bootstrap server has the endpoint that one listener advertises, and another listener answers there.
    Why: a rule, a forward or a published port leads to the right broker, but to the port of another listener. A client
    that reads metadata there switches to the other endpoints.
    Remedy: use the port of the same listener.
    """
    yield from _servers_on_another_listener(evidence)
    for probed in dialled_nodes(evidence):
        if not is_of_another_listener(probed.failure):
            continue
        brokers = ", ".join(map(str, probed.probe.brokers or ()))
        rule = f"correct the rule `{probed.path.rule}`: it must lead to the listener of the bootstrap servers"
        mended = mended_here(probed)
        remedy = Remedy((rule,), mended.broker) if probed.path.rule else mended
        told = {each.endpoint for each in probed.probe.brokers or ()}
        names = sorted({each.name for each in evidence.listeners if each.endpoint in told})
        which = f", those of listener {' and '.join(names)}" if names else ""
        message = f"{probed.probe.endpoint} advertises another set of brokers{which}"
        # As a bootstrap server it sends clients to endpoints that no other server names.
        astray = [path_failure(path, evidence) for path in _only_named_by(evidence, probed.probe.endpoint)]
        yield error(probed, message, (f"it advertises: {brokers}",), remedy=remedy, explains=[probed.failure, *astray])


def _servers_on_another_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """Bootstrap servers at which another listener answers than the one that advertises their endpoint."""
    meant: dict[str, ListenerSeen] = {}
    answers: dict[str, set[str]] = {}
    for end in (probe.endpoint for probe in evidence.bootstraps):
        answers[end] = {each.name for each in evidence.listeners if end in each.entered}
        others = [each for each in evidence.listeners if each.endpoint == end and each.name not in answers[end]]
        if answers[end] and others:
            meant[end] = others[0]
    if not meant:
        return
    right = {each for probe in evidence.bootstraps if probe.endpoint not in meant for each in probe.brokers or ()}
    astray = [path_failure(path, evidence) for path in evidence.paths if path.broker not in right]
    for server in bootstrap_servers(evidence) if any(astray) else ():
        if (end := server.probe.endpoint) in meant:
            listener = f"listener {meant[end].name} of node {meant[end].node_id}"
            names = " and ".join(sorted(answers[end]))
            message = f"{end} is advertised by {listener}, and listener {names} answers there"
            fix = f"correct the forward or the published port at {end}: it must lead to {listener}"
            yield error(server, message, broker=fix, explains=astray)


def _only_named_by(evidence: Evidence, endpoint: str) -> list[BrokerPath]:
    """The paths to brokers that only this bootstrap server names."""
    others = {each for probe in evidence.bootstraps if probe.endpoint != endpoint for each in probe.brokers or ()}
    named = {each for probe in evidence.bootstraps if probe.endpoint == endpoint for each in probe.brokers or ()}
    return [path for path in evidence.paths if path.broker in named - others]


@check("BN604", Need.METADATA, Need.MAP)
def not_provable(evidence: Evidence) -> Iterator[CheckFinding]:
    """Which node answers cannot be proven.

    Cause: The node id could not be proven at {subjects}.
    What: the node is reached through a rule, and no method proved its node id.
    Why: brokers before 4.4 report their node id only to users that may read their settings. This user sees no topic
    that the node leads (ListOffsets), and no certificate names only this node.
    Remedy: grant DESCRIBE_CONFIGS on the cluster; only this check needs it.
    """
    for probed in dialled_nodes(evidence):
        identity = probed.probe.identity
        if not probed.path.rule or identity is None or identity.node_id is not None:
            continue
        if not probed.probe.complete:
            # Further connections may have proven it.
            message = "a broker answers, but the time ran out before its node id was proven"
            yield warning(probed, message, client="give the doctor more time: `--timeout SECONDS`")
            continue
        right = acl_line(evidence, "--operation DescribeConfigs --cluster")
        message = "a broker answers, but its node id cannot be proven"
        seen = (f"the request for its settings failed: {identity.detail.upper()}",) if identity.detail else ()
        yield warning(probed, message, seen, broker=f"allow this user to read the brokers' settings: {right}")


_CHECKS_IDENTITY = 5


@check("BN611", Need.METADATA)
def identity_refused(evidence: Evidence) -> Iterator[CheckFinding]:
    """Clients from 4.4 on are rejected.

    Cause: The brokers behind {subjects} reject clients from 4.4 on, which send the node id that they expect.
    What: another node answers at this node's endpoint, and it is a broker of 4.4 or later, which rejects clients that
    name another node or cluster (KIP-1242).
    Why: clients from 4.4 on send node and cluster id by default. They log `Rebootstrap requested by server due to
    cluster metadata mismatch` and bootstrap again and again; older clients loop on NOT_LEADER_OR_FOLLOWER.
    Remedy: see BN601 or BN612; `metadata.cluster.check.enable=false` in the client hides the fault.
    """
    for probed in dialled_nodes(evidence):
        path, identity = probed.path, probed.probe.identity
        asked = probed.probe.cluster_id and probed.probe.newest("ApiVersions") >= _CHECKS_IDENTITY
        if identity is None or identity.node_id is None or not asked:
            continue
        # The broker rejected every advertised id if another method had to prove the node.
        if identity.node_id != path.broker.node_id or identity.method != "apiversions":
            own = "" if identity.node_id == path.broker.node_id else f" (node {identity.node_id})"
            message = f"the broker at {probed.probe.endpoint}{own} rejects clients of 4.4 and later"
            fix = "correct the rule or the forward: this broker rejects every client from 4.4 on"
            yield error(probed, message, client=fix)


@check("BN612", Need.METADATA)
def nodes_renumbered(evidence: Evidence) -> Iterator[CheckFinding]:
    """A proxy renumbers the nodes.

    Cause: A proxy in front of {subjects} changes the node ids.
    What: every proven node id differs from the advertised one, and some are advertised by no broker.
    Why: a proxy in front of the brokers renumbers the nodes.
    Remedy: none is needed while the proxy renumbers every answer. Clients from 4.4 on send the advertised id, which a
    broker behind such a proxy rejects (BN611).
    """
    own = renumbered(evidence)
    if own is not None:
        offset, *further = {node_id - each for each, node_id in own.items()}
        message = f"the nodes' own ids are the advertised ids {'+' if offset > 0 else '-'} {abs(offset)}"
        if further:
            of_each = listed([f"{each} is node {node_id}" for each, node_id in own.items()])
            message = f"behind the advertised ids are other ones: {of_each}"
        doubts = [probed.doubt for probed in dialled_nodes(evidence)]
        yield warning(evidence.subject, message, explains=doubts, confidence=Confidence.LIKELY)
