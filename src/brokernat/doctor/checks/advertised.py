"""Checks of advertised endpoints by their text alone: endpoints that clients on other machines cannot dial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from brokernat.doctor.checks.advice import own_address, reached_listeners
from brokernat.doctor.checks.failures import path_failure
from brokernat.doctor.checks.names import resolved_names
from brokernat.doctor.checks.places import node, place_of
from brokernat.doctor.checks.proven_rules import advice_to_test, known_line, proven_line, unmapped_advice
from brokernat.doctor.checks.registry import Need, check, error, finding, info, warning
from brokernat.doctor.checks.remedies import remedy_for
from brokernat.doctor.evidence import BrokerPath, EndpointProbe, Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy, Severity
from brokernat.doctor.host_kinds import address, inside_name, is_loopback, network


@check(
    "BN201",
    Need.METADATA,
    explains=(
        *("BN104", "BN105", "BN205", "BN301", "BN302", "BN308", "BN309", "BN310", "BN311", "BN315", "BN401", "BN402"),
        *("BN403", "BN404", "BN405", "BN407", "BN501", "BN601", "BN602", "BN605", "BN611"),
    ),
)
def advertised_loopback(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker advertises a loopback address.

    Cause: Clients on other machines dial themselves: {subjects}{reason}.
    What: a broker advertises `localhost` or a loopback address, and the bootstrap servers are on other machines.
    Why: `advertised.listeners` has its default, or was written for clients on the broker's host. The endpoint works on
    that host, so the finding is only a warning there.
    Remedy: advertise an endpoint that clients can dial, on a separate listener if local clients need `localhost`; or
    add a rule to the address map.
    """
    if all(is_loopback(each) for probe in evidence.bootstraps for each in probe.addresses):
        return
    home = {probe.cluster_id for probe in evidence.bootstraps if probe.answers}
    loopback = [path for path in evidence.paths if is_loopback(path.broker.host)]
    every = len(loopback) == len(evidence.paths) > 1
    who = f"all {len(loopback)} brokers advertise" if every else "the broker advertises"
    for path in loopback:
        message, severity = f"{who} a loopback address", Severity.ERROR
        if path.rule:
            severity = Severity.INFO
        elif path.probe is not None and path.answers and path.probe.cluster_id in home:
            severity, message = Severity.WARNING, f"{message}, which works on this machine only"
        instead = reached_listeners(evidence)
        rules = () if instead else proven_line(evidence, path)
        client = (*instead, *advice_to_test(evidence, rules), *unmapped_advice(evidence, rules))
        advertise = "in `advertised.listeners`, give each broker its own endpoint that clients can dial"
        remedy = Remedy(client, (advertise,), rules)
        explains = severity is Severity.ERROR
        yield finding(severity, place_of(path, evidence), message, remedy=remedy, explains=explains)


