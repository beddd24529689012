"""Checks of host names: what this machine's resolver returns for them, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from brokernat.doctor.checks.places import (
    ProbedEndpoint,
    bootstrap_servers,
    dialled_nodes,
    every_probe,
    nodes_by_id,
    probed_endpoints,
)
from brokernat.doctor.checks.proven_rules import proven_line
from brokernat.doctor.checks.registry import Need, check, error, finding, info, warning
from brokernat.doctor.checks.remedies import remedy_for
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Failure, Remedy
from brokernat.doctor.host_kinds import address, inside_name, is_loopback, known_kind, neighbours


@check("BN102", explains=("BN305",))
def bootstrap_name(evidence: Evidence) -> Iterator[CheckFinding]:
    """A bootstrap server's name does not resolve.

    Cause: The name of {subjects} does not resolve on this machine.
    What: this machine's resolver finds no address for the host of a bootstrap server.
    Why: the name has a typo, belongs to another network, or needs a search domain. Clients ignore such a server. If
    another server answers, even if it only rejects the login, clients use that one, so the finding is a warning.
    Remedy: correct the name, or use an address.
    """
    for probed in bootstrap_servers(evidence):
        if probed.probe.dns_error and not _unanswered(probed):
            fix = "correct the name in `bootstrap_servers`, or use an address that is reachable from here"
            if probed.removable:
                fix += "; if no broker has the name any more, remove it"
            message = "the name does not resolve on this machine"
            yield finding(probed.severity, probed, message, (probed.probe.dns_error,), client=fix)


@check("BN106")
def canonical_names(evidence: Evidence) -> Iterator[CheckFinding]:
    """A bootstrap server has another canonical name.

    Cause: The name server returns another canonical name for {subjects}.
    What: `client.dns.lookup` requests canonical names, and the name server has another name for a bootstrap server's
    address. Clients then use that name for TLS, for Kerberos and for the address map.
    Why: the reverse DNS entry belongs to a gateway or a cloud provider, or is missing. If the name does not resolve
    back to the address, Java uses the address as the name.
    Remedy: set `client.dns.lookup: use_all_dns_ips`, Kafka's default; or correct the reverse DNS entry.
    """
    for probe in evidence.bootstraps:
        others = [name for name in probe.canonical if name.rstrip(".").lower() != probe.name.rstrip(".").lower()]
        if others:
            remedy = Remedy(("set `client.dns.lookup: use_all_dns_ips`",), ("correct the reverse DNS entries",))
            message = f"clients use another name for it: {', '.join(dict.fromkeys(others))}"
            seen = (f"client.dns.lookup: {evidence.dns_lookup}", f"addresses: {', '.join(probe.addresses)}")
            yield warning(f"bootstrap {probe.endpoint}", message, seen, remedy=remedy)


@check("BN301", Need.METADATA, explains=("BN202", "BN203"))
def advertised_name(evidence: Evidence) -> Iterator[CheckFinding]:
    """An advertised name does not resolve.

    Cause: Bootstrapping works, but the brokers advertise names that do not resolve here: {subjects}.
    What: metadata names a host that this machine's resolver does not know, and no rule translates it.
    Why: the broker advertises a name of its own network. Clients log `UnknownHostException` or `Host resolution
    failure`.
    Remedy: add a rule to the address map; or add a listener that advertises a name that resolves here.
    """
    for probed in dialled_nodes(evidence):
        path, reason = probed.path, probed.probe.dns_error
        if path.rule is None and reason and not _unanswered(probed):
            message = "the advertised name does not resolve on this machine"
            remedy = remedy_for(evidence, path)
            remedy = replace(remedy, client=(*_short_name_advice(evidence, path.broker.host), *remedy.client))
            yield error(probed, message, (reason,), remedy=remedy)


def _short_name_advice(evidence: Evidence, host: str) -> tuple[str, ...]:
    """Advice for a name of one label that is the first label of a known longer name."""
    ends = (*(each.endpoint for each in evidence.listeners), *(probe.endpoint for probe in evidence.bootstraps))
    names = (end.rpartition(":")[0] for end in ends)
    whole = next((name for name in names if "." not in host and name.startswith(f"{host}.")), None)
    if whole is None:
        return ()
    domain = whole.partition(".")[2]
    return (f"the short names may be those of `{domain}`: add `search {domain}` to /etc/resolv.conf of this machine",)


@check("BN307", explains=("BN102", "BN301", "BN305", "BN203"))
def name_server(evidence: Evidence) -> Iterator[CheckFinding]:
    """The name server does not answer.

    Cause: The name of {subjects} cannot be looked up{reason}.
    What: this machine's resolver gets no answer for a name, or the name server reports a failure. It is not known
    whether the name exists.
    Why: the name server is down or unreachable (a VPN that is not up, a firewall), or `/etc/resolv.conf` names the
    wrong one.
    Remedy: set a name server that answers in `/etc/resolv.conf`; until then use an address map with addresses.
    """
    for probed in probed_endpoints(evidence):
        if _unanswered(probed):
            seen = (f"resolver: {probed.probe.dns_error}",) if probed.probe.dns_error else ()
            fix = "check that the name servers of /etc/resolv.conf answer from here: `getent hosts NAME`"
            message = "the name server of this machine does not answer"
            if others := resolved_names(evidence):
                message = f"the name server has an answer for `{others[0]}`, and fails for this name"
                fix = f"ask the administrator of the name server or of the zone of `{probed.host}`: `dig {probed.host}`"
            yield finding(probed.severity, probed, message, seen, client=fix)


def _unanswered(probed: ProbedEndpoint) -> bool:
    """Name servers do not know names of one label or of a container, so these do not count."""
    resolved = probed.probe.resolve
    return resolved is not None and resolved.outcome == "no-answer" and not inside_name(probed.host)


@check("BN303")
def some_addresses_fail(evidence: Evidence) -> Iterator[CheckFinding]:
    """Some addresses of a name accept no connection.

    Cause: Some addresses of {subjects} accept no connection.
    What: a name has several addresses (A, AAAA), and some of them accept no connection. If only this machine has no
    route for IPv6, clients use the IPv4 addresses, and nothing is wrong.
    Why: IPv6 has no route, or a DNS record is old. Clients try the addresses in the resolver's order, so they fail from
    time to time. `localhost` is left out: it usually has an IPv4 and an IPv6 address, and the wrong one refuses at
    once.
    Remedy: correct the records.
    """
    for probed in probed_endpoints(evidence):
        failed = [f"{each.address}: {each.outcome}" for each in probed.probe.attempts if each.outcome != "connected"]
        node_ids = dict(probed.probe.identity.met) if probed.probe.identity is not None else {}
        leads = [f"{address}: node {node_id} answers" for address, node_id in node_ids.items()]
        if not probed.probe.connected or not failed or all(is_loopback(each) for each in probed.probe.addresses):
            continue
        if all(each.outcome == "connected" or each.without_ipv6 for each in probed.probe.attempts):
            message = "this machine has no route for the IPv6 addresses of the name; clients use the IPv4 addresses"
            yield info(probed, message, (*failed, *leads), explains=False)
        else:
            fix = "remove the addresses that do not work from DNS or from the hosts file"
            message = "some addresses of the name accept no connection"
            yield warning(probed, message, (*failed, *leads), client=fix, explains=False)


@check("BN316", Need.METADATA, explains=("BN104", "BN203", "BN302", "BN308", "BN309", "BN310", "BN315", "BN401"))
def one_address_for_all_names(evidence: Evidence) -> Iterator[CheckFinding]:
    """All advertised names have one address.

    Cause: The name server of this machine does not know the names of {subjects}{reason}.
    What: all advertised names resolve to the same single address, some of them with the same port, and no broker
    answers at that address. Only clients without TLS are checked, because a gateway may select the broker by the TLS
    server name.
    Why: the name server of a provider or of a company answers every unknown name with the address of its own page
    (wildcard DNS). The brokers' names are known in their own network only.
    Remedy: add rules to the address map; or use a name server that knows the names.
    """
    named = [each for each in dialled_nodes(evidence) if each.path.rule is None and _is_name(each)]
    hosts = {each.host.lower().rstrip(".") for each in named}
    ports = {each.path.broker.port for each in named}
    found = {each.probe.addresses for each in named}
    if len(hosts) <= len(ports) or len(found) != 1 or any(each.probe.hosts_entry for each in named):
        return
    (addresses,) = found
    if len(addresses) != 1 or evidence.security_protocol.endswith("SSL") or _has_a_broker(addresses[0], evidence):
        return
    for probed in named:
        advice = remedy_for(evidence, probed.path)
        compare = "compare `getent hosts no-such-name.example`: the name server may answer every name with this address"
        _, broker = known_kind(probed.host) or ("", "advertise names that the clients' name server knows")
        remedy = Remedy((compare, *advice.client), (broker,), advice.rules)
        message = f"it returns {addresses[0]} for all of them, and no broker answers there"
        yield error(probed, message, remedy=remedy, confidence=Confidence.LIKELY)


def _is_name(probed: ProbedEndpoint) -> bool:
    return address(probed.host) is None and not is_loopback(probed.host)


def _has_a_broker(place: str, evidence: Evidence) -> bool:
    """Whether Kafka answers at any endpoint of this address."""
    return any(place in each.addresses and each.speaks in ("kafka", "controller") for each in every_probe(evidence))


@check("BN306", explains=("BN103", "BN302", "BN305", "BN104", "BN501", "BN601", "BN602", "BN603", "BN611"))
def hosts_entry(evidence: Evidence) -> Iterator[CheckFinding]:
    """A hosts file entry decides this address.

    Cause: A line of this machine's hosts file has the wrong address for {subjects}{reason}.
    What: an entry of this machine's hosts file decides the address of a name. The finding is an error if the client
    fails at that address, and nothing shows that the address is right: no other entry of the same network leads to its
    node, or another node answers.
    Why: the hosts file overrides the name server on this machine only. Containers and other hosts do not have the
    entry, it is not updated when the broker moves, it cannot serve two clusters with the same names, and the client's
    configuration does not show it.
    Remedy: use a rule of the address map, which belongs to one client and is checked; or a name server that gives all
    clients the same answer.
    """
    for probed in probed_endpoints(evidence):
        line, failure = probed.probe.hosts_entry, probed.failure
        if line is None:
            continue
        seen = (f"/etc/hosts: {line}",)
        if failure is None or not _is_wrong(failure, probed):
            message = "a line of this machine's hosts file decides the address of the name"
            yield info(probed, message, seen, explains=False)
            continue
        tunnel = " or the forward there" if all(map(is_loopback, probed.probe.addresses)) else ""
        instead = "" if probed.path else ", or use an address as bootstrap server"
        remedy = Remedy(
            (f"correct or remove the line `{line}` of /etc/hosts{tunnel}{instead}",),
            () if resolved_names(evidence) else ("advertise a name that the clients' name server resolves",),
            proven_line(evidence, probed.path) if probed.path else (),
        )
        if exchange := _exchange(probed):
            remedy = Remedy((exchange,))
        message = f"clients fail at the address in the line `{line}`: {failure.words}"
        confidence = Confidence.PROVEN if failure.stage in _ANOTHER else Confidence.LIKELY
        yield finding(probed.severity, probed, message, seen, remedy=remedy, confidence=confidence)


def _exchange(probed: ProbedEndpoint) -> str | None:
    """What to exchange if this name's address leads to another node, and that node's name to this one."""
    other = nodes_by_id(probed.evidence).get(probed.probe.node_id)
    if probed.path is None or other is None or other.node == probed.node:
        return None
    if other.probe.node_id != probed.path.broker.node_id:
        return None
    one, two = sorted((probed.host, other.host))
    return f"exchange the addresses of `{one}` and `{two}` in /etc/hosts, or the forwards behind them"


def resolved_names(evidence: Evidence) -> list[str]:
    """The names of endpoints that a name server resolves."""
    found = (each for each in probed_endpoints(evidence) if each.probe.addresses and each.probe.hosts_entry is None)
    return [each.host for each in found if _is_name(each)]


_ANOTHER = ("identity", "cluster")
_SEVERAL = 2
"""So many other names with the same address show that it is meant for all of them."""


def _is_wrong(failure: Failure, probed: ProbedEndpoint) -> bool:
    """Whether the failure is at the line's address, and no other endpoint shows that the address may be right."""
    if failure.doubt or failure.stage not in (*_ANOTHER, "connect", "versions") or probed.at_own_name:
        return False
    others = [each for each in probed_endpoints(probed.evidence) if each.probe.endpoint != probed.probe.endpoint]
    right_lines = [each for each in others if each.probe.hosts_entry is not None and each.failure is None]
    if failure.stage in _ANOTHER:
        # One address for several names, at which one of the nodes answers: a gateway's, or a host of containers.
        names = {each.host for each in others if each.probe.hosts_entry is not None and each.shares_address(probed)}
        for_several = len(names) >= _SEVERAL or all(map(is_loopback, probed.probe.addresses))
        return not (for_several and any(each.shares_address(probed) for each in right_lines))
    # Lines beside it that lead to their nodes speak for this one: its node, forward or firewall fails.
    led_to = {one for each in right_lines for one in each.probe.addresses}
    beside = any(neighbours(one, own) for one in led_to for own in probed.probe.addresses)
    return not beside and not any(each.probe.answers and each.shares_address(probed) for each in others)
