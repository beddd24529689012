"""Brokers' files: what clients learn from brokers that run with them."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import BrokerListeners, Listener, advertised_listeners, serving, where
from brokernat.doctor.checks.registry import Need, check, error, finding, info, warning
from brokernat.doctor.evidence import EndpointProbe, Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Severity
from brokernat.doctor.host_kinds import inside_name, is_loopback


@check("BN816", Need.FILES)
def not_advertised(evidence: Evidence) -> Iterator[CheckFinding]:
    """A listener is not advertised.

    Cause: Clients that come in on a listener that is not advertised are told of no broker: {subjects}.
    What: a listener is bound, and `advertised.listeners` leaves it out.
    Why: who comes in on its port is answered with the brokers that advertise this name, and there is none: the client
    gets an empty list, or waits for metadata.
    Remedy: advertise it, or do not bind it.
    """
    for broker in serving(evidence):
        for each in broker.of_clients():
            if each.name not in {told.name for told in broker.advertised}:
                fix = f"add {each.name}://HOST:{each.port} to `advertised.listeners`"
                message = f"{each} is bound and not advertised: who comes in there is told of no broker here"
                yield warning(broker.name, message, broker=fix)


@check("BN818", Need.FILES)
def own_name_advertised(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker advertises its machine's own name.

    Cause: Brokers advertise whatever their machines call themselves: {subjects}.
    What: a listener has no host, and so the broker advertises the name that its machine calls itself.
    Why: Kafka asks the machine for its own name. In a container that is the container's id, on a cloud host an internal
    name; clients elsewhere seldom know either.
    Remedy: `advertised.listeners` with a name that clients know.
    """
    for broker, each in advertised_listeners(evidence):
        if not each.host:
            message = f"{each} has no host: what is advertised is the machine's own name for itself"
            fix = f"advertise {each.name}://HOST:{each.port} with a host that clients know"
            yield warning(broker.name, message, broker=fix, confidence=Confidence.LIKELY)


@check("BN821", Need.FILES)
def same_endpoint_in_files(evidence: Evidence) -> Iterator[CheckFinding]:
    """Two brokers' files advertise the same endpoint.

    Cause: Several brokers' files advertise one endpoint ({subjects}).
    What: two brokers' files advertise one host and port.
    Why: a client that wants the one meets either. Brokers behind one balancer, a file that was copied, `localhost` on
    several machines: to a client it is one endpoint.
    Remedy: a port or a name of its own for each broker.
    """
    told = [(broker, each) for broker, each in advertised_listeners(evidence) if each.host]
    for endpoint in dict.fromkeys(each.endpoint.lower() for _, each in told):
        found = [(broker, each) for broker, each in told if each.endpoint.lower() == endpoint]
        number = len({id(broker) for broker, _ in found})
        if number > 1:
            seen = [f"{broker.name} advertises {each}" for broker, each in found]
            fix = "advertise a port or a name of its own for each broker"
            yield error(endpoint, f"{number} brokers advertise it", seen, broker=fix)


@check("BN822", Need.FILES)
def listener_on_some(evidence: Evidence) -> Iterator[CheckFinding]:
    """Some brokers lack a listener that others have.

    Cause: Some brokers lack a listener that others have, so a client's brokers change with the port it meets:
    {subjects}.
    What: some brokers advertise a listener name that others lack.
    Why: a broker answers with the brokers that have the listener NAME whose port was hit. Who comes in on this name
    never hears of the others: partitions led by them have no leader, and with bootstrap servers of several names a
    client's brokers come and go with each update.
    Remedy: the same names on every broker; and bootstrap servers of one name.
    """
    brokers = serving(evidence)
    for name, advertised in _by_name(evidence).items():
        having = [broker for broker, _ in advertised]
        if lacking := ", ".join(broker.name for broker in brokers if broker not in having):
            told = ", ".join(each.endpoint for _, each in advertised)
            yield error(
                f"listener {name}",
                f"{sum(broker not in having for broker in brokers)} of {len(brokers)} brokers lack it",
                (f"who comes in on it is told: {told}", f"and never hears of: {lacking}"),
                client="give bootstrap servers of one listener, that all brokers have",
                broker=f"define and advertise {name} on {lacking} too",
            )


