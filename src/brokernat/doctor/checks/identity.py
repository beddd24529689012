"""Which node answers behind an endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.checks.failures import is_of_another_listener, path_failure, renumbered
from brokernat.doctor.checks.queries import (
    ProbedEndpoint,
    acl_line,
    dialled_nodes,
    proven_line,
    sureness,
    told_by_alone,
)
from brokernat.doctor.checks.registry import Need, check, error, warning
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy


@check("BN601", Need.METADATA, explains=("BN603", "BN607", "BN611"))
def another_node(evidence: Evidence) -> Iterator[CheckFinding]:
    """Another node answers.

    Cause: Another node answers than the one that is meant: {messages}.
    What: the node behind the endpoint that is dialled says that it is another one than metadata means.
    Why: two rules are exchanged, a forward leads to the wrong broker, a hosts file gives several names one address.
    Clients loop on NOT_LEADER_OR_FOLLOWER; from 4.4 on they bootstrap again and again.
    Remedy: exchange the targets.
    """
    if renumbered(evidence) is not None:
        return
    nodes = dialled_nodes(evidence)
    ends = {
        each.probe.identity.node_id: each.probe.endpoint
        for each in reversed(nodes)
        if each.probe.identity and not each.probe.identity.others
    }
    for probed in nodes:
        path, identity = probed.path, probed.probe.identity
        # Where several nodes answer, none is wrong: BN602 says it.
        if path is None or identity is None or identity.others or identity.node_id in (None, path.broker.node_id):
            continue
        right = ends.get(path.broker.node_id)
        lines = (f"{path.broker.endpoint} = {right}",) if right else proven_line(evidence, path)
        message = f"node {identity.node_id} answers at {probed.probe.endpoint}, {probed.node} is expected"
        seen = (f"method: {identity.method}", *((f"rule: {path.rule}",) if path.rule else ()))
        yield error(probed, message, seen, remedy=_corrected(probed, lines), confidence=sureness(identity))


def _corrected(probed: ProbedEndpoint, lines: tuple[str, ...]) -> Remedy:
    """The rule is to be corrected where no forward could make it right, else the forward."""
    end, rule = probed.probe.endpoint, probed.path.rule if probed.path is not None else None
    there = [path.rule for path in probed.evidence.paths if path.probe is not None and path.probe.endpoint == end]
    advertised = end in {path.broker.endpoint for path in probed.evidence.paths}
    if not rule or (len(there) == 1 and not advertised):
        return Remedy(broker=("correct the forward to this node",), rules=lines)
    where = "what a broker advertises" if advertised else "where another rule leads"
    fix = f"correct the rule `{rule}`: it leads to {where}"
    if len(there) > 1 and set(there) == {rule}:
        fix = f"`{rule}` leads {len(there)} nodes to one endpoint: write a rule for each in its place"
    return Remedy((fix,), rules=lines)


@check("BN602", Need.METADATA, explains=("BN611",))
def balancer(evidence: Evidence) -> Iterator[CheckFinding]:
    """Several nodes answer behind one endpoint.

    Cause: A balancer or a name with several addresses stands at {subjects}: {messages}.
    What: connections to one endpoint met different nodes.
    Why: a balancer or a name with several addresses stands where one broker is meant. Fine to bootstrap, wrong for a
    node.
    Remedy: an endpoint for each broker.
    """
    for probed in dialled_nodes(evidence):
        identity = probed.probe.identity
        if identity is not None and identity.others:
            met = ", ".join(map(str, (identity.node_id, *identity.others)))
            client, broker = "give each node an endpoint of its own in the map", "forward one port to one broker"
            seen: list[str] = []
            if len(probed.probe.addresses) > 1:
                broker = f"let `{probed.host}` have one address in DNS: that of {probed.node}"
                leads = dict.fromkeys(f"{address}: node {node_id} answers" for address, node_id in identity.met)
                seen = list(leads) or [f"its addresses: {', '.join(probed.probe.addresses)}"]
            message = f"different nodes answer at {probed.probe.endpoint}: {met}"
            yield error(probed, message, seen, client=client, broker=broker, confidence=sureness(identity))


@check("BN603", Need.METADATA, explains=("BN201", "BN202", "BN203", "BN205", "BN301", "BN302", "BN308", "BN605"))
def another_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """The right node, on another listener.

    Cause: Another listener of the brokers answers than the one that is meant, at {subjects}.
    What: what is dialled for a node advertises other endpoints of the nodes than the bootstrap servers that name it.
    Why: a rule, a forward or a published port leads to the right broker and the port of another listener. Metadata read
    there switches endpoints.
    Remedy: the port of the same listener.
    """
    for probed in dialled_nodes(evidence):
        if probed.path is None or not is_of_another_listener(probed.failure):
            continue
        told = ", ".join(map(str, probed.probe.brokers or ()))
        rule = f"let the rule `{probed.path.rule}` lead to the listener of the bootstrap servers"
        remedy = Remedy((rule,)) if probed.path.rule else probed.mended_here()
        message = f"{probed.probe.endpoint} advertises another set of brokers"
        # As a bootstrap server it leads clients to what nobody else names.
        astray = [path_failure(path, evidence) for path in told_by_alone(evidence, probed.probe.endpoint)]
        yield error(probed, message, (f"it says: {told}",), remedy=remedy, explains=[probed.failure, *astray])


@check("BN604", Need.METADATA, Need.MAP)
def not_provable(evidence: Evidence) -> Iterator[CheckFinding]:
    """Which node answers cannot be proven.

    Cause: Which node answers at {subjects} could not be proven.
    What: the node is reached through a rule, and nothing told which one it is.
    Why: brokers before 4.4 tell it only to whom may read their settings; and this user sees no topic that the node
    leads (ListOffsets), nor does a certificate name this node alone.
    Remedy: the right to DESCRIBE_CONFIGS on the cluster, for this check only.
    """
    for probed in dialled_nodes(evidence):
        identity = probed.probe.identity
        if probed.path is not None and probed.path.rule and identity is not None and identity.node_id is None:
            right = acl_line(evidence, "--operation DescribeConfigs --cluster")
            message = "it answers, and which node it is cannot be proven"
            seen = (f"asked for its settings, it says: {identity.detail.upper()}",) if identity.detail else ()
            yield warning(probed, message, seen, broker=f"let this user ask a broker for its settings: {right}")


_CHECKS_IDENTITY = 5


@check("BN611", Need.METADATA)
def identity_refused(evidence: Evidence) -> Iterator[CheckFinding]:
    """Clients from 4.4 on are refused.

    Cause: The brokers behind {subjects} refuse clients from 4.4 on, which name the node they mean.
    What: another node answers where a client thinks of this one, and the broker is new enough to tell: 4.4 and later
    refuse a client that names another node or cluster (KIP-1242).
    Why: clients from 4.4 on send both by default. They log `Rebootstrap requested by server due to cluster metadata
    mismatch` and start over, again and again; older ones only loop on NOT_LEADER_OR_FOLLOWER.
    Remedy: that of BN601 or BN612; `metadata.cluster.check.enable=false` in the client hides it.
    """
    for probed in dialled_nodes(evidence):
        path, identity = probed.path, probed.probe.identity
        asked = probed.probe.cluster_id and probed.probe.newest("ApiVersions") >= _CHECKS_IDENTITY
        if path is None or identity is None or identity.node_id is None or not asked:
            continue
        # Asked for every id that is advertised, it said no to all where another method had to tell.
        if identity.node_id != path.broker.node_id or identity.method != "apiversions":
            own = "" if identity.node_id == path.broker.node_id else f" as node {identity.node_id}"
            message = f"what answers at {probed.probe.endpoint}{own} refuses clients of 4.4 and later"
            yield error(probed, message, client="correct what leads there; every client from 4.4 on is turned away")


@check("BN612", Need.METADATA)
def nodes_renumbered(evidence: Evidence) -> Iterator[CheckFinding]:
    """A proxy renumbers the nodes.

    Cause: A proxy in front of {subjects} gives the nodes ids of its own.
    What: every node that proved who it is calls itself by an id that nobody advertises, all of them by the same number
    off.
    Why: a proxy stands in between and gives nodes ids of its own.
    Remedy: none while the proxy does it for every answer; from 4.4 on clients name the advertised id, and a broker
    behind such a proxy refuses them (BN611).
    """
    offset = renumbered(evidence)
    if offset is not None:
        message = f"the nodes' own ids are their advertised ones {'+' if offset > 0 else '-'} {abs(offset)}"
        doubts = [probed.doubt for probed in dialled_nodes(evidence)]
        yield warning(f"cluster {evidence.cluster}", message, explains=doubts, confidence=Confidence.LIKELY)
