"""Checks of the brokers that metadata lists: brokers that are missing, down, or known to some servers only."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.checks.advice import working_listeners
from brokernat.doctor.checks.failures import once, path_failure, same_listener
from brokernat.doctor.checks.places import bootstrap_servers, every_probe, is_node, listener_of, probed_endpoints
from brokernat.doctor.checks.registry import Need, check, error, finding, info, warning
from brokernat.doctor.evidence import EndpointProbe, Evidence
from brokernat.doctor.finding import CheckFinding, Remedy, Severity
from brokernat.text import counted


@check("BN503", Need.METADATA, explains=("BN504", "BN703"))
def brokers_absent(evidence: Evidence) -> Iterator[CheckFinding]:
    """Brokers are missing on this listener.

    Cause: Metadata does not list all brokers: {subjects}{reason}.
    What: partitions, another bootstrap server, or another listener of the same node name running nodes that are missing
    from the broker list; or the list is empty.
    Why: a broker that lacks the listener of the client's connection is left out of the answer. An empty list comes from
    a broker that has just started, or that the controller does not reach.
    Remedy: define the listener on every broker, or connect to a listener that all brokers have.
    """
    asked, behind = _asked(evidence), _behind(evidence)
    if not any(probe.brokers for probe in evidence.bootstraps):
        message = "it lists no broker, not even itself"
        fix = (
            "look in the log of this broker and of the controller: it has just started, could not register, or (with "
            "ZooKeeper) the controller cannot reach the endpoint that it advertises to the other brokers",
            "if other brokers run: define this listener on each of them",
        )
        yield error(f"bootstrap {asked[0].endpoint}", message, broker=fix)
    for node_id, known in sorted(_expected(evidence).items()):
        # BN510 reports servers that are behind, BN507 nodes that are down.
        lacking = [probe for probe in asked if node_id not in probe.node_ids and probe not in behind.get(node_id, ())]
        if not lacking or node_id in _down(evidence):
            continue
        names = {name for probe in lacking if (name := listener_of(evidence, [probe]))}
        here = f"listener {', '.join(sorted(names))}" if names else "this listener"
        remedy = Remedy(_complete_listener(evidence), (f"define {here} on node {node_id}, as on the other nodes",))
        servers = tuple(f"bootstrap {probe.endpoint} does not list it" for probe in lacking)
        up = (f"node {node_id} is an in-sync replica, so it runs",) if node_id in evidence.in_sync else ()
        yield error(f"node {node_id}", f"missing on {here}", (known, *up, *servers), remedy=remedy)


@once
def _asked(evidence: Evidence) -> list[EndpointProbe]:
    """The bootstrap servers that list brokers, of the first one's cluster."""
    answers = [probe for probe in evidence.bootstraps if probe.brokers is not None]
    return [probe for probe in answers if probe.cluster_id == answers[0].cluster_id]


@once
def _behind(evidence: Evidence) -> dict[int, list[EndpointProbe]]:
    """The bootstrap servers that do not list a node that another one of the same listener lists, by node."""
    found: dict[int, list[EndpointProbe]] = {}
    for probe in _asked(evidence):
        alike = (other.node_ids for other in _asked(evidence) if same_listener(probe, other))
        for node_id in frozenset().union(*alike) - probe.node_ids:
            found.setdefault(node_id, []).append(probe)
    return found


@check("BN510", Need.METADATA, explains=("BN504", "BN511", "BN703"))
def lists_differ(evidence: Evidence) -> Iterator[CheckFinding]:
    """Bootstrap servers of one listener do not list the same brokers.

    Cause: The bootstrap servers do not agree on the brokers: {subjects}{reason}.
    What: a bootstrap server does not list a node that another one of the same listener lists.
    Why: the node has just started or stopped, or the broker that does not list it receives no metadata from the
    controllers, because it is cut off from them or hangs. If only the node itself still lists it, it is the one that is
    cut off: the controllers have fenced it, and others lead its partitions, or nobody does. Clients use the list of the
    server that answers.
    Remedy: none is needed if it passes; otherwise check the broker whose list is older.
    """
    asked = _asked(evidence)
    seen = [f"bootstrap {probe.endpoint} lists {counted(len(probe.node_ids), 'broker')}" for probe in asked]
    for node_id, behind in sorted(_behind(evidence).items()):
        if node_id in _down(evidence):
            continue
        ends = ", ".join(probe.endpoint for probe in behind)
        lacks = f"{ends} {'do' if len(behind) > 1 else 'does'} not"
        severity, cut_off = Severity.WARNING, f"the broker at {ends}"
        message = f"a bootstrap server lists it, and {lacks}"
        if all(probe in behind or is_node(probe, node_id) for probe in asked):
            cut_off = f"node {node_id}"
            message = f"only the node itself still lists it, and {lacks}: the controllers have fenced it"
            if any(each.wanted and each.nodes == (node_id,) for each in evidence.leaderless):
                severity = Severity.ERROR
        again = "run the doctor again: right after a start or a stop this is normal"
        check_log = f"if it persists, check the log of {cut_off} and its connection to the controllers"
        yield finding(severity, f"node {node_id}", message, seen, client=again, broker=check_log)


