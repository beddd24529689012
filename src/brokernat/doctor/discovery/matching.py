"""Finds the candidate for each node, or the reason why there is none; pure.

The map is for one listener: if the bootstrap servers belong to several, the one with most proven nodes. A candidate
leads to a node if this node answers on enough connections, with the same cluster and listener. The right broker on
another listener advertises other endpoints, so a client that reads metadata there no longer uses the map. Two
candidates for one node are a conflict: both may be right, and neither is preferred, except the advertised endpoint
itself, which needs no rule. A candidate that was not probed in time is unknown, which differs from a node without a
candidate.

**Enough connections.** A load balancer over two nodes is the hardest to detect, in a cluster of any size. If it chooses
evenly at random, it reaches the same node again with probability 1/2. After eight further connections at each address
of a name, 1 in 256 is taken for a node (`identity.samples`, which the doctor uses too). A round-robin balancer shows at
the second connection. Assumptions: the choice is even (a balancer that sends nine of ten connections to one node is
missed in 43 % of such tries), it is made for each connection, and it does not depend on the client's address. The last
case shows only with connections from several addresses (`sweep.sources`). A standby that takes over when a node fails
cannot be seen before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from brokernat.address import Endpoint
from brokernat.doctor.broker_files.listeners import node_listeners
from brokernat.doctor.checks.registry import error, warning
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Advertised, EndpointProbe, Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy, Severity
from brokernat.doctor.host_kinds import dialable
from brokernat.doctor.probes.identity import samples
from brokernat.errors import Location
from brokernat.text import counted

# The checks that a bootstrap server alone can fail, and those after which the list of nodes may be incomplete.
_ABOUT_SERVERS = ("BN005", "BN1", "BN3", "BN4", "BN5")

_NO_KAFKA = "BN104"
_OF_SETTINGS = ("BN401", "BN404", "BN407")
_NOT_PROVABLE = "BN604"
_NOT_KNOWN = "BN004"
_NOT_PROBED = "not probed in time (see --timeout)"
_FAULTS = {
    "silent": "it accepts connections and stays silent",
    "stalled": "its answer stops in the middle",
    "closed": "it closes the connection",
    "reset": "it resets the connection",
    "cut": "its answer is cut",
}
"""The outcomes of a stage that a broker, a balancer or a firewall may cause."""
_SLOW = ("silent", "stalled")
_SILENCE = {"refused": "refused", "timeout": "no answer", "unreachable": "no route"}
_MORE_TIME = Remedy(("give more time: `--timeout SECONDS`",))
_FEW = 3
# A client finds all brokers through any of its bootstrap servers that answers.
_SERVERS = 3
_MIXED_LISTENERS = "BN502"
_INCOMPLETE_SET = {"BN501", "BN503"}
_DOWN = "BN507"


@dataclass(frozen=True, slots=True)
class Swept:
    """The results of a sweep. `evidence` is about the bootstrap servers only; `candidates` are probes in the given
    order, empty if no bootstrap server answers. `one_source` is whether all connections to some candidate came from one
    address.
    """

    evidence: Evidence
    candidates: tuple[EndpointProbe, ...]
    one_source: bool = False


@dataclass(frozen=True, slots=True)
class MatchedNode:
    """A node, its advertised endpoint, and the candidate that leads to it; it answered on `connections` connections."""

    node_id: int
    advertised: str
    candidate: str
    method: str
    confidence: Confidence
    connections: int


@dataclass(frozen=True, slots=True)
class Discovery:
    """The proven results for the nodes that `listener` advertises.

    `matched` has at most one entry for each node. `bootstrap_servers` are those of the listener that clients with the
    map accept. `one_source` is whether a balancer that chooses by the client's address would be missed. `silent` counts
    candidates without Kafka, by outcome. `undecided` is whether some candidate may lead to a node that has none.
    Everything except `findings` is empty if no bootstrap server answers.
    """

    cluster: str
    cluster_id: str | None
    listener: str | None
    taken_at: str
    nodes: tuple[Advertised, ...]
    matched: tuple[MatchedNode, ...]
    findings: tuple[CheckFinding, ...]
    silent: Mapping[str, int]
    bootstrap_servers: tuple[str, ...] = ()
    one_source: bool = False
    undecided: bool = False

    @property
    def servers_of_first_file(self) -> tuple[str, ...]:
        """The bootstrap servers for a new file: the given ones, and proven endpoints until there are three."""
        proven = [each.candidate for each in self.matched] if self.whole else []
        known = dict.fromkeys((*self.bootstrap_servers, *proven))
        return (*known,)[: max(_SERVERS, len(self.bootstrap_servers))]

    @property
    def answered(self) -> bool:
        """Whether any bootstrap server answered."""
        return bool(self.nodes) or self.cluster_id is not None

    @property
    def missing(self) -> tuple[Advertised, ...]:
        """The nodes without a proven candidate."""
        found = {each.node_id for each in self.matched}
        return tuple(node for node in self.nodes if node.node_id not in found)

    @property
    def mixed(self) -> bool:
        """Whether the bootstrap servers belong to several listeners; this result is about one of them."""
        return _MIXED_LISTENERS in self._errors

    @property
    def complete(self) -> bool:
        """Whether every node of the listener is known and matched."""
        down = any(each.code == _DOWN for each in self.findings)
        return bool(self.nodes) and not self.missing and not down and not self._errors & _INCOMPLETE_SET

    @property
    def whole(self) -> bool:
        """Whether the map is complete and fits all of the bootstrap servers."""
        return self.complete and not self.mixed

    @property
    def direct(self) -> bool:
        """Whether every broker can be dialled at its advertised endpoint, so that no map is needed."""
        return self.complete and all(each.advertised == each.candidate for each in self.matched)

    @property
    def _errors(self) -> set[str]:
        return {each.code for each in self.findings if each.severity is Severity.ERROR}


def match(swept: Swept) -> Discovery:
    """The candidate that leads to each node."""
    evidence = swept.evidence
    findings = _about_servers(evidence)
    answering = [probe for probe in evidence.bootstraps if probe.answers]
    if not answering:
        return Discovery(evidence.cluster, None, None, evidence.taken_at, (), (), tuple(findings), {})
    listeners: dict[object, list[EndpointProbe]] = {}
    for probe in answering:
        if probe.cluster_id == answering[0].cluster_id:
            listeners.setdefault(probe.brokers, []).append(probe)
    discoveries = [_of_listener(servers, swept, findings) for servers in listeners.values()]
    return max(discoveries, key=lambda each: (each.direct, len(each.matched), len(each.bootstrap_servers)))


def _of_listener(servers: Sequence[EndpointProbe], swept: Swept, about_servers: Sequence[CheckFinding]) -> Discovery:
    """The discovery for the listener that these bootstrap servers belong to."""
    evidence, home = swept.evidence, servers[0]
    keep = f"keep the bootstrap servers of one listener only: {','.join(probe.endpoint for probe in servers)}"
    findings = [
        replace(each, remedy=Remedy((keep,), each.remedy.broker)) if each.code == _MIXED_LISTENERS else each
        for each in about_servers
    ]
    leads: dict[int, list[EndpointProbe]] = defaultdict(list)
    silent = Counter(_silence(probe) for probe in swept.candidates if not probe.connected)
    doubts: list[CheckFinding] = []
    for probe in swept.candidates:
        if probe.connected:
            reasons = list(_reasons(probe, home, evidence))
            doubts += reasons
            if not reasons and probe.node_id is not None:
                leads[probe.node_id].append(probe)
    nodes = home.brokers or ()
    all_lead_to_one = len(leads) == 1 < len(nodes)
    unknown = sum(each.remedy == _MORE_TIME for each in doubts) + silent[_NOT_PROBED]
    unproven = sum(each.code in (_NOT_KNOWN, _NOT_PROVABLE) and each.remedy != _MORE_TIME for each in doubts)
    matched: list[MatchedNode] = []
    for node in nodes:
        probes = [each for each in leads[node.node_id] if each.endpoint == node.endpoint] or leads[node.node_id]
        if missing := _unmatched(node, nodes, probes, unknown, unproven, all_lead_to_one=all_lead_to_one):
            findings.append(missing)
        elif (identity := probes[0].identity) is not None:
            found = identity.method, Confidence(identity.confidence), identity.connections
            matched.append(MatchedNode(node.node_id, node.endpoint, probes[0].endpoint, *found))
    if len(matched) == len(nodes):
        # A web server among a host's ports is reported only if a broker is missing.
        silent["no Kafka"] = sum(each.code == _NO_KAFKA for each in doubts)
        doubts = [each for each in doubts if each.code != _NO_KAFKA]
    return Discovery(
        evidence.cluster,
        home.cluster_id,
        listener_name(home),
        evidence.taken_at,
        nodes,
        tuple(matched),
        (*findings, *doubts),
        dict(+silent),
        _servers(servers, matched),
        swept.one_source,
        bool(unknown or unproven),
    )


def _servers(probes: Sequence[EndpointProbe], matched: Sequence[MatchedNode]) -> tuple[str, ...]:
    """The bootstrap servers for the map.

    If all certificates are for other names than the servers' hosts, these are advertised endpoints: the map leads to
    them, and clients expect their names.
    """
    every = tuple(probe.endpoint for probe in probes)
    fitting = tuple(
        probe.endpoint
        for probe in probes
        if probe.tls is None or probe.rule or Endpoint.parse(probe.endpoint).host == probe.name
    )
    return fitting or tuple(each.advertised for each in matched[:_FEW]) or every


def _about_servers(evidence: Evidence) -> list[CheckFinding]:
    found = diagnose(evidence).findings
    return [each for each in found if each.code.startswith(_ABOUT_SERVERS) and each.severity is not Severity.INFO]


def _reasons(probe: EndpointProbe, home: EndpointProbe, evidence: Evidence) -> Iterator[CheckFinding]:
    """Why a candidate that accepted a connection matches no node; only the first reason."""
    outcome = getattr(probe, probe.failed or "connect").outcome
    if not probe.complete:
        yield _not_known(probe, "the time ran out before it was seen what answers", _MORE_TIME)
    elif outcome == "not-tried" and probe.sasl is not None:
        yield _not_known(probe, probe.sasl.detail)
    elif not probe.answers:
        alone = [] if outcome in _SLOW else _about_servers(replace(evidence, bootstraps=(probe,), replicas=None))
        if outcome in _FAULTS:
            yield _not_known(probe, _FAULTS[outcome], alone[0].remedy if alone else _MORE_TIME)
            return
        works = f"this client's settings work at {home.endpoint}: correct the listener or the forward of this one"
        for found in alone or [_doubt(probe, _NO_KAFKA, "it takes connections, and no Kafka answers")]:
            if found.code in _OF_SETTINGS:
                found = replace(found, hint=None, remedy=Remedy(broker=(works,)))
            yield replace(found, severity=Severity.WARNING, location=Location(f"candidate {probe.endpoint}"))
    elif probe.cluster_id != home.cluster_id:
        words = f"it leads to cluster {probe.cluster_id}, not to {home.cluster_id}"
        yield _doubt(probe, "BN501", words, _advertises(probe))
    elif probe.identity is not None and probe.identity.other_clusters:
        met = ", ".join(map(str, (home.cluster_id, *probe.identity.other_clusters)))
        yield _doubt(probe, "BN501", f"it leads to several clusters: {met}", _advertises(probe))
    else:
        yield from _wrong_place(probe, home)


def _wrong_place(probe: EndpointProbe, home: EndpointProbe) -> Iterator[CheckFinding]:
    identity = probe.identity
    who = "a broker" if probe.node_id is None else f"node {probe.node_id}"
    if identity is not None and identity.others:
        met = ", ".join(map(str, (identity.node_id, *identity.others)))
        what = "a name with several addresses" if len(probe.addresses) > 1 else "a load balancer"
        yield _doubt(probe, "BN602", f"{what}: different nodes answer, {met}")
    elif probe.brokers != home.brokers:
        name = listener_name(probe)
        there = f"on listener {name}, not on that of the bootstrap servers" if name else "on another listener"
        remedy = Remedy(("use the port of the listener of the bootstrap servers",))
        yield _doubt(probe, "BN603", f"{who} {there}", _advertises(probe), remedy)
    elif probe.node_id is None:
        remedy = Remedy(broker=("allow this user to DESCRIBE_CONFIGS on the cluster",))
        seen = (identity.detail,) if identity and identity.detail else ()
        yield _doubt(probe, _NOT_PROVABLE, "a broker of this cluster, but its node id cannot be proven", seen, remedy)
    elif probe.node_id not in home.node_ids:
        yield _doubt(probe, "BN503", f"{who}, which the bootstrap servers do not advertise")
    elif undecided(probe, len(home.node_ids)):
        answered, enough = _answered(probe), _enough(len(home.node_ids))
        reason = f"{who} answered on {answered} connections, and {enough} are needed to rule out a balancer"
        yield _not_known(probe, reason, _MORE_TIME)


def one_node(probe: EndpointProbe) -> object | None:
    """The node that answers here with its cluster and what its listener advertises; None if several may answer."""
    known = probe.identity is not None and probe.node_id is not None and probe.identity.alone
    return (probe.node_id, probe.cluster_id, probe.brokers) if known else None


def undecided(probe: EndpointProbe, nodes: int) -> bool:
    """Whether a node answered on too few connections to rule out a balancer over the nodes of the cluster."""
    return one_node(probe) is not None and _answered(probe) < _enough(nodes)


def _enough(nodes: int) -> int:
    return 1 + samples(min(nodes, 2))


def _answered(probe: EndpointProbe) -> int:
    """The number of connections on which the node answered, at the address with the fewest."""
    if probe.identity is None:
        return 0
    met = {address for address, _ in probe.identity.met}
    return probe.identity.connections if met.issuperset(probe.accepting) else 0


def _unmatched(
    node: Advertised,
    nodes: Sequence[Advertised],
    probes: Sequence[EndpointProbe],
    unknown: int,
    unproven: int,
    *,
    all_lead_to_one: bool,
) -> CheckFinding | None:
    """Why a node has no candidate.

    `unknown` is the number of incompletely probed candidates, `unproven` that of others that do not show their node;
    `all_lead_to_one` is whether all other candidates lead to one node.
    """
    remedy = Remedy()
    if not dialable(node.host, node.port):
        message = "what it advertises is no endpoint that a rule could name"
    elif same := [each for each in nodes if each.endpoint == node.endpoint and each != node]:
        others = ", ".join(str(each.node_id) for each in same)
        message = f"node {others} advertises the same endpoint, and no rule can tell them apart"
    elif not probes and unknown:
        message = f"not known: {counted(unknown, 'candidate was', 'candidates were')} not probed to the end"
        remedy = _MORE_TIME
    elif not probes and unproven:
        message = f"not known: {counted(unproven, 'candidate does', 'candidates do')} not show which node answers"
    elif not probes:
        message = "no candidate leads to it"
    elif len(probes) > 1:
        message = f"several candidates lead to it: {', '.join(probe.endpoint for probe in probes)}"
        remedy = Remedy(("name one of them in `--candidates`",))
        if all_lead_to_one:
            message += "; none leads to another node: these forwards have one target, or a balancer chooses for them"
            remedy = Remedy(broker=("give each node a forward or an endpoint of its own",))
    else:
        return None
    return error(f"node {node.node_id} at {node.endpoint}", message, remedy=remedy, code="BN605")


def listener_name(probe: EndpointProbe) -> str | None:
    """The listener name, if the broker's settings are known: the listener that advertises the same as this endpoint."""
    own = next((each.endpoint for each in probe.brokers or () if each.node_id == probe.node_id), None)
    return next((each.name for each in node_listeners(probe).advertised if each.endpoint == own), None)


def _advertises(probe: EndpointProbe) -> tuple[str, ...]:
    return (f"it advertises: {', '.join(map(str, probe.brokers or ()))}",)


def _doubt(
    probe: EndpointProbe, code: str, message: str, seen: Sequence[str] = (), remedy: Remedy | None = None
) -> CheckFinding:
    return warning(f"candidate {probe.endpoint}", message, seen, remedy=remedy, code=code)


def _not_known(probe: EndpointProbe, reason: str, remedy: Remedy | None = None) -> CheckFinding:
    return _doubt(probe, _NOT_KNOWN, f"not known: {reason}", remedy=remedy)


def _silence(probe: EndpointProbe) -> str:
    """The most informative outcome: `refused` before a timeout."""
    if not probe.complete:
        return _NOT_PROBED
    if probe.dns_error:
        return "name does not resolve"
    seen = {attempt.outcome for attempt in probe.attempts}
    return next((words for outcome, words in _SILENCE.items() if outcome in seen), "name does not resolve")
