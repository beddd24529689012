"""Brokers' files: what clients learn from brokers that run with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from brokernat.doctor.broker_files.listener_table import where
from brokernat.doctor.broker_files.listeners import BrokerListeners, Listener, serving
from brokernat.doctor.checks.registry import Need, check, finding
from brokernat.doctor.evidence import EndpointProbe, Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy, Severity
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
        told = {each.name for each in broker.advertised}
        for each in broker.of_clients():
            if each.name not in told:
                remedy = Remedy(broker=(f"add {each.name}://HOST:{each.port} to `advertised.listeners`",))
                message = f"{each} is bound and not advertised: who comes in there is told of no broker here"
                yield finding(Severity.WARNING, broker.name, message, remedy=remedy)


@check("BN818", Need.FILES)
def own_name_advertised(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker advertises its machine's own name.

    Cause: Brokers advertise whatever their machines call themselves: {subjects}.
    What: a listener has no host, and so the broker advertises the name that its machine calls itself.
    Why: Kafka asks the machine for its own name. In a container that is the container's id, on a cloud host an internal
    name; clients elsewhere seldom know either.
    Remedy: `advertised.listeners` with a name that clients know.
    """
    for broker in serving(evidence):
        for each in broker.advertised:
            if not each.host:
                yield finding(
                    Severity.WARNING,
                    broker.name,
                    f"{each} has no host: what is advertised is the machine's own name for itself",
                    remedy=Remedy(broker=(f"advertise {each.name}://HOST:{each.port} with a host that clients know",)),
                    confidence=Confidence.LIKELY,
                )


@check("BN821", Need.FILES)
def same_endpoint_in_files(evidence: Evidence) -> Iterator[CheckFinding]:
    """Two brokers' files advertise the same endpoint.

    Cause: Several brokers' files advertise one endpoint ({subjects}).
    What: two brokers' files advertise one host and port.
    Why: a client that wants the one meets either. Brokers behind one balancer, a file that was copied, `localhost` on
    several machines: to a client it is one endpoint.
    Remedy: a port or a name of its own for each broker.
    """
    brokers = serving(evidence)
    told = [(broker, each) for broker in brokers for each in broker.advertised if each.host]
    for endpoint in dict.fromkeys(each.endpoint.lower() for _, each in told):
        found = [(broker, each) for broker, each in told if each.endpoint.lower() == endpoint]
        if len({id(broker) for broker, _ in found}) > 1:
            remedy = Remedy(broker=("advertise a port or a name of its own for each broker",))
            seen = tuple(f"{broker.name} advertises {each}" for broker, each in found)
            message = f"{len({id(broker) for broker, _ in found})} brokers advertise it"
            yield finding(Severity.ERROR, endpoint, message, seen, remedy=remedy)


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
    for name in dict.fromkeys(each.name for broker in brokers for each in broker.advertised):
        having = [broker for broker in brokers if any(each.name == name for each in broker.advertised)]
        lacking = [broker for broker in brokers if broker not in having]
        if not lacking:
            continue
        told = [each.endpoint for broker in having for each in broker.advertised if each.name == name]
        remedy = Remedy(
            ("give bootstrap servers of one listener, that all brokers have",),
            (f"define and advertise {name} on {', '.join(broker.name for broker in lacking)} too",),
        )
        yield finding(
            Severity.ERROR,
            f"listener {name}",
            f"{len(lacking)} of {len(brokers)} brokers lack it",
            (
                f"who comes in on it is told: {', '.join(told)}",
                f"and never hears of: {', '.join(broker.name for broker in lacking)}",
            ),
            remedy=remedy,
        )


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
    for broker in serving(evidence):
        others = any(where(each.host) in ("anywhere", "same-machine") for each in broker.advertised)
        for each in broker.advertised:
            if inside_name(each.host):
                remedy = Remedy(
                    rules=(f"{each.endpoint} = HOST:PORT that can be dialled from there",),
                    broker=("add a listener that advertises a name which resolves for clients elsewhere",),
                )
                yield finding(
                    Severity.INFO if others else Severity.WARNING,
                    broker.name,
                    f"{each} is for clients that know this name: those in the broker's own network",
                    remedy=Remedy() if others else remedy,
                    confidence=Confidence.LIKELY,
                )


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
    brokers = serving(evidence)
    for broker in brokers:
        alone = all(is_loopback(each.host) for each in broker.advertised)
        for each in broker.advertised:
            if not is_loopback(each.host):
                continue
            remedy = Remedy(broker=("add a listener that advertises a name which clients elsewhere can dial",))
            if each.name == broker.inter_broker and len(brokers) > 1:
                severity = Severity.WARNING if broker.file.published is None else Severity.ERROR
                message = f"{each} is how other brokers should find this one: each of them would dial itself"
                remedy = Remedy(broker=(f"advertise {each.name} with a name that the other brokers know",))
            else:
                severity = Severity.WARNING if alone else Severity.INFO
                message = f"{each} is for clients on the broker's own machine alone"
            yield finding(severity, broker.name, message, remedy=remedy if severity != "info" else Remedy())


