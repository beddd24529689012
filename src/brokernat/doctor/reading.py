"""Questions that several checks ask of the evidence, and the map lines that it proves; pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from brokernat.address import AddressMap, Endpoint, lint
from brokernat.doctor.finding import Confidence
from brokernat.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

    from brokernat.address import LintFinding
    from brokernat.doctor.evidence import Evidence, Identity, Look, Path


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


def address(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host is, None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether a host is the machine that dials it."""
    place = address(host)
    return host.lower() == "localhost" if place is None else place.is_loopback


def inside_name(host: str) -> bool:
    """Whether a host is a name that usually only its own network knows: of one label, or as Docker and clouds say."""
    name = host.lower().rstrip(".")
    if not name or name == "localhost" or address(name) is not None:
        return False
    return "." not in name or name.endswith(_INSIDE)


def network(host: str) -> IPv4Network | IPv6Network:
    """The surroundings of an address, as far as one usually routes: 16 bits of IPv4, 48 of IPv6."""
    return ip_network(f"{host}/{48 if ':' in host else 16}", strict=False)


def dialable(host: str, port: int) -> bool:
    """Whether host and port make an endpoint."""
    try:
        Endpoint(host, port)
    except ConfigError:
        return False
    return True


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

    All nodes differ by one number then, and some call themselves by an id that nobody advertises; forwards that are
    exchanged stay among the advertised ones.
    """
    pairs = {
        path.broker.node_id: path.look.identity.node_id
        for path in evidence.paths
        if path.look is not None and path.look.identity is not None and path.look.identity.node_id is not None
    }
    offsets = {own - told for told, own in pairs.items()}
    if (
        len(pairs) < _FEWEST
        or len(offsets) != 1
        or set(pairs.values()) <= {path.broker.node_id for path in evidence.paths}
    ):
        return None
    return offsets.pop()


def acl_line(evidence: Evidence, right: str) -> str:
    """The command that gives the client's user a right; who the user is stands in no evidence."""
    server = next((look.endpoint for look in evidence.bootstraps if look.answers), "HOST:PORT")
    return f"kafka-acls.sh --bootstrap-server {server} --add --allow-principal User:NAME {right}"


def proven_lines(evidence: Evidence) -> tuple[str, ...]:
    """Rules `advertised = reachable`: the node that said who it is behind a bootstrap server, and what it advertises.

    A node that answers behind several bootstrap servers, or a server behind which several nodes answer, proves nothing.
    """
    reached: dict[int, set[str]] = {}
    lines: dict[int, str] = {}
    for look in evidence.bootstraps:
        identity = look.identity
        if identity is None or identity.node_id is None or identity.others:
            continue
        told = next((each.endpoint for each in look.brokers or () if each.node_id == identity.node_id), None)
        if told is not None:
            reached.setdefault(identity.node_id, set()).add(look.endpoint)
            lines[identity.node_id] = f"{told} = {look.endpoint}"
    return tuple(line for node_id, line in sorted(lines.items()) if len(reached[node_id]) == 1)


def proven_line(evidence: Evidence, path: Path) -> tuple[str, ...]:
    """The line for one node, or the line to fill in."""
    mine = f"{path.broker.endpoint} = "
    found = [line for line in proven_lines(evidence) if line.startswith(mine)]
    return tuple(found) or (f"{mine}HOST:PORT that can be dialled from here",)


def reached_from_here(evidence: Evidence) -> set[int]:
    """The nodes that answered the doctor or Kafka's own client in the driver's JVM."""
    seen = {path.broker.node_id for path in evidence.paths if path.look is not None and path.look.answers}
    jvms = [node for each in evidence.executors if each.is_driver for node in each.nodes]
    return seen | {node.node_id for node in jvms if node.reached}


# Of one node, an id that differs is a wrong forward as likely as a proxy's work.
_FEWEST = 2
_INSIDE = (".svc", ".internal", ".local", ".lan", ".intern", ".docker", ".cluster")
_TRIED = {
    "refused": "refused the connection",
    "timeout": "did not answer",
    "unreachable": "cannot be routed to from here",
    "connected": "connected",
}
