"""Names: what the resolver of this machine makes of them, and what decides it."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.checks.queries import (
    ProbedEndpoint,
    bootstrap_servers,
    dialled_nodes,
    nearly_in,
    probed_endpoints,
    proven_line,
    remedy_for,
)
from brokernat.doctor.checks.registry import Need, check, error, finding, info, warning
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Failure, Remedy, Severity
from brokernat.doctor.host_kinds import inside_name, is_loopback


@check("BN102", explains=("BN305",))
def bootstrap_name(evidence: Evidence) -> Iterator[CheckFinding]:
    """A bootstrap server's name does not resolve.

    Cause: The name of {subjects} does not resolve on this machine.
    What: the resolver of this machine knows no address for the host of a bootstrap server.
    Why: a typing error, a name of another network, or a missing search domain. Clients drop such an entry: where
    another server answers, if only to refuse the login, they go on with that one, so this is a warning.
    Remedy: correct the name, or use an address.
    """
    for probed in bootstrap_servers(evidence):
        if probed.probe.dns_error and not _unanswered(probed):
            fix = "correct the name in `bootstrap_servers`, or write an address that is reached from here"
            message = "the name does not resolve on this machine"
            yield finding(probed.severity, probed, message, (probed.probe.dns_error,), client=fix)


@check("BN106")
def canonical_names(evidence: Evidence) -> Iterator[CheckFinding]:
    """A bootstrap server's canonical name is another.

    Cause: The name server calls {subjects} something else.
    What: `client.dns.lookup` asks for canonical names, and the name server has another name for a bootstrap server's
    address. From then on clients call the server so: for TLS, for Kerberos, and for the address map.
    Why: the reverse entry is a gateway's, a cloud provider's, or missing. Where the name does not lead back to the
    address, Java takes the address itself for the name.
    Remedy: `client.dns.lookup: use_all_dns_ips`, Kafka's default; or a right reverse entry.
    """
    for probe in evidence.bootstraps:
        others = [name for name in probe.canonical if name.rstrip(".").lower() != probe.name.rstrip(".").lower()]
        if others:
            remedy = Remedy(
                ("set `client.dns.lookup: use_all_dns_ips`",), ("correct the reverse entries of the name server",)
            )
            message = f"clients take it for {', '.join(dict.fromkeys(others))}"
            seen = (f"client.dns.lookup: {evidence.dns_lookup}", f"addresses: {', '.join(probe.addresses)}")
            yield warning(f"bootstrap {probe.endpoint}", message, seen, remedy=remedy)


@check("BN301", Need.METADATA, explains=("BN202", "BN203"))
def advertised_name(evidence: Evidence) -> Iterator[CheckFinding]:
    """An advertised name does not resolve.

    Cause: The bootstrap servers answer, and tell clients to dial names that do not resolve: {subjects}.
    What: metadata names a host that the resolver of this machine does not know, and no rule leads elsewhere.
    Why: the broker advertises a name of its own network. Clients log `UnknownHostException` or `Host resolution
    failure`.
    Remedy: a rule of the address map; or a listener that advertises a name for this side.
    """
    for probed in dialled_nodes(evidence):
        path, reason = probed.path, probed.probe.dns_error
        if path is not None and path.rule is None and reason and not _unanswered(probed):
            message = "the advertised name does not resolve on this machine"
            yield error(probed, message, (reason,), remedy=remedy_for(evidence, path))


@check("BN307", explains=("BN102", "BN301", "BN305", "BN203"))
def name_server(evidence: Evidence) -> Iterator[CheckFinding]:
    """The name server does not answer.

    Cause: The name server of this machine does not answer for {subjects}.
    What: the resolver of this machine gets no answer for a name, or one that the name server cannot tell. Whether the
    name exists is not known.
    Why: the name server is down, is not reached (a VPN that is not up, a firewall), or `/etc/resolv.conf` names another
    one.
    Remedy: a name server that answers, in `/etc/resolv.conf`; until then an address map with addresses.
    """
    for probed in probed_endpoints(evidence):
        if _unanswered(probed):
            seen = (f"resolver: {probed.probe.dns_error}",) if probed.probe.dns_error else ()
            fix = "see that the name servers of /etc/resolv.conf answer from here: `getent hosts NAME`"
            message = f"the resolver gets no answer for `{probed.host}`"
            yield finding(probed.severity, probed, message, seen, client=fix)


def _unanswered(probed: ProbedEndpoint) -> bool:
    """Names of one label or of a container are no name server's to know."""
    resolved = probed.probe.resolve
    return resolved is not None and resolved.outcome == "no-answer" and not inside_name(probed.host)


