"""Checks of brokers' files: the endpoints that clients receive from brokers with these files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from brokernat.doctor.broker_files.listeners import (
    BrokerListeners,
    Listener,
    ListenerOfBroker,
    advertised_listeners,
    serving,
)
from brokernat.doctor.checks.places import dialled_nodes
from brokernat.doctor.checks.registry import Need, check, error, finding, info, warning
from brokernat.doctor.evidence import Advertised, EndpointProbe, Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Failure, Severity
from brokernat.doctor.host_kinds import address, inside_name, is_loopback


@check("BN816", Need.FILES)
def not_advertised(evidence: Evidence) -> Iterator[CheckFinding]:
    """A listener is not advertised.

    Cause: A listener is not advertised, so its clients do not receive the broker: {subjects}.
    What: a listener is bound, and `advertised.listeners` leaves it out.
    Why: a broker answers a client on this port with the brokers that advertise this listener name, and there are none.
    The client gets an empty list, or waits for metadata.
    Remedy: advertise it, or do not bind it.
    """
    for broker in serving(evidence):
        for each in broker.of_clients():
            if each.name not in {listener.name for listener in broker.advertised}:
                fix = f"add {each.name}://HOST:{each.port} to `advertised.listeners`"
                message = f"{each} is bound but not advertised: its clients do not receive this broker"
                yield warning(broker.name, message, broker=fix)


@check("BN818", Need.FILES)
def own_name_advertised(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker advertises its machine's own host name.

    Cause: Brokers advertise the host names of their machines: {subjects}.
    What: a listener has no host, so the broker advertises the host name of its machine.
    Why: Kafka uses the machine's own host name. In a container this is the container's id, on a cloud host an internal
    name; clients elsewhere rarely resolve either.
    Remedy: set `advertised.listeners` to a name that clients resolve.
    """
    for broker, each in advertised_listeners(evidence):
        if not each.host:
            message = f"{each} has no host, so the broker advertises the host name of its machine"
            fix = f"advertise {each.name}://HOST:{each.port} with a host that clients resolve"
            # Containers of its network know a container by its id.
            for_containers = broker.in_container and any(other.host for other in broker.advertised)
            severity = Severity.INFO if for_containers else Severity.WARNING
            yield finding(severity, broker.name, message, broker=fix, confidence=Confidence.LIKELY)


@check("BN821", Need.FILES)
def same_endpoint_in_files(evidence: Evidence) -> Iterator[CheckFinding]:
    """Two brokers' files advertise the same endpoint.

    Cause: Several brokers' files advertise one endpoint ({subjects}).
    What: two brokers' files advertise the same host and port.
    Why: a client that connects to one of them may reach either. Causes are a load balancer in front of all brokers, a
    copied file, or `localhost` on several machines.
    Remedy: give each broker its own port or name.
    """
    advertised = [(broker, each) for broker, each in advertised_listeners(evidence) if each.host]
    for endpoint in dict.fromkeys(each.endpoint.lower() for _, each in advertised):
        found = [(broker, each) for broker, each in advertised if each.endpoint.lower() == endpoint]
        number = len({id(broker) for broker, _ in found})
        if number > 1 and any(one.may_run_with(other) for one, _ in found for other, _ in found if one is not other):
            seen = [f"{broker.name} advertises {each}" for broker, each in found]
            fix = "give each broker its own port or name"
            yield error(endpoint, f"{number} brokers advertise the same endpoint", seen, broker=fix)


@check("BN822", Need.FILES)
def listener_on_some(evidence: Evidence) -> Iterator[CheckFinding]:
    """Some brokers lack a listener that others have.

    Cause: Some brokers lack a listener that others have, so a client's brokers depend on the port that it connects to:
    {subjects}.
    What: some brokers advertise a listener name that others lack.
    Why: a broker answers with the brokers that have the listener NAME of the client's port. A client of this name never
    receives the others: partitions led by them have no leader. If the bootstrap servers belong to several names, the
    client's brokers change with each metadata update.
    Remedy: define the same names on every broker, and give bootstrap servers of one name.
    """
    brokers = serving(evidence)
    for name, advertised in _by_name(evidence).items():
        having = [broker for broker, _ in advertised]
        lacking = [broker.name for broker in brokers if broker not in having]
        if lacking:
            endpoints = ", ".join(each.endpoint for _, each in advertised)
            others = ", ".join(lacking)
            yield error(
                f"listener {name}",
                f"{len(lacking)} of {len(brokers)} brokers lack it",
                (f"its clients receive: {endpoints}", f"and never receive: {others}"),
                client="use bootstrap servers of one listener that all brokers have",
                broker=f"define and advertise {name} on {others} too",
            )


