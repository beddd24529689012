"""Checks of brokers' files: the addresses and ports of listeners, and the ports of the host that lead there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from brokernat.address.endpoint import bracketed
from brokernat.doctor.broker_files.listeners import (
    BrokerListeners,
    Listener,
    advertised_listeners,
    all_listeners,
    serving,
)
from brokernat.doctor.checks.places import probed_endpoints
from brokernat.doctor.checks.registry import Need, check, error, finding, warning
from brokernat.doctor.evidence import BrokerFile, Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Failure, Severity
from brokernat.doctor.host_kinds import DOCKER_HOST, address, inside_name, is_loopback


@check("BN813", Need.FILES)
def port_twice(evidence: Evidence) -> Iterator[CheckFinding]:
    """Two listeners are bound to one port.

    Cause: Two listeners are bound to one port, so the broker does not start with this file: {subjects}.
    What: two listeners of one broker are bound to the same port.
    Why: only the port shows the broker which listener a client connected to. Kafka refuses to start, even if the
    addresses differ; from Kafka 3.6 on, one IPv4 and one IPv6 address may share a port (KIP-797).
    Remedy: give each listener its own port.
    """
    for broker in all_listeners(evidence):
        for port in dict.fromkeys(each.port for each in broker.listeners if each.port):
            found = [each for each in broker.listeners if each.port == port]
            # BN812 reports two listeners of one name.
            if len({each.name for each in found}) > 1:
                versions = [place.version for each in found if (place := address(each.host)) is not None]
                severity, releases = Severity.ERROR, "Kafka"
                if len(found) == 2 and sorted(versions) == [4, 6]:
                    severity, releases = Severity.INFO, "Kafka before 3.6"
                names = [each.name for each in found]
                message = f"{' and '.join(names)} are bound to one port, {port}: {releases} refuses to start"
                fix = f"bind {' and '.join(names[1:])} to another port"
                yield finding(severity, broker.name, message, tuple(map(str, found)), broker=fix)


@check("BN830", Need.FILES)
def port_zero_advertised(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker's file advertises port 0.

    Cause: Files advertise port 0, so brokers advertise the port that they bind: {subjects}.
    What: `advertised.listeners` has port 0.
    Why: the broker starts and advertises the port that the listener is bound to. Behind a NAT, a load balancer or a
    published port, clients dial another port. If the listener is bound to port 0 too, the port changes with each start.
    Remedy: advertise the port that clients dial.
    """
    for broker in serving(evidence):
        for each in broker.advertised_setting or ():
            port = broker.bound_port(each.name)
            if each.port == 0 and port is not None:
                received = f"{port}, the bound port" if port else "another port after each start"
                fix = f"advertise {each.name}://{each.host}:PORT with the port that clients dial"
                yield warning(broker.name, f"{each} has port 0: clients receive {received}", broker=fix)


@check("BN831", Need.FILES)
def port_of_another_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """A listener advertises another listener's port.

    Cause: Listeners advertise the port of another listener, so clients reach that one: {subjects}.
    What: a listener advertises an endpoint that belongs to another listener of the same broker.
    Why: only the port decides which listener a client reaches. If the protocols differ, the client cannot connect; if
    they are the same, it receives the other listener's endpoints from then on. A gateway may exchange ports, so the
    check also compares the host: the other listener must be bound to it or advertise it.
    Remedy: advertise the port that the listener is bound to, or the port that a gateway forwards to it.
    """
    for broker, each in advertised_listeners(evidence):
        other = next((other for other in broker.at_port_of(each) if _has_host(broker, other, each)), None)
        if other is not None:
            differ = broker.protocols.get(each.name) != broker.protocols.get(other.name)
            message = f"{each} is advertised, but {other.name} is bound to that port"
            seen = (f"listeners: {', '.join(map(str, broker.listeners))}",)
            fix = f"advertise {each.name}://{each.host}:{broker.bound_port(each.name)}"
            yield finding(Severity.ERROR if differ else Severity.WARNING, broker.name, message, seen, broker=fix)


def _has_host(broker: BrokerListeners, bound: Listener, advertised: Listener) -> bool:
    """Whether a listener is bound to the advertised host, or advertises it with its own port or that of the other."""
    host = advertised.host.lower()
    if not host or bound.host.lower() == host:
        return bool(host)
    own = next((each for each in broker.advertised if each.name == bound.name), None)
    ports = (broker.bound_port(advertised.name), bound.port)
    return own is not None and own.host.lower() == host and own.port in ports


