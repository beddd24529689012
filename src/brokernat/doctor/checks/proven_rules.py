"""Rules of an address map that the evidence proves, and those that follow from them; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_address

from brokernat.address import Endpoint
from brokernat.address.endpoint import bracketed
from brokernat.doctor.checks.failures import once, path_failure
from brokernat.doctor.evidence import BrokerPath, Evidence
from brokernat.doctor.host_kinds import address, dialable, network

_TO_FILL_IN = "HOST:PORT that can be dialled from here"


@once
def proven_lines(evidence: Evidence) -> tuple[str, ...]:
    """Rules `advertised = reachable` for nodes that proved their id at a bootstrap server.

    There is no rule for a node that answers at several bootstrap servers, for a server at which several nodes answer,
    or if the servers are of several clusters, which may advertise the same endpoints.
    """
    if len({probe.cluster_id for probe in evidence.bootstraps if probe.cluster_id}) > 1:
        return ()
    reached: dict[int, set[str]] = {}
    lines: dict[int, str] = {}
    for probe in evidence.bootstraps:
        identity = probe.identity
        if identity is None or identity.node_id is None or not identity.alone:
            continue
        own = next((each for each in probe.brokers or () if each.node_id == identity.node_id), None)
        # A broker may advertise any text, and users copy this line.
        alone = own is not None and sum(each.endpoint == own.endpoint for each in probe.brokers or ()) == 1
        if own is not None and alone and dialable(own.host, own.port):
            reached.setdefault(identity.node_id, set()).add(probe.endpoint)
            lines[identity.node_id] = f"{own.endpoint} = {probe.endpoint}"
    return tuple(line for node_id, line in sorted(lines.items()) if len(reached[node_id]) == 1)


@dataclass(frozen=True, slots=True)
class _Pattern:
    """What every proven rule does: `host` gives the target of a host, `rule` is the rule for that, None if hosts stay.
    `ports` are the advertised port and the other one at which nodes answer, None if ports stay.
    """

    host: Callable[[str], str]
    rule: str | None
    ports: tuple[int, int] | None


@once
def _pattern(evidence: Evidence) -> _Pattern | None:
    """None if there is no such pattern, if no node lacks a proven rule, or if others need none."""
    lines = proven_lines(evidence)
    if not lines or len(lines) == len(evidence.paths) or any_reached_directly(evidence):
        return None
    pairs = [(Endpoint.parse(one), Endpoint.parse(other)) for one, other in map(_sides, lines)]
    found = _host_pattern(evidence, pairs)
    ports = {(one.port, other.port) for one, other in pairs}
    if found is None:
        return None
    if all(one == other for one, other in ports):
        return _Pattern(*found, None)
    advertised = {path.broker.port for path in evidence.paths}
    return _Pattern(*found, ports.pop()) if len(ports) == 1 and advertised == {one for one, _ in ports} else None


def shifted_port(evidence: Evidence) -> tuple[int, int] | None:
    """The port that all nodes advertise, and the other one at which the proven nodes answer on the same hosts."""
    pattern = _pattern(evidence)
    return pattern.ports if pattern is not None and pattern.rule is None else None


def _sides(line: str) -> tuple[str, str]:
    one, _, other = line.partition(" = ")
    return one, other


def _host_pattern(
    evidence: Evidence, pairs: Sequence[tuple[Endpoint, Endpoint]]
) -> tuple[Callable[[str], str], str | None] | None:
    """What all pairs do to the host, as a function and as a rule; no rule if the host stays."""
    if all(one.host == other.host for one, other in pairs) or _at_own_addresses(evidence, pairs):
        return str, None
    hosts = {path.broker.host for path in evidence.paths} | {one.host for one, _ in pairs}
    targets = {other.host for _, other in pairs}
    if len(hosts) == len(targets) == 1:
        (target,) = targets
        return lambda _: target, f"{pairs[0][0].host} = {target}"
    if len(pairs) == 1 or not all(map(address, hosts | targets)):
        return None
    for small in (True, False):
        here, there = ({network(each, small=small) for each in side} for side in (hosts, targets))
        if len(here) == len(there) == 1:
            own, other = here.pop(), there.pop()
            moved = partial(_in_network, other)
            alike = all(moved(advertised.host) == moved(reachable.host) for advertised, reachable in pairs)
            if own.version == other.version and alike:
                return moved, f"{own} = {other}"
    return None


def _at_own_addresses(evidence: Evidence, pairs: Sequence[tuple[Endpoint, Endpoint]]) -> bool:
    """Whether each pair has two names of one address. If all nodes share it, a port leads to each only by TLS names."""
    # Where a rule was applied, the addresses are those of its target.
    paths = (each for each in evidence.paths if each.rule is None)
    known = {each.probe.name: each.probe.addresses for each in paths if each.probe is not None}
    servers = {Endpoint.parse(probe.endpoint).host: probe.addresses for probe in evidence.bootstraps}
    places = set(known.values())
    if () in places or (len(places) < len(known) and not evidence.security_protocol.endswith("SSL")):
        return False
    return all(known.get(one.host) == servers.get(other.host, ()) for one, other in pairs)


def _in_network(there: IPv4Network | IPv6Network, host: str) -> str:
    """The address of the same number in another network of the same size."""
    return str(there[int(ip_address(host)) & int(there.hostmask)])


def proven_line(evidence: Evidence, path: BrokerPath) -> tuple[str, ...]:
    """The line for one node, or a line to fill in; none if several nodes advertise its endpoint.

    No rule can distinguish these.
    """
    if sum(each.broker.endpoint == path.broker.endpoint for each in evidence.paths) > 1:
        return ()
    return derived_line(evidence, path) or (f"{path.broker.endpoint} = {_TO_FILL_IN}",)


def derived_line(evidence: Evidence, path: BrokerPath) -> tuple[str, ...]:
    """The line for one node, if the evidence proves it or it follows from the proven ones.

    One rule for all nodes comes first: a host for the one host that all advertise, or a network for their network. It
    is not tested at the nodes without a proven rule.
    """
    pattern = _pattern(evidence)
    if pattern is not None and pattern.rule and pattern.ports is None:
        return (pattern.rule,)
    if line := known_line(evidence, path):
        return line
    if pattern is None or pattern.ports is None or (pattern.rule is None and not _resolves(path)):
        return ()
    return (f"{path.broker.endpoint} = {bracketed(pattern.host(path.broker.host))}:{pattern.ports[1]}",)


def _resolves(path: BrokerPath) -> bool:
    """Whether the advertised host has an address here: a rule to another port of a name without one leads nowhere."""
    own = path.direct if path.probe is None or path.rule else path.probe
    return address(path.broker.host) is not None or (own is not None and bool(own.addresses))


def to_fill_in(line: str) -> bool:
    """Whether the reachable side of a line is left to the user."""
    return line.endswith(_TO_FILL_IN)


def discover_advice(rules: Sequence[str]) -> tuple[str, ...]:
    """The command that finds what a line leaves to fill in."""
    discover = "`brokernat discover -b HOST:PORT --candidates HOST:PORTS` finds and tests endpoints for the rules"
    return (f"{discover}, such as the ports of a gateway",) if any(map(to_fill_in, rules)) else ()


def advice_to_test(evidence: Evidence, rules: Sequence[str]) -> tuple[str, ...]:
    """The command that tests the rules that follow from the proven ones, the same for each node; of many only one."""
    derived = _derived_lines(evidence)
    if not any(line in derived for line in rules):
        return ()
    ends = ", ".join(_sides(line)[0] for line in proven_lines(evidence))
    tested = ", ".join(derived if len(derived) <= 3 else derived[:1])
    what = "the rule, which is" if len(derived) == 1 else "the rules, which are"
    return (f"test {what} proven at {ends} only: `brokernat doctor --map '{tested}'`",)


@once
def _derived_lines(evidence: Evidence) -> tuple[str, ...]:
    """The rules for all nodes that follow from the proven ones."""
    every = dict.fromkeys(line for path in evidence.paths for line in derived_line(evidence, path))
    return tuple(line for line in every if line not in proven_lines(evidence))


def known_line(evidence: Evidence, path: BrokerPath) -> tuple[str, ...]:
    """The line for one node, if the evidence proves it."""
    return tuple(line for line in proven_lines(evidence) if line.startswith(f"{path.broker.endpoint} = "))


def corrected(path: BrokerPath, right: Sequence[str]) -> str:
    """How to correct the rule of a node, and where its right rule belongs if a wider one leads elsewhere."""
    wider = path.rule is not None and not path.rule.startswith(f"{path.broker.endpoint}=")
    before = ", or put the right ones before it: the first rule that matches wins" if wider and right else ""
    return f"correct the rule `{path.rule}`{before}"


@once
def any_reached_directly(evidence: Evidence) -> bool:
    """Whether clients reach a node of this cluster at its advertised endpoint, without a rule."""
    here = (path_failure(each, evidence) for each in evidence.paths if each.answers and each.rule is None)
    return any(failure is None or failure.stage != "cluster" for failure in here)


def unmapped_advice(evidence: Evidence, rules: Sequence[str]) -> tuple[str, ...]:
    """The advice on `unmapped` for a first map with these rules, if other nodes need none.

    A line that is to be filled in is the last resort where other nodes are reached, and needs no advice yet.
    """
    complete = not all(map(to_fill_in, rules))
    if not complete or evidence.rules or not any_reached_directly(evidence):
        return ()
    return ("with a map, also set `unmapped: pass`: the other nodes are reached at their advertised endpoints",)
