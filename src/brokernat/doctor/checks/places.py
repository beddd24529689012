"""The places that checks judge: each bootstrap server and node once, with its failure and its neighbours; pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from brokernat.address.endpoint import bracketed
from brokernat.doctor.checks.failures import bootstrap_failure, once, path_failure
from brokernat.doctor.checks.proven_rules import known_line
from brokernat.doctor.checks.registry import Place
from brokernat.doctor.evidence import BrokerPath, EndpointProbe, Evidence, Stage, TlsHandshake
from brokernat.doctor.finding import Failure, Severity


@dataclass(frozen=True, slots=True)
class ProbedEndpoint(Place):
    """A probed bootstrap server or node; `path` is None for a bootstrap server."""

    # Not compared, because then a hash would visit the whole evidence.
    evidence: Evidence = field(repr=False, compare=False)
    probe: EndpointProbe
    path: BrokerPath | None = None

    @property
    def host(self) -> str:
        """The host that is dialled."""
        return self.probe.endpoint.rpartition(":")[0].strip("[]")

    @property
    def node(self) -> str:
        """The expected node, as in `node 1`; `the broker` for a bootstrap server."""
        return "the broker" if self.path is None else f"node {self.path.broker.node_id}"

    @property
    def at_own_name(self) -> bool:
        """Whether the host is this machine's own name, by the line that Debian writes: `127.0.1.1 [FQDN] NAME`.

        With the name of another machine, the line is a copied or wrong one.
        """
        found = self.probe.resolve
        return found is not None and found.own_name and (found.hosts_entry or "").split()[:1] == ["127.0.1.1"]

    @property
    def strangers(self) -> dict[str, str]:
        """The addresses of the name that lead to another cluster, with its id."""
        return dict(self.probe.identity.strangers) if self.probe.identity is not None else {}

    @property
    def severity(self) -> Severity:
        """A warning for a bootstrap server if clients can use another one, or almost can; otherwise an error."""
        others = [probe for probe in self.evidence.bootstraps if probe is not self.probe]
        return Severity.WARNING if self.path is None and _nearly_in(others) else Severity.ERROR

    def others_past(self, stage: Stage) -> tuple[ProbedEndpoint, ...]:
        """The other nodes at which this client passes a stage with its configuration."""
        nodes = (each for each in dialled_nodes(self.evidence) if each.node != self.node)
        return tuple(each for each in nodes if each.probe.endpoint != self.probe.endpoint and _past(stage, each.probe))

    @property
    def removable(self) -> bool:
        """Whether it is a bootstrap server that clients do not need: another one answers, and no node fails."""
        others = (probe for probe in self.evidence.bootstraps if probe.endpoint != self.probe.endpoint)
        nodes_work = failing(self.evidence).isdisjoint(map(node, self.evidence.paths))
        return self.path is None and any(each.answers for each in others) and nodes_work

    def bootstraps_past(self, stage: Stage) -> bool:
        """Whether this client passes a stage at a bootstrap server with its configuration."""
        return any(probe.answers and _past(stage, probe) for probe in self.evidence.bootstraps)

    @property
    def proven_elsewhere(self) -> tuple[str, ...]:
        """The rule to another endpoint, at which the node has proven its id."""
        lines = () if self.path is None else known_line(self.evidence, self.path)
        return tuple(line for line in lines if not line.endswith(f" = {self.probe.endpoint}"))

    def shares_address(self, other: ProbedEndpoint) -> bool:
        """Whether both names have an address in common."""
        return not set(self.probe.addresses).isdisjoint(other.probe.addresses)

    @property
    def reached_beside(self) -> list[str]:
        """The names of the other nodes that are reached where they advertise, at an address of this one."""
        at = _reached_by_address(self.evidence)
        names = dict.fromkeys(name for place in self.probe.addresses for name in at.get(place, ()))
        return [name for name in names if name != self.node]

    @property
    def answering_listeners(self) -> list[str]:
        """The endpoints of this node's other listeners that answer."""
        return [
            each.endpoint
            for each in self.evidence.listeners
            if self.path is not None and each.node_id == self.path.broker.node_id and each.probe is not None
            if each.probe.answers and each.probe.node_id in (None, each.node_id)
            if each.probe.endpoint != self.probe.endpoint
        ]

    @property
    def at_same_address(self) -> list[DialledNode]:
        """The nodes, this one too, that are dialled at the same addresses and port."""
        own = self.probe.addresses, self.probe.port
        return [each for each in dialled_nodes(self.evidence) if (each.probe.addresses, each.probe.port) == own]

    @property
    def chosen_by_name(self) -> str | None:
        """What to correct if a gateway at this address chooses the broker by the TLS name: different nodes answer."""
        if self.path is None:
            return None
        by_tls = [each for each in self.at_same_address if each.probe.tls is not None]
        met = {each.probe.node_id for each in by_tls if each.probe.identity and each.probe.identity.alone}
        proven = [each for each in by_tls if each.failure is None and each.probe.node_id == each.path.broker.node_id]
        known = nodes_of([each for each in proven if each.probe.name != self.probe.name])
        # With one node, something else than a broker answers for this name.
        if len(met - {None}) < _FEWEST and not (known and self.probe.protocol):
            return None
        by_name = f"the gateway at {self.probe.endpoint} chooses the broker by the TLS name (SNI)"
        by_name += f" and knows {known}" if known else ""
        return f"{by_name}: add or correct `{self.path.broker.host}` there, for {self.node}"

    @property
    def is_behind_gateway(self) -> bool:
        """Whether a forward leads to this node: a rule names it, or several nodes are at one address."""
        if self.path is None or self.path.rule:
            return self.path is not None
        addresses = {self.host, *self.probe.addresses}
        others = (each for each in dialled_nodes(self.evidence) if each.node != self.node)
        return any(not addresses.isdisjoint({each.host, *each.probe.addresses}) for each in others)