@check("BN303")
def some_addresses_fail(evidence: Evidence) -> Iterator[CheckFinding]:
    """Some addresses of a name take no connection.

    Cause: Some addresses of {subjects} take no connection.
    What: a name has several addresses (A, AAAA) and not all take a connection.
    Why: IPv6 without a route, or an old record. Clients try them in the order of the resolver, so it fails now and
    then. `localhost` is left out: it has both kinds of address everywhere, and refuses at once on the wrong one.
    Remedy: correct the records.
    """
    for probed in probed_endpoints(evidence):
        failed = [f"{each.address}: {each.outcome}" for each in probed.probe.attempts if each.outcome != "connected"]
        node_ids = dict(probed.probe.identity.met) if probed.probe.identity is not None else {}
        leads = [f"{address}: node {node_id} answers" for address, node_id in node_ids.items()]
        if probed.probe.connected and failed and not all(is_loopback(each) for each in probed.probe.addresses):
            fix = "remove the addresses that do not work from DNS or from the hosts file"
            message = "some addresses of the name take no connection"
            yield warning(probed, message, (*failed, *leads), client=fix, explains=False)


@check("BN306", explains=("BN103", "BN302", "BN305", "BN104", "BN501", "BN601", "BN602", "BN603", "BN611"))
def hosts_entry(evidence: Evidence) -> Iterator[CheckFinding]:
    """A hosts file entry decides this name.

    Cause: A line of this machine's hosts file leads to the wrong place for {subjects}{reason}.
    What: a line of this machine's hosts file decides where a name leads. Where the way ends there, it is an error.
    Why: it stands above the name server, on this machine only. It is not there in containers and on other hosts, it
    does not follow when the broker moves, two clusters with the same names cannot both be meant, and nobody sees it in
    the client's configuration.
    Remedy: a rule of the address map, which belongs to one client and is checked; or a name server that says the same
    for all.
    """
    for probed in probed_endpoints(evidence):
        line, failure = probed.probe.hosts_entry, probed.failure
        if line is None:
            continue
        seen = (f"/etc/hosts: {line}",)
        if failure is None or not _leads_astray(failure, probed, evidence):
            message = "a line of this machine's hosts file decides where the name leads"
            yield info(probed, message, seen, explains=False)
            continue
        remedy = Remedy(
            (f"correct or remove the line `{line}` of /etc/hosts{'' if probed.path else _OR_AN_ADDRESS}",),
            ("advertise a name that the clients' name server knows",),
            proven_line(evidence, probed.path) if probed.path else (),
        )
        severity = Severity.WARNING if probed.path is None and nearly_in(evidence.bootstraps) else Severity.ERROR
        message = f"the line `{line}` leads there: {failure.words}"
        confidence = Confidence.PROVEN if failure.stage in _ANOTHER else Confidence.LIKELY
        yield finding(severity, probed, message, seen, remedy=remedy, confidence=confidence)


_ANOTHER = ("identity", "cluster")
_OR_AN_ADDRESS = ", or give an address as bootstrap server"


def _leads_astray(failure: Failure, probed: ProbedEndpoint, evidence: Evidence) -> bool:
    """Whether the line's address is where the way ends; not where other endpoints of the same address answer."""
    if failure.doubt or failure.stage not in (*_ANOTHER, "connect", "versions"):
        return False
    others = (each.probe for each in probed_endpoints(evidence) if each.probe.endpoint != probed.probe.endpoint)
    shared = any(each.answers and set(each.addresses) & set(probed.probe.addresses) for each in others)
    return failure.stage in _ANOTHER or not shared