def _by_name(evidence: Evidence) -> dict[str, list[tuple[BrokerListeners, Listener]]]:
    """The brokers that advertise each listener's name, with what they advertise."""
    found: dict[str, list[tuple[BrokerListeners, Listener]]] = {}
    for broker, each in advertised_listeners(evidence):
        found.setdefault(each.name, []).append((broker, each))
    return found


@check("BN824", Need.FILES)
def inside_name_in_file(evidence: Evidence) -> Iterator[CheckFinding]:
    """A file advertises a name that only its own place knows.

    Cause: The brokers advertise names that only their own network knows: {subjects}.
    What: a broker's file advertises a name that usually only its own network knows: of one label, or in `.internal`,
    `.svc` or the like.
    Why: Docker, Kubernetes and cloud hosts call themselves so. That is right for a listener that serves that network,
    and wrong where the broker has no other one (then it is a warning).
    Remedy: a second listener that advertises a name for clients elsewhere; or an address map at the client.
    """
    for broker, each in advertised_listeners(evidence):
        if not inside_name(each.host):
            continue
        message = f"{each} is for clients that know this name: those in the broker's own network"
        if any(where(other.host) in ("anywhere", "same-machine") for other in broker.advertised):
            yield info(broker.name, message, confidence=Confidence.LIKELY)
        else:
            rule = f"{each.endpoint} = HOST:PORT that can be dialled from there"
            fix = "add a listener that advertises a name which resolves for clients elsewhere"
            yield warning(broker.name, message, rules=rule, broker=fix, confidence=Confidence.LIKELY)


@check("BN825", Need.FILES)
def loopback_in_file(evidence: Evidence) -> Iterator[CheckFinding]:
    """A file advertises the broker's own machine.

    Cause: Brokers tell each other to dial themselves: {subjects}.
    What: a broker's file advertises localhost, 127.x or ::1.
    Why: a client dials itself. That serves clients on the broker's machine (or on a Docker host that publishes the
    port), and nobody else: a warning where the broker has no other listener. As the listener of brokers among
    themselves it joins no two machines, and no two containers.
    Remedy: a second listener that advertises a name for clients elsewhere.
    """
    several = len(serving(evidence)) > 1
    for broker, each in advertised_listeners(evidence):
        alone = f"{each} is for clients on the broker's own machine alone"
        if not is_loopback(each.host):
            continue
        if each.name == broker.inter_broker and several:
            severity = Severity.WARNING if broker.file.published is None else Severity.ERROR
            message = f"{each} is how other brokers should find this one: each of them would dial itself"
            fix = f"advertise {each.name} with a name that the other brokers know"
            yield finding(severity, broker.name, message, broker=fix)
        elif all(is_loopback(other.host) for other in broker.advertised):
            fix = "add a listener that advertises a name which clients elsewhere can dial"
            yield warning(broker.name, alone, broker=fix)
        else:
            yield info(broker.name, alone)


@check("BN826", Need.FILES)
def protocols_differ(evidence: Evidence) -> Iterator[CheckFinding]:
    """One listener name speaks different protocols.

    Cause: Brokers speak different protocols under one listener name ({subjects}).
    What: one listener name has different security protocols on different brokers.
    Why: a client speaks one protocol to all brokers that it is told of, and these are those of one listener name.
    Remedy: one protocol for a name; another name for another protocol.
    """
    for name, advertised in _by_name(evidence).items():
        spoken = {broker.name: broker.protocols[name] for broker, _ in advertised if name in broker.protocols}
        if len(set(spoken.values())) > 1:
            seen = tuple(f"{broker}: {protocol}" for broker, protocol in spoken.items())
            message = f"it speaks {' and '.join(dict.fromkeys(spoken.values()))}"
            yield error(f"listener {name}", message, seen, broker="give one protocol to one name, on every broker")