@check("BN827", Need.FILES)
def port_not_published(evidence: Evidence) -> Iterator[CheckFinding]:
    """The advertised port is not published, or leads to another listener.

    Cause: Advertised ports are not published, or lead to another listener: {subjects}.
    What: a compose file does not publish the port that the broker advertises, or publishes it for another listener.
    Why: clients outside of Docker dial the host's port. If it is not published, nothing listens there; if it leads to
    another listener, clients receive the endpoints of that listener. It is an error if clients can connect at another
    published port, because they fail at the advertised one; a host that may be a gateway's gives a warning.
    Remedy: publish the advertised port for the port that the listener is bound to: `ADVERTISED:BOUND`.
    """
    taken_by: dict[int, list[BrokerFile]] = defaultdict(list)
    for each in serving(evidence):
        for port in each.host_ports:
            taken_by[port].append(each.file)
    for broker, listener in advertised_listeners(evidence):
        published, bound = broker.file.published, broker.bound_port(listener.name)
        elsewhere = inside_name(listener.host) and listener.host.lower() not in DOCKER_HOST
        if not listener.host or elsewhere or published is None or bound is None:
            continue
        if listener.port in broker.file.others_ports and not taken_by[listener.port]:
            # A proxy may listen there.
            continue
        leads_to = [inside for inside, outside in published if outside == listener.port]
        # A port of a host is published once.
        taken = any(file is not broker.file for file in taken_by[listener.port])
        seen = (f"published: {', '.join(f'{outside}:{inside}' for inside, outside in published) or 'nothing'}",)
        fix = f'publish it: `ports: ["{listener.port}:{bound}"]`'
        advertised = f"{listener} is advertised, but the host's port {listener.port}"
        if leads_to and bound not in leads_to:
            other = next((each.name for each in broker.listeners if each.port == leads_to[0]), "no listener")
            yield error(broker.name, f"{advertised} leads to port {leads_to[0]} ({other})", seen, broker=fix)
        elif not leads_to and (outside := dict(published).get(bound)) is not None:
            instead = f"advertise {bracketed(listener.host)}:{outside}, which leads to this listener"
            fixes = (instead,) if taken else (fix, f"or {instead}")
            if is_loopback(listener.host) or _of_docker_host(evidence, listener.host):
                message = f"{advertised} is not published, so clients reach it at port {outside} and then fail"
                yield error(broker.name, message, seen, broker=fixes)
            else:
                message = f"{advertised} is published as {outside}: clients fail unless a gateway forwards the port"
                yield warning(broker.name, message, seen, broker=fixes, confidence=Confidence.LIKELY)
        elif not leads_to and is_loopback(listener.host):
            if taken:
                free = next((outside for inside, outside in published if inside == outside), "PORT")
                fix = (
                    f"another service has this port: advertise {bracketed(listener.host)}:{free}, published for {bound}"
                )
            yield warning(broker.name, f"{advertised} is not published", seen, broker=fix)
        elif not published and not broker.file.others_ports and listener.host not in broker.file.names:
            message = f"{advertised} is not published, nor is any port of this file"
            yield warning(broker.name, message, broker=fix, confidence=Confidence.LIKELY)


def _of_docker_host(evidence: Evidence, host: str) -> bool:
    """Whether it is the Docker host: by its name, or because a listener is published at the port that it advertises."""
    return host.lower() in DOCKER_HOST or any(
        (broker.bound_port(each.name), each.port) in (broker.file.published or ())
        for broker, each in advertised_listeners(evidence)
        if each.host.lower() == host.lower()
    )


def _failures_at(evidence: Evidence, port: int) -> list[Failure]:
    """The failures of clients at endpoints with this port: refused, or closed by Docker's own proxy."""
    return [
        each.failure
        for each in probed_endpoints(evidence)
        if each.failure is not None and each.failure.stage in ("connect", "versions") and each.probe.port == str(port)
        if not any(attempt.outcome == "timeout" for attempt in each.probe.attempts)
    ]


_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Another address of 127.0.0.0/8 is nobody's default, but somebody's intention."""


@check("BN832", Need.FILES, explains=("BN103", "BN302", "BN310"))
def bound_to_loopback(evidence: Evidence) -> Iterator[CheckFinding]:
    """A listener for clients elsewhere is bound to a loopback address.

    Cause: Listeners are bound to a loopback address, so nobody else can connect: {subjects}.
    What: `listeners` binds localhost, 127.0.0.1 or ::1, or a compose file publishes the port on 127.0.0.1 only, and the
    broker advertises another host.
    Why: the system accepts connections at this address from its own machine only. In a container that is the container:
    a published port leads to its other address, and is refused. A gateway on the same machine could forward, so
    elsewhere it is a warning, unless clients fail at this port or other brokers bind every address.
    Remedy: bind every address (`NAME://0.0.0.0:PORT`), and advertise the name that clients dial.
    """
    for broker in serving(evidence):
        for bound in broker.of_clients():
            advertised = next((each for each in broker.advertised if each.name == bound.name), None)
            published = broker.file.published
            outside = dict(published or ()).get(bound.port)
            elsewhere = advertised is not None and bool(advertised.host) and not is_loopback(advertised.host)
            if bound.host.lower() in _LOOPBACK and (elsewhere or outside is not None):
                fix = f"bind every address: `{bound.name}://0.0.0.0:{bound.port}`"
                failures = _failures_at(evidence, outside or bound.port)
                message = f"{bound} is bound to loopback, and clients are told {advertised}"
                if published is not None:
                    leads = "" if outside is None else f", so the published port {outside} leads nowhere"
                    message = f"{bound} is bound to the container's own loopback{leads}"
                proven = published is not None or bool(failures)
                severity = Severity.ERROR if proven or _bound_elsewhere(bound.name, evidence) else Severity.WARNING
                sure = Confidence.PROVEN if proven else Confidence.LIKELY
                yield finding(severity, broker.name, message, broker=fix, explains=failures, confidence=sure)
            elif elsewhere and outside is not None and all(map(is_loopback, broker.host_addresses(outside))):
                message = f"{advertised} is advertised, and the host's port {outside} is published on loopback only"
                fix = f'publish it on every address: `ports: ["{outside}:{bound.port}"]`'
                yield warning(broker.name, message, broker=fix, confidence=Confidence.LIKELY)


def _bound_elsewhere(name: str, evidence: Evidence) -> bool:
    """Whether another broker binds the listener of this name to an address that is not loopback."""
    bound = (each for broker in serving(evidence) for each in broker.of_clients() if each.name == name)
    return any(each.host.lower() not in _LOOPBACK for each in bound)