@check("BN826", Need.FILES)
def protocols_differ(evidence: Evidence) -> Iterator[CheckFinding]:
    """One listener name speaks different protocols.

    Cause: Brokers speak different protocols under one listener name ({subjects}).
    What: one listener name has different security protocols on different brokers.
    Why: a client speaks one protocol to all brokers that it is told of, and these are those of one listener name.
    Remedy: one protocol for a name; another name for another protocol.
    """
    brokers = serving(evidence)
    for name in dict.fromkeys(each.name for broker in brokers for each in broker.advertised):
        having = [broker for broker in brokers if any(each.name == name for each in broker.advertised)]
        spoken = {broker.name: broker.protocols[name] for broker in having if name in broker.protocols}
        if len(set(spoken.values())) > 1:
            seen = tuple(f"{broker}: {protocol}" for broker, protocol in spoken.items())
            remedy = Remedy(broker=("give one protocol to one name, on every broker",))
            message = f"it speaks {' and '.join(dict.fromkeys(spoken.values()))}"
            yield finding(Severity.ERROR, f"listener {name}", message, seen, remedy=remedy)


@check("BN827", Need.FILES)
def port_not_published(evidence: Evidence) -> Iterator[CheckFinding]:
    """A port is advertised that leads elsewhere.

    Cause: The ports that are published do not lead to the listeners that advertise them: {subjects}.
    What: a compose file publishes another port than the one that the broker advertises.
    Why: who comes from outside dials the host's port. Where that is not published, nobody listens; where it leads to
    another listener, clients are told that one's endpoints.
    Remedy: publish the advertised port as the listener's own: `ADVERTISED:BOUND`.
    """
    for broker in serving(evidence):
        for each in broker.advertised:
            if each.host and not inside_name(each.host):
                yield from _one(broker, each)


def _one(broker: BrokerListeners, told: Listener) -> Iterator[CheckFinding]:
    published = broker.file.published
    bound = next((each.port for each in broker.listeners if each.name == told.name), None)
    if published is None or bound is None:
        return
    leads_to = [inside for inside, outside in published if outside == told.port]
    remedy = Remedy(broker=(f'publish it: `ports: ["{told.port}:{bound}"]`',))
    if leads_to and bound not in leads_to:
        other = next((each.name for each in broker.listeners if each.port == leads_to[0]), "no listener")
        message = f"{told} is advertised, and the host's port {told.port} leads to {leads_to[0]}, {other}"
        yield finding(Severity.ERROR, broker.name, message, _seen(published), remedy=remedy)
    elif not leads_to and is_loopback(told.host):
        # Another machine's name may be that of a gateway, whose ports are its own.
        message = f"{told} is advertised, and the host's port {told.port} is not published"
        yield finding(Severity.WARNING, broker.name, message, _seen(published), remedy=remedy)


def _seen(published: tuple[tuple[int, int], ...]) -> tuple[str, ...]:
    return (f"published: {', '.join(f'{outside}:{inside}' for inside, outside in published) or 'nothing'}",)


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
    seen = {each.node_id for probe in probes for each in probe.brokers or ()}
    brokers = serving(evidence)
    for broker in brokers:
        if broker.node_id is None:
            continue
        differences = tuple(dict.fromkeys(_differences(broker, probes, seen)))
        if differences:
            remedy = Remedy(broker=("a broker reads its file at its start: restart it, or correct the file",))
            message = "the file and the running cluster differ"
            yield finding(Severity.WARNING, broker.name, message, differences, remedy=remedy)
    without = sorted(seen - {broker.node_id for broker in brokers})
    if without:
        message = f"no file was given for {', '.join(f'node {node}' for node in without)}"
        yield finding(Severity.INFO, f"cluster {evidence.cluster}", message)


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
            yield from _settings(broker.settings, dict(probe.settings))


def _settings(file: Mapping[str, str], running: Mapping[str, str]) -> Iterator[str]:
    """Those that both have; a broker tells its defaults too."""
    for name, value in file.items():
        if running.get(name) and _items(running[name]) != _items(value):
            yield f"{name}: the file has {value}, the broker has {running[name]}"


def _items(value: str) -> set[str]:
    return {item.strip().lower() for item in value.split(",")}