@dataclass(frozen=True, slots=True)
class DialledNode(ProbedEndpoint):
    """A node for which an endpoint was dialled."""

    path: BrokerPath


def nodes_of(places: Sequence[ProbedEndpoint]) -> str:
    """`node 1, node 3`, for the evidence of a comparison."""
    return ", ".join(dict.fromkeys(each.node for each in places if each.path is not None))


def place_of(path: BrokerPath, evidence: Evidence) -> Place:
    """The place of a node, even if nothing was dialled for it."""
    return Place(node(path), path_failure(path, evidence))


@once
def probed_endpoints(evidence: Evidence) -> tuple[ProbedEndpoint, ...]:
    """Every endpoint once. For a node at the endpoint of a working bootstrap server it is the server, otherwise the
    node.

    A fault of only a bootstrap server may be a warning; a fault of a node is an error.
    """
    nodes = dialled_nodes(evidence)
    of_nodes = set(map(_same, nodes))
    servers = [each for each in bootstrap_servers(evidence) if each.failure is None or _same(each) not in of_nodes]
    kept = set(map(_same, servers))
    return (*servers, *(each for each in nodes if _same(each) not in kept))


def every_probe(evidence: Evidence) -> tuple[EndpointProbe, ...]:
    """The probes of bootstrap servers, nodes and listeners."""
    ends = (each.probe for each in probed_endpoints(evidence))
    return (*ends, *(each.probe for each in evidence.listeners if each.probe is not None))


def _same(each: ProbedEndpoint) -> tuple[str, str, Failure | None]:
    """The key of a probe: equal keys mean the same endpoint in the same state."""
    return each.probe.endpoint, each.probe.name, each.failure


def bootstrap_servers(evidence: Evidence) -> Iterator[ProbedEndpoint]:
    """All bootstrap servers, in the order of the configuration."""
    for probe in evidence.bootstraps:
        yield ProbedEndpoint(bootstrap(probe), bootstrap_failure(probe, evidence), evidence, probe)


@once
def dialled_nodes(evidence: Evidence) -> tuple[DialledNode, ...]:
    """The probes of nodes, even if a bootstrap server has the same endpoint."""
    return tuple(
        DialledNode(node(path), path_failure(path, evidence), evidence, path.probe, path)
        for path in evidence.paths
        if path.probe is not None
    )


@once
def nodes_by_id(evidence: Evidence) -> dict[int | None, DialledNode]:
    """The dialled nodes by the id that is expected there."""
    return {each.path.broker.node_id: each for each in dialled_nodes(evidence)}


@once
def _reached_by_address(evidence: Evidence) -> dict[str, list[str]]:
    """The names of the nodes that are reached where they advertise, by address."""
    found: dict[str, list[str]] = {}
    for each in dialled_nodes(evidence):
        if each.failure is None and each.path.rule is None:
            for place in each.probe.addresses:
                found.setdefault(place, []).append(each.node)
    return found