@check("BN202", Need.METADATA)
def other_private_network(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker advertises an address of another private network.

    Cause: The brokers advertise private addresses ({subjects}) of a network that this machine is not in.
    What: a broker advertises a private address (RFC 1918, RFC 6598, ULA, link-local) that does not answer here, and the
    bootstrap server answered at an address of another network.
    Why: the brokers are behind a NAT or a gateway and advertise their internal addresses.
    Remedy: add a rule to the address map; or add a listener that advertises the external address.
    """
    outside = {str(network(each)) for probe in evidence.bootstraps if probe.answers for each in probe.addresses}
    for path in evidence.paths:
        place = address(path.broker.host)
        if place is None or place.is_loopback or place.is_global or place.is_unspecified or path.rule or path.answers:
            continue
        if path.direct is not None and path.direct.connected:
            continue
        if path.probe is not None and path.probe.connected and path.probe.speaks not in ("http", "ssh", "other"):
            # It is reached, and fails for another reason.
            continue
        if str(network(path.broker.host)) not in outside:
            message = f"a private address, in another network than the bootstrap servers ({', '.join(sorted(outside))})"
            attempts = path.probe.attempts if path.probe is not None else ()
            if own := next((own for each in attempts if (own := own_address(evidence, each))), None):
                message = f"a private address, and this machine itself has an address in that network ({own})"
            remedy = remedy_for(evidence, path)
            yield warning(node(path), message, remedy=remedy, confidence=Confidence.LIKELY)


@check("BN203", Need.METADATA)
def name_of_inside(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker advertises a name that only its own network knows.

    Cause: The brokers advertise names ({subjects}) that only their own network knows.
    What: the advertised name does not resolve here, nor does another one of its domain. It has one label, ends in
    `.svc`, `.internal`, `.local`, `.cluster.local` or the like, or is a container's id.
    Why: Docker, Kubernetes and cloud providers give hosts such names, and other networks do not resolve them.
    Remedy: add a rule to the address map; or add a listener that advertises a name that resolves here.
    """
    # The name server knows other names of these domains.
    domains = set(map(_domain, resolved_names(evidence))) - {""}
    for path in evidence.paths:
        met = path.probe or path.direct
        resolves = met is not None and bool(met.addresses)
        known = resolves or _domain(path.broker.host) in domains
        if not path.rule and inside_name(path.broker.host) and not known:
            message = "usually only the brokers' own network resolves this name"
            remedy = remedy_for(evidence, path)
            yield warning(node(path), message, remedy=remedy, confidence=Confidence.LIKELY)


def _domain(host: str) -> str:
    """The name without its first label; empty for a name of one label."""
    return host.lower().rstrip(".").partition(".")[2]


@check("BN204", Need.METADATA, explains=("BN301", "BN302"))
def advertised_nothing(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker advertises no address at all.

    Cause: The brokers advertise endpoints that no client can dial: {subjects}.
    What: a broker advertises an empty host, `0.0.0.0`, `::` or an invalid port.
    Why: `advertised.listeners` is missing and `listeners` is a wildcard, or a listener is not up yet.
    Remedy: write `advertised.listeners` with a host and a port.
    """
    # A rule translates it to an endpoint that clients can dial.
    for path in (path for path in evidence.paths if not path.rule):
        place = address(path.broker.host)
        if not path.broker.host or not 1 <= path.broker.port <= 65535 or (place is not None and place.is_unspecified):
            fix = "write `advertised.listeners` with a host and a port that clients can dial"
            yield error(place_of(path, evidence), "no client can dial this endpoint", broker=fix)


@check("BN205", Need.METADATA, explains=("BN601",))
def same_endpoint(evidence: Evidence) -> Iterator[CheckFinding]:
    """Two brokers advertise the same endpoint.

    Cause: Several brokers advertise one endpoint ({subjects}).
    What: two node ids are advertised with the same host and port.
    Why: all brokers advertise the address of one load balancer or gateway, so a client that connects to one of them may
    reach any of them; or one broker's `advertised.listeners` is a copy of another one's.
    Remedy: give each broker its own port or name.
    """
    found: dict[tuple[str, str], str] = {}
    for probe in evidence.bootstraps:
        brokers = probe.brokers or ()
        for endpoint in dict.fromkeys(each.endpoint for each in brokers):
            ids = [str(each.node_id) for each in brokers if each.endpoint == endpoint]
            if len(ids) > 1:
                found.setdefault((endpoint, ", ".join(ids)), probe.endpoint)
    for (endpoint, nodes), server in found.items():
        message = f"nodes {nodes} advertise the same endpoint"
        seen = (f"returned by bootstrap {server}",)
        paths = [path for path in evidence.paths if path.broker.endpoint == endpoint]
        failures = (path_failure(path, evidence) for path in paths)
        others = [failure for failure in failures if failure is not None and failure.stage == "identity"]
        yield error(endpoint, message, seen, broker=_own_endpoints(evidence, paths), explains=others)


def _own_endpoints(evidence: Evidence, paths: Sequence[BrokerPath]) -> str:
    """What these brokers, which advertise one endpoint, have to change. Where others have their own, it is a copy."""
    identities = [path.probe.identity for path in paths if path.probe is not None and path.probe.identity is not None]
    answering = {each.node_id for each in identities}.union(*(each.others for each in identities))
    copies = [str(path.broker.node_id) for path in paths if path.broker.node_id not in answering]
    if len(answering) != 1 or len(copies) != len(paths) - 1 or len(paths) == len(evidence.paths):
        return "give each broker its own port or name"
    (owner,) = answering
    return f"correct `advertised.listeners` of node {', '.join(copies)}: {paths[0].broker.endpoint} is node {owner}"


@check("BN206", Need.METADATA)
def no_bootstrap_advertised(evidence: Evidence) -> Iterator[CheckFinding]:
    """No node is a bootstrap server.

    Cause: No node of {subjects} advertises one of the bootstrap servers.
    What: clients reach every node at its advertised endpoint, and none of these endpoints is a bootstrap server.
    Why: the bootstrap servers are a load balancer or a virtual address. This is usual, and clients reach the nodes as
    well.
    Remedy: none is needed. A firewall must allow the nodes' endpoints too, not only the bootstrap servers.
    """
    if evidence.rules or not evidence.paths or not all(path.answers for path in evidence.paths):
        return
    places = {place for probe in evidence.bootstraps for place in _places(probe)}
    if not any(path.probe and places & _places(path.probe) for path in evidence.paths):
        message = "no node advertises one of the bootstrap servers, as is usual behind a load balancer"
        yield info(evidence.subject, message)


def _places(probe: EndpointProbe) -> set[str]:
    """The endpoint, and the addresses that its name resolves to."""
    return {probe.endpoint, *(f"{address}:{probe.port}" for address in probe.addresses)}


_FEWEST = 3


@check("BN505", Need.METADATA, explains=("BN202", "BN203", "BN301", "BN302"))
def fallback_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """One broker seems to advertise another listener.

    Cause: {subjects} is advertised differently from the other nodes{reason}.
    What: one broker advertises another kind of address and another port than all its peers, and is not reached there.
    Why: a broker that does not have the listener of the client's connection may answer with another listener, as
    Redpanda does; or this broker's `advertised.listeners` was not updated.
    Remedy: advertise the same listener on this broker as on the others.
    """
    brokers = next(probe.brokers for probe in evidence.bootstraps if probe.brokers is not None)
    kinds = [(_kind(each.host), each.port) for each in brokers]
    met = Counter(kinds)
    paths = {path.broker: path for path in evidence.paths if not path.answers}
    for broker, own in zip(brokers, kinds, strict=True):
        peers = [kind for kind, times in met.items() if times > (kind == own)]
        if len(brokers) < _FEWEST or len(peers) > 1 or broker not in paths:
            continue
        kind, port = peers[0]
        if kind != own[0] and port != broker.port:
            message = f"all other nodes advertise {kind} and port {port}"
            own_side = f"correct `advertised.listeners` of node {broker.node_id}: as on the other nodes, it must name "
            own_side += "the listener of the bootstrap servers"
            remedy = Remedy(reached_listeners(evidence), (own_side,), known_line(evidence, paths[broker]))
            yield error(place_of(paths[broker], evidence), message, remedy=remedy, confidence=Confidence.LIKELY)


def _kind(host: str) -> str:
    place = address(host)
    if place is None:
        return "names"
    return "public addresses" if place.is_global else f"addresses of {network(host)}"