def _by_name(evidence: Evidence) -> dict[str, list[ListenerOfBroker]]:
    """The brokers that advertise each listener name, each with its advertised endpoint."""
    found: dict[str, list[ListenerOfBroker]] = {}
    for each in advertised_listeners(evidence):
        found.setdefault(each.listener.name, []).append(each)
    return found


@check("BN835", Need.FILES)
def port_unlike_others(evidence: Evidence) -> Iterator[CheckFinding]:
    """One broker's file advertises another port than the others.

    Cause: One broker's file advertises another port than the others: {subjects}.
    What: all brokers bind one port for a listener, all others advertise it on hosts of their own, and one advertises
    another port.
    Why: this may be a typo. Each host may also have a forward with a port of its own, so it is a warning.
    Remedy: advertise the port of the others.
    """
    for name, advertised in _by_name(evidence).items():
        bound, *other_ports = {broker.bound_port(name) for broker, _ in advertised}
        hosts = {listener.host.lower() for _, listener in advertised}
        odd = [each for each in advertised if each.listener.port != bound]
        if other_ports or len(hosts) < len(advertised) or len(advertised) < 2 or len(odd) != 1:
            continue
        ((broker, listener),) = odd
        if broker.file.published is None:
            message = f"{listener} is advertised, and the other brokers advertise and bind port {bound}"
            fix = f"correct the port of {listener} in `advertised.listeners`, unless a forward leads there"
            yield warning(broker.name, message, broker=fix, confidence=Confidence.LIKELY)


@check("BN824", Need.FILES)
def inside_name_in_file(evidence: Evidence) -> Iterator[CheckFinding]:
    """A file advertises a name that only its own network knows.

    Cause: The brokers advertise names that only their own network knows{reason}.
    What: a broker's file advertises a name that usually only its own network resolves: a name of one label, or one in
    `.internal`, `.svc` or the like; or a container publishes a listener that advertises the container's own address.
    Why: Docker, Kubernetes and cloud providers give hosts such names. This is correct for a listener of that network.
    If the broker has no other listener, the finding is a warning. It is an error if the listener's port is published
    and no other service uses its endpoint: whoever bootstraps at the host's port receives a name of Docker's network.
    Remedy: add a second listener that advertises a name for clients elsewhere; or give the client an address map.
    """
    for broker, each in advertised_listeners(evidence):
        bound = broker.bound_port(each.name)
        published = dict(broker.file.published or ()).get(bound or 0)
        if published and address(each.host) is not None and each.host in broker.file.names:
            message = f"{each} has the container's own address, which clients on other machines do not reach"
            fix = f"advertise {each.name}://HOST:{each.port} with the Docker host's name"
            yield warning(broker.name, message, broker=fix, confidence=Confidence.LIKELY)
        if not inside_name(each.host):
            continue
        message = f"{each} is for clients that resolve this name, usually those in the broker's own network"
        others_own = {name for other in serving(evidence) for name in other.file.names}
        near = get_close_matches(each.host, broker.file.names, n=1, cutoff=0.75)
        if near and each.host not in others_own:
            fix = f"advertise {each.name}://{near[0]}:{each.port}, or give the service this name (`hostname`)"
            message = f"{each} is advertised, and no service has this name; this one is called {near[0]}"
            yield warning(broker.name, message, broker=fix, confidence=Confidence.LIKELY)
        elif broker.file.names[:1] == (each.host,) and broker.file.published is None:
            message = f"{each} is advertised, and the Docker host, whose network the service uses, has no such name"
            fix = f"advertise {each.name}://HOST:{each.port} with the Docker host's name"
            yield error(broker.name, message, broker=fix, confidence=Confidence.LIKELY)
        elif published and each.host in broker.file.names and not _used(broker, each):
            message = f"the host's port {published} leads to {each.name}, which advertises {each.endpoint}"
            seen = (f"clients on the host bootstrap at port {published} and then fail to resolve {each.host}",)
            fix = f"advertise {each.name}://localhost:{published}, or for other machines the Docker host's name"
            if not any(other.host in broker.file.names for other in broker.advertised if other != each):
                fix += ", and add a listener for the other containers"
            yield error(broker.name, message, seen, broker=fix, confidence=Confidence.LIKELY)
        elif _serves_clients_elsewhere(broker, each) or _used(broker, each):
            yield info(broker.name, message, confidence=Confidence.LIKELY)
        else:
            rule = f"{each.endpoint} = HOST:PORT that can be dialled from there"
            fix = "add a listener that advertises a name that clients elsewhere resolve"
            yield warning(broker.name, message, rules=rule, broker=fix, confidence=Confidence.LIKELY)