def handshakes(evidence: Evidence) -> list[tuple[ProbedEndpoint, TlsHandshake]]:
    """The probed endpoints with TLS."""
    return [(probed, probed.probe.tls) for probed in probed_endpoints(evidence) if probed.probe.tls is not None]


def places(evidence: Evidence) -> Iterator[Place]:
    """Every bootstrap server and every node."""
    yield from bootstrap_servers(evidence)
    yield from (place_of(path, evidence) for path in evidence.paths)


@once
def failing(evidence: Evidence) -> frozenset[str]:
    """The subjects of the bootstrap servers and nodes that do not work for clients."""
    return frozenset(each.subject for each in places(evidence) if not each.works)


def _past(stage: Stage, probe: EndpointProbe) -> bool:
    """Whether this client passes a stage there."""
    result = getattr(probe, stage)
    return result is not None and result.ok


def node(path: BrokerPath) -> str:
    """How a report names a node."""
    return f"node {path.broker.node_id} at {path.broker.endpoint}"


def is_node(probe: EndpointProbe | None, node_id: int) -> bool:
    """Whether this node, and no other one, answered at the endpoint."""
    identity = probe.identity if probe is not None else None
    return identity is not None and identity.node_id == node_id and identity.alone


def unreachable(probe: EndpointProbe) -> str | None:
    """Why there is no connection; None if there is one or none was tried."""
    if probe.dns_error:
        return f"the name does not resolve: {probe.dns_error}"
    if probe.connected or not probe.attempts:
        return None
    return ", ".join(f"{each.address} {_TRIED[each.outcome]}" for each in probe.attempts)


def is_of_own_versions(evidence: Evidence, probe: EndpointProbe) -> bool:
    """Whether the handshake fails by the TLS versions, and the client's configuration names its own."""
    tls = probe.tls
    return tls is not None and tls.outcome == "failed" and "PROTOCOL" in tls.detail and bool(evidence.tls_versions)


def listener_of(evidence: Evidence, servers: Sequence[EndpointProbe]) -> str | None:
    """The listener name of these bootstrap servers; None if the settings of one of them are unknown."""
    names = [{each.name for each in evidence.listeners if probe.endpoint in each.entered} for probe in servers]
    return next(iter(names[0])) if names and len(names[0]) == 1 and all(each == names[0] for each in names) else None


def acl_line(evidence: Evidence, right: str) -> str:
    """The command that grants the client's user a right. The name in a certificate depends on the brokers' mapping
    rules, so it is left to fill in.
    """
    server = next((probe.endpoint for probe in evidence.bootstraps if probe.answers), "HOST:PORT")
    user = shlex.quote(f"User:{evidence.user or 'NAME'}")
    return f"kafka-acls.sh --bootstrap-server {server} --add --allow-principal {user} {right}"


def server_of(probe: EndpointProbe) -> str:
    """A bootstrap server as the user wrote it; a rule may translate it."""
    if probe.rule is None:
        return probe.endpoint
    written = _PORT.search(probe.rule.partition("=")[0])
    # A rule without a port keeps the port of the endpoint.
    port = written[1] if written is not None else probe.port
    return f"{bracketed(probe.name)}:{port}"


def bootstrap(probe: EndpointProbe) -> str:
    """How a report names a bootstrap server."""
    server = server_of(probe)
    return f"bootstrap {server}" if server == probe.endpoint else f"bootstrap {server}, dialled at {probe.endpoint}"


def _nearly_in(probes: Iterable[EndpointProbe]) -> bool:
    """Whether clients can use some bootstrap server, or could after a fix of TLS, login or metadata."""
    return any(
        probe.answers
        or (probe.speaks in ("kafka", "tls") and not probe.slow)
        or (probe.tls is not None and probe.tls.outcome in _MENDABLE)
        for probe in probes
    )


def reached_from_here(evidence: Evidence) -> set[int]:
    """The nodes that answered the doctor, or Kafka's own client in the driver's JVM."""
    seen = {path.broker.node_id for path in evidence.paths if path.answers}
    of_driver = (node for each in evidence.executors if each.is_driver for node in each.nodes)
    return seen.union(node.node_id for node in of_driver if node.reached)


_PORT = re.compile(r":(\d+)$")
# This many nodes that answer at one address, by different TLS names, show a gateway.
_FEWEST = 2
_MENDABLE = ("name-mismatch", "expired", "untrusted", "unfit", "client-certificate")
_TRIED = {
    "refused": "refused the connection",
    "timeout": "did not answer",
    "unreachable": "has no route from here",
    "connected": "connected",
}
