"""What several checks look up in the evidence, and the map lines that it proves; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from brokernat.address import AddressMap, LintFinding, lint
from brokernat.doctor.checks.failures import bootstrap_failure, once, path_failure
from brokernat.doctor.checks.registry import finding
from brokernat.doctor.evidence import EndpointProbe, Evidence, Identity, Path
from brokernat.doctor.finding import Confidence, Failure, Finding, Remedy, Severity
from brokernat.doctor.host_kinds import dialable


@dataclass(frozen=True, slots=True)
class Place:
    """A bootstrap server or a node as a report names it, with the failure that ends the way there."""

    subject: str
    failure: Failure | None

    @property
    def doubt(self) -> Failure | None:
        """The failure where nothing bad is known about it."""
        return self.failure if self.failure is not None and self.failure.doubt else None


@dataclass(frozen=True, slots=True)
class ProbedEndpoint(Place):
    """A place that was probed; `path` is None for a bootstrap server."""

    look: EndpointProbe
    path: Path | None = None


def at(
    place: Place,
    severity: Severity,
    message: str,
    seen: Sequence[str] = (),
    *,
    remedy: Remedy = Remedy(),  # noqa: B008 - frozen
    explains: bool = True,
    confidence: Confidence = Confidence.PROVEN,
) -> Finding:
    """A finding about one place; unless `explains` is False it is the reason of the failure there."""
    reason_of = (place.failure,) if explains else ()
    return finding(severity, place.subject, message, seen, remedy=remedy, explains=reason_of, confidence=confidence)


def place_of(path: Path, evidence: Evidence) -> Place:
    """A node, also where nothing was dialled for it."""
    return Place(node(path), path_failure(path, evidence))


@once
def probed_endpoints(evidence: Evidence) -> tuple[ProbedEndpoint, ...]:
    """Every look once: a node that is dialled where a bootstrap server was probed is that look."""
    servers = tuple(
        ProbedEndpoint(f"bootstrap {look.endpoint}", bootstrap_failure(look, evidence), look)
        for look in evidence.bootstraps
    )
    return (*servers, *(each for each in dialled_nodes(evidence) if each.look not in evidence.bootstraps))


@once
def dialled_nodes(evidence: Evidence) -> tuple[ProbedEndpoint, ...]:
    """The looks at nodes, also where a bootstrap server was probed at the same endpoint."""
    return tuple(
        ProbedEndpoint(node(path), path_failure(path, evidence), path.look, path)
        for path in evidence.paths
        if path.look is not None
    )


def places(evidence: Evidence) -> Iterator[Place]:
    """Every bootstrap server and every node."""
    for look in evidence.bootstraps:
        yield Place(f"bootstrap {look.endpoint}", bootstrap_failure(look, evidence))
    for path in evidence.paths:
        yield place_of(path, evidence)


def node(path: Path) -> str:
    """How a report names a node."""
    return f"node {path.broker.node_id} at {path.broker.endpoint}"


def unreachable(look: EndpointProbe) -> str | None:
    """Why there is no connection, None where there is one or nothing was tried."""
    if look.dns_error:
        return f"the name does not resolve: {look.dns_error}"
    if look.connected or not look.attempts:
        return None
    return ", ".join(f"{each.address} {_TRIED[each.outcome]}" for each in look.attempts)


def advertised_sets(evidence: Evidence) -> dict[tuple[str, ...], list[EndpointProbe]]:
    """What is advertised, as `id host:port`, to the bootstrap servers that were told so."""
    found: dict[tuple[str, ...], list[EndpointProbe]] = {}
    for look in evidence.bootstraps:
        if look.brokers is not None:
            told = tuple(f"{each.node_id} {each.endpoint}" for each in look.brokers)
            found.setdefault(told, []).append(look)
    return found


def listener_of(evidence: Evidence, look: EndpointProbe) -> str | None:
    """The name of the listener that a bootstrap server leads to, None where no settings tell it."""
    names = {each.name for each in evidence.listeners if look.endpoint in each.entered}
    return names.pop() if len(names) == 1 else None


def map_doubts(evidence: Evidence) -> list[tuple[str, LintFinding]]:
    """What is doubtful about the client's map, each with the rule that it is about."""
    rules = evidence.rules or ()
    return [(rules[each.rules[-1]], each) for each in lint(AddressMap.parse("\n".join(rules)))] if rules else []


