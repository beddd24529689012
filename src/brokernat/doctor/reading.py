"""Questions that several checks ask of the evidence, and the map lines that it proves; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from brokernat.address import AddressMap, LintFinding, lint
from brokernat.doctor.evidence import Evidence, Identity, Look, Path
from brokernat.doctor.finding import Confidence
from brokernat.doctor.places import dialable


@dataclass(frozen=True, slots=True)
class Spot:
    """An endpoint that was looked at, with its name in a report; `path` is None for a bootstrap server."""

    subject: str
    look: Look
    path: Path | None = None


def spots(evidence: Evidence) -> Iterator[Spot]:
    """Every look once: a node that is dialled where a bootstrap server was looked at is that look."""
    for look in evidence.bootstraps:
        yield Spot(f"bootstrap {look.endpoint}", look)
    yield from dialled(evidence, again=False)


def dialled(evidence: Evidence, *, again: bool = True) -> Iterator[Spot]:
    """The looks at nodes; `again` tells whether those that were bootstrap servers too are among them."""
    for path in evidence.paths:
        if path.look is not None and (again or path.look not in evidence.bootstraps):
            yield Spot(node(path), path.look, path)


def node(path: Path) -> str:
    """How a report names a node."""
    return f"node {path.broker.node_id} at {path.broker.endpoint}"


def unreachable(look: Look) -> str | None:
    """Why there is no connection, None where there is one or nothing was tried."""
    if look.dns_error:
        return f"the name does not resolve: {look.dns_error}"
    if look.connected or not look.attempts:
        return None
    return ", ".join(f"{each.address} {_TRIED[each.outcome]}" for each in look.attempts)


def advertised_sets(evidence: Evidence) -> dict[tuple[str, ...], list[Look]]:
    """What is advertised, as `id host:port`, to the bootstrap servers that were told so."""
    found: dict[tuple[str, ...], list[Look]] = {}
    for look in evidence.bootstraps:
        if look.brokers is not None:
            told = tuple(f"{each.node_id} {each.endpoint}" for each in look.brokers)
            found.setdefault(told, []).append(look)
    return found


def same_listener(one: Look, other: Look) -> bool:
    """Whether what two endpoints advertise can be of one listener: they share nodes and say the same of each.

    In one of them a node may be missing that has just gone or come, and a broker that has just started knows none.
    """
    told = {each.node_id: each.endpoint for each in one.brokers or ()}
    shared = [each for each in other.brokers or () if each.node_id in told]
    if not told or not other.brokers:
        return True
    return bool(shared) and all(told[each.node_id] == each.endpoint for each in shared)


def listener_of(evidence: Evidence, look: Look) -> str | None:
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


def renumbered(evidence: Evidence) -> int | None:
    """What a proxy adds to the ids of nodes to make those of its own, None where there is no such proxy.

    All nodes that prove who they are differ by one number then, and no broker's answer knows any of their own ids.
    Forwards that are exchanged, or off by one, lead to nodes that are known, or to another cluster.
    """
    own: dict[int, int] = {}
    for spot in dialled(evidence):
        identity = spot.look.identity
        if spot.path and identity and identity.node_id is not None and identity.confidence == "proven":
            own[spot.path.broker.node_id] = identity.node_id
    known = {broker.node_id for spot in spots(evidence) for broker in spot.look.brokers or ()}
    known |= set(evidence.replicas or ())
    clusters = {spot.look.cluster_id for spot in spots(evidence) if spot.look.cluster_id}
    offsets = {node_id - told for told, node_id in own.items()}
    if len(own) < _FEWEST or len(offsets) != 1 or len(clusters) > 1 or known & set(own.values()):
        return None
    return offsets.pop()


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
# Of one node, an id that differs is a wrong forward as likely as a proxy's work.
_FEWEST = 2
_TRIED = {
    "refused": "refused the connection",
    "timeout": "did not answer",
    "unreachable": "cannot be routed to from here",
    "connected": "connected",
}