@check(
    "BN507",
    Need.METADATA,
    Need.PARTITIONS,
    explains=("BN103", "BN302", "BN305", "BN308", "BN309", "BN310", "BN504", "BN511", "BN606", "BN703"),
)
def broker_down(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker is down.

    Cause: A broker is down, {subjects}{reason}.
    What: partitions name a node that no listener of any broker lists and that is an in-sync replica of no partition.
    Why: the broker is stopped, cannot register, or is fenced because it hangs. Clients work while every partition has a
    leader and enough in-sync replicas, and no bootstrap server still lists the broker: the finding is then a warning.
    With `--topic` only the partitions of these topics count.
    Remedy: start the broker; its log shows why it stopped.
    """
    dead = [
        probed.failure
        for probed in bootstrap_servers(evidence)
        if probed.failure is not None and probed.failure.stage in ("connect", "versions", "metadata")
    ]
    down, home = _down(evidence), _asked(evidence)[0].cluster_id
    silent = [each for each in dead if each.words == "no response"]
    # If one bootstrap server does not answer and one broker is down, they are probably the same node.
    hung = silent[0] if len(silent) == len(dead) == len(down) == 1 else None
    for node_id in sorted(down):
        held = [each for each in evidence.leaderless if not each.nodes or node_id in each.nodes]
        failures = [path_failure(path, evidence) for path in evidence.paths if path.broker.node_id == node_id]
        under_min_isr = [each.name for each in evidence.topics if each.under_min_isr and node_id in each.out_of_sync]
        state = "it does not run, or it hangs and is fenced"
        start = f"start node {node_id}; its log shows why it stopped"
        if elsewhere := [each for each in evidence.bootstraps if each.node_id == node_id and each.cluster_id != home]:
            end, other = elsewhere[0].endpoint, elsewhere[0].cluster_id
            start = f"node {node_id} at {end} is of cluster {other}: if it is the missing one, it was formatted anew "
            start += f"(`meta.properties`): format it with the cluster id {home}"
        if hung is not None:
            state = f"it probably hangs and is fenced: {hung.endpoint} accepts connections and does not answer"
            start = f"check what node {node_id} waits for (its log, a thread dump, its disk), then start it again"
        yield finding(
            Severity.ERROR if any(each.wanted for each in held) or failures or under_min_isr else Severity.WARNING,
            f"node {node_id}",
            f"it is on no listener and is no in-sync replica, so {state}",
            (
                "partitions name it as a replica",
                f"{'partitions have no' if held else 'every partition has a'} leader without it",
                *(f"topic {name} has too few in-sync replicas without it" for name in under_min_isr),
            ),
            broker=start,
            explains=[*(dead if len(dead) == len(down) == 1 and (hung or not held) else ()), *failures],
        )


@once
def _down(evidence: Evidence) -> set[int]:
    """Replicas that are in sync for no partition, and that no answer of this cluster lists as a broker.

    An answer that lists a node which does not answer may be old, if another bootstrap server does not list it.
    """
    home = _asked(evidence)[0].cluster_id
    listed = frozenset().union(*(probe.node_ids for probe in every_probe(evidence) if probe.cluster_id == home))
    silent = {path.broker.node_id for path in evidence.paths if not path.answers}
    up = listed - (silent & _behind(evidence).keys()) | set(evidence.in_sync)
    return set(evidence.replicas or ()) - up if evidence.in_sync else set()


@once
def _expected(evidence: Evidence) -> dict[int, str]:
    """The known nodes, each with its source."""
    found = dict.fromkeys(evidence.replicas or (), "it is a replica of partitions")
    servers = [(f"bootstrap {probe.endpoint}", probe) for probe in _asked(evidence)]
    others = [(f"listener {each.name}", each.probe) for each in evidence.listeners if each.probe is not None]
    for source, probe in (*others, *servers):
        for broker in probe.brokers or ():
            if probe.cluster_id == servers[0][1].cluster_id:
                found.setdefault(broker.node_id, f"{source} lists it at {broker.endpoint}")
    return found


@once
def _complete_listener(evidence: Evidence) -> tuple[str, ...]:
    """A listener that works from here and names every known node; the inter-broker listener comes last."""
    every = set(_expected(evidence)) - _down(evidence)
    inner = dict(_asked(evidence)[0].settings).get("inter.broker.listener.name")
    complete = [
        next((each for each in ends if not each.entered), ends[0])
        for ends in working_listeners(evidence).values()
        if every <= {each.node_id for each in ends}
    ]
    best = max(complete, key=lambda each: each.name != inner, default=None)
    return () if best is None else (f"bootstrap at {best.endpoint}: listener {best.name} lists all brokers",)


@check("BN506", Need.METADATA)
def controller_unlisted(evidence: Evidence) -> Iterator[CheckFinding]:
    """The controller is not among the brokers.

    Cause: Metadata names a controller that is not among the brokers: {subjects}.
    What: metadata names a controller that no answer lists as a broker, or names none.
    Why: in KRaft mode each answer names a random live broker (KafkaApis.handleTopicMetadataRequest). A broker that is
    not listed lacks the listener of the client's connection; a user without rights has no other evidence of this. Old
    admin clients look for the controller and log `Timed out waiting for a node assignment`. No controller is named if
    the brokers have lost it.
    Remedy: define the listener on every broker, or see that the quorum has a leader.
    """
    # BN503 or BN502 reports a node that is known from other answers.
    known = set(evidence.replicas or ()).union(*(probe.node_ids for probe in every_probe(evidence)))
    home = _asked(evidence)[0].cluster_id
    named: dict[int, list[str]] = {}
    for probed in probed_endpoints(evidence):
        controller = probed.probe.controller_id
        if controller is not None and controller not in known and probed.probe.cluster_id == home:
            named.setdefault(controller, []).append(probed.probe.endpoint)
    for node_id, ends in sorted(named.items()):
        seen = (f"returned by {', '.join(dict.fromkeys(ends))}",)
        if node_id < 0:
            fix = "check that the quorum has a leader"
            yield info(evidence.subject, "metadata names no controller", seen, broker=fix)
        else:
            message = "metadata names it as the controller, but does not list it as a broker"
            yield warning(f"node {node_id}", message, seen, broker="define the listener on every broker")