def _serves_clients_elsewhere(broker: BrokerListeners, advertised: Listener) -> bool:
    """Whether the broker has another listener for clients elsewhere."""
    published = dict(broker.file.published or ())
    return any(
        other.where in ("anywhere", "same-machine") or broker.bound_port(other.name) in published
        for other in broker.advertised
        if other != advertised
    )


def _used(broker: BrokerListeners, advertised: Listener) -> bool:
    """Whether another service of the compose file bootstraps at this endpoint."""
    at = advertised.host, advertised.port
    return any((each.host, each.port) == at for each in broker.file.clients if each.service not in broker.file.names)


@check("BN825", Need.FILES)
def loopback_in_file(evidence: Evidence) -> Iterator[CheckFinding]:
    """A file advertises a loopback address.

    Cause: Listeners advertise a loopback address, which leads clients and brokers elsewhere to themselves: {subjects}.
    What: a broker's file advertises localhost, 127.x or ::1.
    Why: a client that receives it dials its own machine. This works only on the broker's machine, or on a Docker host
    that publishes the port; if the broker has no other listener, the finding is a warning. It is an error if other
    brokers advertise another host for this listener. As the inter-broker listener it cannot connect two machines or two
    containers.
    Remedy: add a second listener that advertises a name for clients elsewhere.
    """
    several, names = len(serving(evidence)), _by_name(evidence)
    for broker, each in advertised_listeners(evidence):
        if not is_loopback(each.host):
            continue
        others = [other for _, other in names[each.name] if other.host and not is_loopback(other.host)]
        alone = f"{each} is only for clients on the broker's machine"
        on_one_machine = broker.file.published is None and len({end.endpoint for _, end in names[each.name]}) == several
        if each.name == broker.inter_broker and several > 1 and on_one_machine and not others:
            message = f"{each} is the inter-broker listener: brokers find each other on one machine only"
            yield info(broker.name, message, broker=f"on several machines advertise {each.name} with their names")
        elif each.name == broker.inter_broker and several > 1:
            severity = Severity.WARNING if broker.file.published is None and not others else Severity.ERROR
            message = f"{each} is the inter-broker listener: each other broker would dial itself"
            fix = f"advertise {each.name} with a name that the other brokers resolve"
            yield finding(severity, broker.name, message, broker=fix)
        elif others:
            message = f"{each} is only for its own machine, and other brokers advertise {others[0]}: clients there fail"
            fix = f"advertise {each.name}://HOST:{each.port} with a host that clients dial, as {others[0]} has"
            yield error(broker.name, message, broker=fix)
        elif all(is_loopback(other.host) for other in broker.advertised):
            fix = "add a listener that advertises a name that clients elsewhere can dial"
            yield warning(broker.name, alone, broker=fix)
        else:
            yield info(broker.name, alone)


