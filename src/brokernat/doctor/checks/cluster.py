"""Checks of the whole: one cluster and one listener behind all endpoints, all of it probed, every failure explained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, starmap

from brokernat.doctor.checks.failures import home_cluster, is_of_another_listener, path_failure, same_listener
from brokernat.doctor.checks.places import (
    ProbedEndpoint,
    bootstrap_servers,
    dialled_nodes,
    listener_of,
    places,
    probed_endpoints,
    server_of,
)
from brokernat.doctor.checks.proven_rules import known_line, proven_line
from brokernat.doctor.checks.registry import Need, check, error, info, warning
from brokernat.doctor.checks.remedies import mended_here
from brokernat.doctor.evidence import Advertised, EndpointProbe, Evidence
from brokernat.doctor.finding import CheckFinding, Remedy
from brokernat.text import counted


@check("BN501", Need.METADATA, explains=("BN301", "BN302", "BN601", "BN603", "BN605", "BN609", "BN611"))
def clusters_differ(evidence: Evidence) -> Iterator[CheckFinding]:
    """Endpoints lead to different clusters.

    Cause: Endpoints lead to different clusters: {messages}.
    What: the endpoints report more than one cluster id.
    Why: a bootstrap server or a rule names a broker of another cluster; or an advertised endpoint leads to another
    cluster from here, as `localhost` does where a local Kafka runs; or a name has addresses of two clusters. Clients
    mix the metadata of both, or loop.
    Remedy: use endpoints of one cluster only.
    """
    clusters = [
        f"{cluster}: {', '.join(dict.fromkeys(each.endpoint for each in probes))}"
        for cluster, probes in _by_cluster(evidence.probes).items()
    ]
    home = home_cluster(evidence)
    mine = {each for probe in evidence.bootstraps if probe.cluster_id == home for each in probe.brokers or ()}
    for probed in probed_endpoints(evidence):
        if probed.failure is None or probed.failure.stage != "cluster" or probed.strangers:
            continue
        # For a bootstrap server: the brokers that only its answer names.
        others = set(probed.probe.brokers or ()) - mine if probed.path is None else ()
        strange = [path_failure(path, evidence) for path in evidence.paths if path.broker in others]
        message = f"{probed.subject} leads to cluster {probed.probe.cluster_id}, not to {home}"
        explains = [probed.failure, *strange]
        yield error(probed.subject, message, clusters, remedy=_instead(probed), explains=explains)
    for probed in (*bootstrap_servers(evidence), *dialled_nodes(evidence)):
        if probed.strangers:
            yield _name_of_several(probed)


def _by_cluster(probes: Iterable[EndpointProbe]) -> dict[str, list[EndpointProbe]]:
    """The endpoints that report a cluster id, by that id."""
    found: dict[str, list[EndpointProbe]] = {}
    for probe in probes:
        if probe.cluster_id:
            found.setdefault(probe.cluster_id, []).append(probe)
    return found


def _name_of_several(probed: ProbedEndpoint) -> CheckFinding:
    """A name or a balancer leads to several clusters. Of a bootstrap server: the map is for one of them."""
    host, evidence = probed.host, probed.evidence
    failures = [path_failure(path, evidence) for path in evidence.paths] if probed.path is None else []
    explains = [probed.failure, *(each for each in failures if each is not None and each.stage == "rule")]
    met = {address for address, _ in probed.probe.identity.met} if probed.probe.identity is not None else set()
    if not met.isdisjoint(probed.strangers):
        end, both = probed.probe.endpoint, [probed.probe.cluster_id, *probed.strangers.values()]
        return error(
            probed.subject,
            f"{end} leads to several clusters in turn ({', '.join(map(str, dict.fromkeys(both)))})",
            client="bootstrap at brokers of the right cluster" if probed.path is None else (),
            broker=f"remove the brokers of the other cluster from the balancer at {end}",
            explains=explains,
        )
    clusters = {each: probed.strangers.get(each, probed.probe.cluster_id) for each in probed.probe.addresses}
    leads = ", ".join(f"{address}: {cluster}" for address, cluster in sorted(clusters.items()))
    return error(
        probed.subject,
        f"the name `{host}` has addresses of several clusters ({leads})",
        client="use an address of the right cluster instead of the name",
        broker=f"remove the addresses of the other cluster from `{host}` in DNS",
        explains=explains,
    )


def _instead(probed: ProbedEndpoint) -> Remedy:
    """The bootstrap servers to remove, if most of them are of one cluster."""
    if probed.path is not None:
        if probed.path.rule:
            right = known_line(probed.evidence, probed.path)
            fix = f"correct the rule `{probed.path.rule}`"
            return Remedy((fix,), () if right else ("check where the forward to this node leads",), right)
        # A node that is dialled where it advertises needs no rule: its own endpoint is wrong.
        lines = proven_line if probed.is_behind_gateway else known_line
        return replace(mended_here(probed), rules=lines(probed.evidence, probed.path))
    by_cluster = _by_cluster(probed.evidence.bootstraps)
    servers = {cluster: [server_of(probe) for probe in probes] for cluster, probes in by_cluster.items()}
    most = max(map(len, servers.values()))
    if sum(len(each) == most for each in servers.values()) > 1:
        choice = "; or ".join(f"{', '.join(ends)} ({cluster})" for cluster, ends in servers.items())
        return Remedy((f"keep the bootstrap servers, and the rules, of one cluster only: {choice}",))
    strangers = [end for ends in servers.values() if len(ends) < most for end in ends]
    return Remedy((f"remove {', '.join(strangers)}: most bootstrap servers belong to another cluster",))


@check(
    "BN502",
    Need.METADATA,
    explains=("BN104", "BN202", "BN203", "BN205", "BN301", "BN302", "BN308", "BN503", "BN504", "BN605", "BN609"),
    independent=True,
)
def listeners_mixed(evidence: Evidence) -> Iterator[CheckFinding]:
    """Bootstrap servers belong to different listeners.

    Cause: The bootstrap servers belong to different listeners ({subjects}), so a client's brokers change with the
    server that answers.
    What: bootstrap servers of one cluster advertise different endpoints for the same node, or have no node in common.
    Why: a broker answers with the endpoints of the listener that the client connected to. If the bootstrap servers
    belong to several listeners, each metadata update may bring other endpoints.
    Remedy: give bootstrap servers of one listener.
    """
    # If a node's own endpoint leads to another listener, BN603 reports it.
    odd = {each.probe.endpoint for each in dialled_nodes(evidence) if is_of_another_listener(each.failure)}
    home = home_cluster(evidence)
    probes = [
        probe
        for probe in evidence.bootstraps
        # BN501 reports servers of other clusters.
        if probe.brokers is not None and probe.endpoint not in odd and probe.cluster_id in (home, None)
    ]
    if all(starmap(same_listener, combinations(probes, 2))):
        return
    sets: dict[tuple[Advertised, ...], list[EndpointProbe]] = {}
    for probe in probes:
        sets.setdefault(probe.brokers or (), []).append(probe)
    names = {brokers: listener_of(evidence, probes) for brokers, probes in sets.items()}
    known = [name for name in names.values() if name]
    subject = f"listeners {', '.join(known)}" if len(set(known)) == len(sets) else f"{len(sets)} sets of brokers"
    reached = {path.broker.endpoint for path in evidence.paths if path.answers}
    best = max(sets, key=lambda brokers: (sum(each.endpoint in reached for each in brokers), len(brokers)))
    servers = {brokers: ", ".join(probe.endpoint for probe in probes) for brokers, probes in sets.items()}
    of_one = f" ({names[best]}: {counted(len(best), 'broker')})" if names[best] else ""
    yield error(
        subject,
        f"the bootstrap servers advertise {len(sets)} different sets of brokers",
        [
            f"{f'listener {name}, ' if name else ''}bootstrap {servers[brokers]}: {', '.join(map(str, brokers))}"
            for brokers, name in names.items()
        ],
        client=f"keep the bootstrap servers of one listener only, for example {servers[best]}{of_one}",
        broker=tuple(_define(names)),
        explains=[path_failure(path, evidence) for path in evidence.paths if path.broker not in best],
    )


def _define(names: Mapping[tuple[Advertised, ...], str | None]) -> Iterator[str]:
    """The brokers that lack a listener, by listener."""
    every = {str(each.node_id) for brokers in names for each in brokers}
    for brokers, name in names.items():
        if lacking := sorted(every - {str(each.node_id) for each in brokers}):
            yield f"define the listener{f' {name}' if name else ''} on node {', '.join(lacking)} too"


_NAMES_LEADERS = 10


@check("BN801", Need.METADATA)
def part_of_a_map(evidence: Evidence) -> Iterator[CheckFinding]:
    """Leader changes can send clients to unreachable endpoints.

    Cause: When leaders move, clients of {subjects} receive endpoints that they cannot dial.
    What: clients reach only some nodes, and the brokers are of 3.7 or later.
    Why: such brokers send the new leader and its endpoint in the answers to Produce and Fetch (KIP-951). So a client
    receives the endpoint that it cannot dial as soon as a leader moves, not with the next metadata update.
    Remedy: add a rule for every node, also for nodes that lead no partition now.
    """
    newest = max(probe.newest("Produce") for probe in evidence.bootstraps)
    reached = [path for path in evidence.paths if path.answers]
    if newest >= _NAMES_LEADERS and 0 < len(reached) < len(evidence.paths):
        message = "clients may work at first, and fail when a leader moves to a node that they cannot reach"
        yield info(evidence.subject, message)


@check("BN004")
def not_all_probed(evidence: Evidence) -> Iterator[CheckFinding]:
    """Not everything was probed.

    Cause: Not everything was probed: {messages}.
    What: `--timeout` ended some probes early, or there are more than the 1,000 brokers that are probed. The missing
    results are unknown, not wrong.
    Why: many addresses drop packets, which takes time; or the peer advertises brokers that do not exist.
    Remedy: give the doctor more time with `--timeout`.
    """
    if evidence.unprobed:
        message = f"{counted(evidence.unprobed, 'advertised broker was', 'advertised brokers were')} not probed"
        yield warning(evidence.subject, message)
    for probed in probed_endpoints(evidence):
        if not probed.probe.complete:
            message = "the time ran out before every probe finished"
            fix = "give the doctor more time: `--timeout SECONDS`"
            yield warning(probed.subject, message, client=fix, explains=(probed.doubt,))


@check("BN005", residual=True)
def unexplained(evidence: Evidence) -> Iterator[CheckFinding]:
    """A failure that no check explains.

    Cause: Clients fail at {subjects}, and no check explains it{reason}.
    What: a client stage fails or is uncertain, and no other check explains it.
    Why: no check describes this fault yet.
    Remedy: read the evidence of the finding; `--save FILE` keeps all evidence for a bug report.
    """
    for place in places(evidence):
        if failure := place.failure:
            report = warning if failure.doubt else error
            message = f"{failure.stage} at {failure.endpoint}: {failure.words}"
            seen = (failure.detail,) if failure.detail else ()
            yield report(place, message, seen, client="keep the evidence with `--save FILE`, and report it")