@check("BN827", Need.FILES)
def port_not_published(evidence: Evidence) -> Iterator[CheckFinding]:
    """A port is advertised that leads elsewhere.

    Cause: The ports that are published do not lead to the listeners that advertise them: {subjects}.
    What: a compose file publishes another port than the one that the broker advertises.
    Why: who comes from outside dials the host's port. Where that is not published, nobody listens; where it leads to
    another listener, clients are told that one's endpoints.
    Remedy: publish the advertised port as the listener's own: `ADVERTISED:BOUND`.
    """
    for broker, told in advertised_listeners(evidence):
        published, bound = broker.file.published, broker.bound_port(told.name)
        if not told.host or inside_name(told.host) or published is None or bound is None:
            continue
        leads_to = [inside for inside, outside in published if outside == told.port]
        seen = (f"published: {', '.join(f'{outside}:{inside}' for inside, outside in published) or 'nothing'}",)
        fix = f'publish it: `ports: ["{told.port}:{bound}"]`'
        if leads_to and bound not in leads_to:
            other = next((each.name for each in broker.listeners if each.port == leads_to[0]), "no listener")
            message = f"{told} is advertised, and the host's port {told.port} leads to {leads_to[0]}, {other}"
            yield error(broker.name, message, seen, broker=fix)
        elif not leads_to and is_loopback(told.host):
            # Another machine's name may be that of a gateway, whose ports are its own.
            message = f"{told} is advertised, and the host's port {told.port} is not published"
            yield warning(broker.name, message, seen, broker=fix)


@check("BN828", Need.FILES, Need.NETWORK, Need.METADATA)
def file_and_reality(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker's file and the running broker differ.

    Cause: Running brokers say something else than their files: {subjects}.
    What: a running broker says something else about its listeners than its file.
    Why: the file was changed after the broker's start, another file is in force, a variable or a dynamic setting
    (`kafka-configs.sh`) goes above it, or it is the file of another cluster.
    Remedy: find out which one is meant; a broker reads its file at its start only.
    """
    probes = [*evidence.bootstraps, *(path.probe for path in evidence.paths if path.probe is not None)]
    seen = set[int]().union(*(probe.node_ids for probe in probes))
    brokers = serving(evidence)
    for broker in brokers:
        if broker.node_id is None:
            continue
        differences = tuple(dict.fromkeys(_differences(broker, probes, seen)))
        if differences:
            fix = "a broker reads its file at its start: restart it, or correct the file"
            yield warning(broker.name, "the file and the running cluster differ", differences, broker=fix)
    without = sorted(seen - {broker.node_id for broker in brokers})
    if without:
        message = f"no file was given for {', '.join(f'node {node}' for node in without)}"
        yield info(f"cluster {evidence.cluster}", message)


def _differences(broker: BrokerListeners, probes: list[EndpointProbe], seen: set[int]) -> Iterator[str]:
    if broker.node_id not in seen:
        yield f"the cluster does not tell of node {broker.node_id}"
    told = {each.endpoint.lower() for each in broker.advertised if each.host}
    known = all(each.host for each in broker.advertised)
    for probe in probes:
        for each in probe.brokers or ():
            if each.node_id == broker.node_id and known and each.endpoint.lower() not in told:
                yield f"who asks {probe.endpoint} is told {each.endpoint}, which the file does not advertise"
        if probe.identity is not None and probe.identity.node_id == broker.node_id:
            running = dict(probe.settings)
            for name, value in broker.settings.items():
                # Of those that both have: a broker tells its defaults too.
                if running.get(name) and _items(running[name]) != _items(value):
                    yield f"{name}: the file has {value}, the broker has {running[name]}"


def _items(value: str) -> set[str]:
    return {item.strip().lower() for item in value.split(",")}