@check("BN826", Need.FILES)
def protocols_differ(evidence: Evidence) -> Iterator[CheckFinding]:
    """One listener name has different protocols.

    Cause: One listener name has different protocols on different brokers: {subjects}.
    What: one listener name has different security protocols on different brokers.
    Why: a client uses one protocol for all brokers that it receives, and these are the brokers of one listener name.
    Remedy: use one protocol for each listener name, and another name for another protocol.
    """
    for name, advertised in _by_name(evidence).items():
        spoken = {broker.name: broker.protocols[name] for broker, _ in advertised if name in broker.protocols}
        if len(set(spoken.values())) > 1:
            seen = tuple(f"{broker}: {protocol}" for broker, protocol in spoken.items())
            message = f"brokers differ in its protocol: {' and '.join(dict.fromkeys(spoken.values()))}"
            yield error(f"listener {name}", message, seen, broker="use one protocol for this name on every broker")


@check("BN828", Need.FILES, Need.NETWORK, Need.METADATA, explains=("BN301", "BN302", "BN308"))
def file_and_reality(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker's file and the running broker differ.

    Cause: Running brokers have other listener settings than their files: {subjects}.
    What: the listener settings of a running broker differ from its file.
    Why: the file was changed after the broker's start, the broker uses another file, a variable or a dynamic setting
    (`kafka-configs.sh`) overrides it, or the file belongs to another cluster. It is an error if clients fail at an
    endpoint that the file does not advertise.
    Remedy: find out which of the two is correct; a broker reads its file only at its start.
    """
    probes = evidence.probes
    seen = set[int]().union(*(probe.node_ids for probe in probes))
    brokers = serving(evidence)
    for broker in brokers:
        if broker.node_id is None:
            continue
        differences = tuple(dict.fromkeys(_differences(broker, probes, seen)))
        if differences:
            fix = "a broker reads its file at its start: restart it, or correct the file"
            if broker.file.names:
                fix = "a container keeps its environment: `docker compose up -d` replaces it; or correct the file"
            failures = [*_at_old_endpoints(broker, evidence)]
            message = "the file and the running cluster differ"
            if failures:
                ends = ", ".join(dict.fromkeys(each.endpoint for each in failures))
                message += f": the broker returns {ends}, where clients fail, and its file does not advertise it"
            severity = Severity.ERROR if failures else Severity.WARNING
            yield finding(severity, broker.name, message, differences, broker=fix, explains=failures)
    without = sorted(seen - {broker.node_id for broker in brokers})
    if without:
        message = f"no file was given for {', '.join(f'node {node}' for node in without)}"
        yield info(evidence.subject, message)


def _at_old_endpoints(broker: BrokerListeners, evidence: Evidence) -> Iterator[Failure]:
    """The failures of clients at an endpoint of the broker that its file does not advertise."""
    for probed in dialled_nodes(evidence):
        old = probed.path.rule is None and _is_not_in_file(probed.path.broker, broker)
        if old and probed.failure is not None and probed.failure.stage in ("resolve", "connect"):
            yield probed.failure


def _differences(broker: BrokerListeners, probes: Sequence[EndpointProbe], seen: set[int]) -> Iterator[str]:
    if broker.node_id not in seen:
        yield f"metadata does not list node {broker.node_id}"
    for probe in probes:
        for each in probe.brokers or ():
            if _is_not_in_file(each, broker):
                yield f"{probe.endpoint} returns {each.endpoint}, which the file does not advertise"
        if probe.node_id == broker.node_id:
            running = dict(probe.settings)
            for name, value in broker.settings.items():
                # Compare only settings that both have: a broker reports its defaults too.
                if running.get(name) and _items(running[name]) != _items(value):
                    yield f"{name}: the file has {value}, the broker has {running[name]}"


def _is_not_in_file(running: Advertised, broker: BrokerListeners) -> bool:
    """Whether a broker advertises an endpoint that its file does not; a listener without a host may be any."""
    in_file = {each.endpoint.lower() for each in broker.advertised}
    known = all(each.host for each in broker.advertised)
    return running.node_id == broker.node_id and known and running.endpoint.lower() not in in_file


def _items(value: str) -> set[str]:
    return {item.strip().lower() for item in value.split(",")}
