"""Checks of compose files: what containers make of listeners, and the bootstrap servers of the other services."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from brokernat.config.client_properties import PROTOCOLS
from brokernat.doctor.broker_files.listeners import BrokerListeners, all_listeners, serving
from brokernat.doctor.checks.registry import Need, check, error
from brokernat.doctor.evidence import ComposeClient, Evidence
from brokernat.doctor.finding import CheckFinding, Confidence
from brokernat.doctor.host_kinds import DOCKER_HOST, address, is_loopback


@check("BN833", Need.FILES)
def host_port_twice(evidence: Evidence) -> Iterator[CheckFinding]:
    """Two services publish one port of the host.

    Cause: Services publish the same port of the host, so only one of them starts: {subjects}.
    What: two services of a compose file publish the same port of the host, or bind it in the host's own network.
    Why: a port of the host leads to one container; Docker does not start the second one ("port is already allocated").
    Services that no profile starts together may share a port, and so may services that publish it on different
    addresses of the host.
    Remedy: give each service its own port, and advertise it.
    """
    brokers = all_listeners(evidence)
    for port in sorted({port for broker in brokers for port in broker.host_ports}):
        having = [broker for broker in brokers if port in broker.host_ports]
        together = [each for each in having if any(_in_each_others_way(each, other, port) for other in having)]
        if together:
            names = " and ".join(broker.name for broker in together)
            message = f"the host's port {port} is taken {len(together)} times: only one of them starts"
            yield error(names, message, broker="give each service a port of its own, and advertise it")


def _in_each_others_way(one: BrokerListeners, other: BrokerListeners, port: int) -> bool:
    """Whether both are of one compose file, and neither a profile nor an address of the host keeps them apart."""
    same_file = one.file.project == other.file.project
    at, also_at = one.host_addresses(port), other.host_addresses(port)
    return one is not other and same_file and one.may_run_with(other) and ("" in at | also_at or bool(at & also_at))


@check("BN838", Need.FILES)
def address_of_another_machine(evidence: Evidence) -> Iterator[CheckFinding]:
    """A container binds an address that it does not have.

    Cause: Containers bind addresses that they do not have, so the broker does not start: {subjects}.
    What: a service of a compose file has an IP address in `KAFKA_LISTENERS` that is none of its container.
    Why: a container has the addresses of its Docker networks only, not those of its host: the bind fails with "Cannot
    assign requested address". What clients dial stands in the advertised listeners.
    Remedy: bind every address (`NAME://0.0.0.0:PORT`), and advertise the host's address.
    """
    for broker in all_listeners(evidence):
        for bound in broker.listeners if broker.in_container else ():
            place = address(bound.host)
            if place is None or place.is_unspecified or place.is_loopback or bound.host in broker.file.names:
                continue
            message = f"{bound} is bound in a container, which does not have this address"
            yield error(broker.name, message, broker=f"bind every address: `{bound.name}://0.0.0.0:{bound.port}`")


@check("BN839", Need.FILES)
def client_of_the_file(evidence: Evidence) -> Iterator[CheckFinding]:
    """A service of the compose file has a bootstrap server that does not serve it.

    Cause: Services of the compose file have bootstrap servers that do not serve them: {subjects}.
    What: a variable of a service has a bootstrap server that is the container itself, that no broker binds, that is in
    another network, that has another protocol, or whose listener advertises localhost.
    Why: in a container `localhost` is the container. A broker answers with the endpoints of the listener that the
    client connected to, and one that advertises localhost is for clients on the Docker host.
    Remedy: use the listener that advertises the service's name, as `SERVICE:PORT`.
    """
    brokers = [broker for broker in serving(evidence) if broker.file.clients and broker.file.names]
    for client in dict.fromkeys(client for broker in brokers for client in broker.file.clients):
        siblings = [broker for broker in brokers if client in broker.file.clients]
        if client.for_zookeeper or any(client.service in broker.file.names for broker in siblings):
            continue
        at = next((broker for broker in siblings if client.host in broker.file.names), None)
        message = _fault(client, at, siblings)
        if message:
            right = [end for broker in siblings if at in (None, broker) for end in _for_client(client, broker)]
            fix = f"add a listener to the broker that advertises {(at or siblings[0]).file.names[0]}:PORT, and use it"
            if client.way == "apart":
                fix = "put both services into one network (`networks`)"
            elif right:
                fix = f"in `{client.variable}` write {right[0]} for {client.host}:{client.port}"
            yield error(client.service, f"`{client.variable}` has {client.host}:{client.port}, {message}", client=fix)


def _fault(client: ComposeClient, broker: BrokerListeners | None, siblings: list[BrokerListeners]) -> str | None:
    """What is wrong with a bootstrap server; None if nothing, or if it leads to something else than these brokers."""
    ports = {port for each in siblings for pair in each.file.published or () for port in pair}
    ports |= {listener.port for each in siblings for listener in each.listeners}
    if client.host.lower() in DOCKER_HOST:
        return _by_the_host(client, siblings)
    if client.way == "own":
        return "which in its container is the container itself" if client.port in ports else None
    if client.way == "unknown":
        names = [name for each in siblings for name in each.file.names]
        near = get_close_matches(client.host, names, n=1, cutoff=0.75)
        called = (near or names)[0]
        return f"and no service has this name; one is called {called}" if near or client.port in ports else None
    if broker is None or client.way == "elsewhere":
        return None
    if client.way == "host":
        return "a name that the Docker host, whose network the service uses, does not resolve"
    if client.way == "apart":
        return "and shares no network with that service"
    listener = next((each for each in broker.of_clients() if each.port == client.port), None)
    if listener is None and any(each.port == client.port for each in broker.listeners):
        return "where the controllers' listener is bound, which serves no clients"
    if listener is None:
        bound = ", ".join(str(each.port) for each in broker.of_clients())
        return f"where no listener is bound (bound: {bound})"
    told = next((each for each in broker.advertised if each.name == listener.name), None)
    if told is not None and is_loopback(told.host):
        return f"whose listener {listener.name} advertises {told.endpoint}: the client then dials itself"
    protocol = broker.protocols.get(listener.name)
    if client.protocol in PROTOCOLS and protocol is not None and protocol != client.protocol:
        return f"written as {client.protocol}, and the listener {listener.name} has the protocol {protocol}"
    return None


def _by_the_host(client: ComposeClient, siblings: list[BrokerListeners]) -> str | None:
    """What is wrong with a bootstrap server that is a published port of the Docker host."""
    for broker in siblings:
        for inside, outside in broker.file.published or ():
            told = next((each for each in broker.advertised if broker.bound_port(each.name) == inside), None)
            if outside == client.port and told is not None and is_loopback(told.host):
                return f"whose listener {told.name} advertises {told.endpoint}: the client then dials itself"
    return None


def _for_client(client: ComposeClient, broker: BrokerListeners) -> list[str]:
    """The endpoints that serve clients in the same Docker network, or on the Docker host."""
    return [
        each.endpoint
        for each in broker.advertised
        if (client.way == "host" and is_loopback(each.host))
        or (each.host in broker.file.names and broker.bound_port(each.name) == each.port and client.way != "host")
    ]


_OFFSETS, _TRANSACTIONS = "offsets.topic.replication.factor", "transaction.state.log.replication.factor"


@check("BN840", Need.FILES)
def more_replicas_than_brokers(evidence: Evidence) -> Iterator[CheckFinding]:
    """An internal topic needs more brokers than there are.

    Cause: Internal topics need more brokers than the compose file has, so consumer groups or transactions get no
    coordinator: {subjects}.
    What: `offsets.topic.replication.factor` or `transaction.state.log.replication.factor` is greater than the number of
    brokers in the compose file.
    Why: the first consumer group creates the topic `__consumer_offsets`, which fails with fewer brokers than replicas;
    consumers then wait for a coordinator without an error. Kafka's default is 3; the images of Apache (once a variable
    is a setting) and Confluent do not change it.
    Remedy: set it to the number of brokers: `KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR`.
    """
    brokers = all_listeners(evidence)
    for broker in (each for each in brokers if each.serves_clients):
        project = [each for each in brokers if each.file.project == broker.file.project]
        together = [each for each in project if each.serves_clients and each.may_share_cluster(broker)]
        if not broker.file.names or not _is_whole(broker, project):
            continue
        wanted = {name: broker.settings.get(name, "") for name in (_OFFSETS, _TRANSACTIONS)}
        high = {name: text for name, text in wanted.items() if text.isdecimal() and int(text) > len(together)}
        if high:
            of = "the only broker" if len(together) == 1 else f"{len(together)} brokers"
            message = f"{' and '.join(f'`{name}` is {text}' for name, text in high.items())}, with {of} in the file"
            fix = [f"set `KAFKA_{name.upper().replace('.', '_')}` to {len(together)}" for name in high]
            yield error(broker.name, message, broker=tuple(fix), confidence=Confidence.LIKELY)


def _is_whole(broker: BrokerListeners, project: list[BrokerListeners]) -> bool:
    """Whether the compose file has the whole cluster: all controllers, or the ZooKeeper of all brokers."""
    if not broker.is_kraft:
        return bool(broker.zookeepers) and set(broker.zookeepers) <= set(broker.file.zookeepers)
    return {voter.node_id for voter in broker.voters} <= {each.node_id for each in project}