def hidden_rules(evidence: Evidence) -> set[str]:
    """Rules that another one stands before."""
    hiding = ("duplicate-rule", "contradicting-rule", "shadowed-rule")
    return {rule for rule, each in map_doubts(evidence) if each.code in hiding}


def sureness(identity: Identity) -> Confidence:
    """How sure a finding is that rests on who answered."""
    return Confidence.PROVEN if identity.confidence == "proven" else Confidence.LIKELY


def acl_line(evidence: Evidence, right: str) -> str:
    """The command that gives the client's user a right; who the user is stands in no evidence."""
    server = next((look.endpoint for look in evidence.bootstraps if look.answers), "HOST:PORT")
    return f"kafka-acls.sh --bootstrap-server {server} --add --allow-principal User:NAME {right}"


def proven_lines(evidence: Evidence) -> tuple[str, ...]:
    """Rules `advertised = reachable`: the node that said who it is behind a bootstrap server, and what it advertises.

    A node that answers behind several bootstrap servers, or a server behind which several nodes answer, proves nothing;
    nor does anything where the servers are of several clusters, which may advertise the same endpoints.
    """
    if len({look.cluster_id for look in evidence.bootstraps if look.cluster_id}) > 1:
        return ()
    reached: dict[int, set[str]] = {}
    lines: dict[int, str] = {}
    for look in evidence.bootstraps:
        identity = look.identity
        if identity is None or identity.node_id is None or identity.others:
            continue
        told = next((each for each in look.brokers or () if each.node_id == identity.node_id), None)
        # What a broker advertises is any text, and this one is there to be copied.
        if told is not None and dialable(told.host, told.port):
            reached.setdefault(identity.node_id, set()).add(look.endpoint)
            lines[identity.node_id] = f"{told.endpoint} = {look.endpoint}"
    return tuple(line for node_id, line in sorted(lines.items()) if len(reached[node_id]) == 1)


def proven_line(evidence: Evidence, path: Path) -> tuple[str, ...]:
    """The line for one node, or the line to fill in."""
    mine = f"{path.broker.endpoint} = "
    found = [line for line in proven_lines(evidence) if line.startswith(mine)]
    return tuple(found) or (f"{mine}HOST:PORT that can be dialled from here",)


def lets_in(path: Path) -> bool:
    """Whether a client gets through to Kafka at what it dials for a node."""
    return path.look is not None and path.look.answers


def nearly_in(evidence: Evidence) -> bool:
    """Whether some bootstrap server lets clients in, or would if what is wrong behind the connection were mended."""
    return any(
        look.answers or look.speaks in ("kafka", "tls") or (look.tls is not None and look.tls.outcome in _MENDABLE)
        for look in evidence.bootstraps
    )


def reached_from_here(evidence: Evidence) -> set[int]:
    """The nodes that answered the doctor or Kafka's own client in the driver's JVM."""
    seen = {path.broker.node_id for path in evidence.paths if lets_in(path)}
    jvms = [node for each in evidence.executors if each.is_driver for node in each.nodes]
    return seen | {node.node_id for node in jvms if node.reached}


_MENDABLE = ("name-mismatch", "expired", "untrusted", "unfit", "client-certificate")
_TRIED = {
    "refused": "refused the connection",
    "timeout": "did not answer",
    "unreachable": "cannot be routed to from here",
    "connected": "connected",
}


def bootstrap_servers(evidence: Evidence) -> Iterator[ProbedEndpoint]:
    """The bootstrap servers alone."""
    return (each for each in probed_endpoints(evidence) if each.path is None)
