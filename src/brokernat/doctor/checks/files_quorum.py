"""Checks of brokers' files: what stops a node of a quorum (KRaft) from starting or from finding the controllers, and a
broker from finding ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from brokernat.doctor.broker_files.listeners import BrokerListeners, Voter, all_listeners
from brokernat.doctor.checks.registry import Need, check, error, info, warning
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Confidence
from brokernat.doctor.host_kinds import is_loopback

_REJECTING = ((3, 1), (3, 8))
"""The releases that refuse a controllers' listener in `advertised.listeners`."""
_CONTROLLERS, _VOTERS = "controller.listener.names", "controller.quorum.voters"
_TO_BOOTSTRAP = "controller.quorum.bootstrap.servers"
_LACKING = {
    "CLUSTER_ID": (
        "`CLUSTER_ID` is not set: the image's start script ends with an error",
        "set `CLUSTER_ID`, the same for every node, to the output of `kafka-storage.sh random-uuid`",
    ),
    "KAFKA_PROCESS_ROLES": (
        "`KAFKA_PROCESS_ROLES` is not set, nor a ZooKeeper that this Kafka knows: the image ends with an error",
        "set `KAFKA_PROCESS_ROLES`, `KAFKA_NODE_ID`, `KAFKA_CONTROLLER_LISTENER_NAMES` and "
        "`KAFKA_CONTROLLER_QUORUM_VOTERS`: with any setting of its own, the image has no other defaults",
    ),
    "KAFKA_ZOOKEEPER_CONNECT": (
        "`KAFKA_ZOOKEEPER_CONNECT` is not set: the image's start script ends with an error",
        "set `KAFKA_ZOOKEEPER_CONNECT` to `HOST:PORT` of ZooKeeper",
    ),
    "KAFKA_CONTROLLER_QUORUM_VOTERS": (
        "`KAFKA_CONTROLLER_QUORUM_VOTERS` is not set: with `process.roles` Kafka refuses to start without it",
        "set `KAFKA_CONTROLLER_QUORUM_VOTERS` to `ID@HOST:PORT` of each node with the role `controller`",
    ),
}


@check("BN823", Need.FILES, explains=("BN814", "BN816"))
def controller_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """The controllers' listener is wrong.

    Cause: The quorum's listener is missing or in the wrong place, so the node does not start: {subjects}.
    What: the controllers' listener is missing, is bound on the wrong node, or is advertised to brokers and clients.
    Why: in KRaft mode `controller.listener.names` lists the listeners of the quorum. Nodes with the controller role
    bind them, and other brokers only dial them; a broker that breaks this rule does not start. Kafka compares these
    names as written, not in upper case.
    Remedy: follow the hint of the finding.
    """
    for broker in all_listeners(evidence):
        if broker.is_kraft:
            yield from _kraft(broker)
        elif broker.controllers and not broker.migrates:
            message = f"`{_CONTROLLERS}` without `process.roles`: a broker in ZooKeeper mode rejects it"
            fix = "set `process.roles`"
            if "zookeeper.connect" in broker.settings:
                fix += f", or remove `{_CONTROLLERS}` (only a migration to KRaft needs it)"
            yield error(broker.name, message, broker=fix, confidence=Confidence.LIKELY)


def _kraft(broker: BrokerListeners) -> Iterator[CheckFinding]:
    bound = {each.name for each in broker.listeners}
    absent = [name for name in broker.controllers if name not in bound]
    present = [name for name in broker.controllers if name in bound]
    others = [each.name for each in broker.of_clients()]
    advertised = [str(each) for each in broker.advertised_setting or () if each.name in broker.controllers]
    if not broker.controllers:
        fix = f"set `{_CONTROLLERS}` to the name of the quorum's listener"
        yield error(broker.name, f"`{_CONTROLLERS}` is not set", broker=fix)
    elif "controller" in broker.roles and absent:
        port = next((voter.port for voter in broker.voters if voter.node_id == broker.node_id), 9093)
        fix = f"add {absent[0]}://:{port} to `listeners`; write the name in upper case there"
        if near := get_close_matches(absent[0], bound, n=1, cutoff=0.75):
            fix = f"`listeners` has {near[0]}: give both the same name"
        yield error(
            broker.name, f"`{_CONTROLLERS}` has {', '.join(absent)}, which `listeners` does not bind", broker=fix
        )
    elif "controller" not in broker.roles and present:
        fix = f"remove {', '.join(present)} from `listeners`: only nodes with the controller role bind it"
        yield error(broker.name, f"a node without the controller role binds {', '.join(present)}", broker=fix)
    elif not broker.serves_clients and others:
        fix = f"remove {', '.join(others)} from `listeners`, or add the role `broker`"
        yield error(broker.name, f"a node without the broker role binds {', '.join(others)}", broker=fix)
    if advertised and broker.serves_clients:
        message = f"{', '.join(advertised)} is advertised: Kafka 3.1 to 3.8 rejects that"
        release, fix = broker.file.release, f"remove {', '.join(advertised)} from `advertised.listeners`"
        if release is None:
            yield info(broker.name, f"{message}, later ones use it for controllers only")
        elif _REJECTING[0] <= release <= _REJECTING[1]:
            yield error(broker.name, message, (f"the image has Kafka {release[0]}.{release[1]}",), broker=fix)


@check("BN836", Need.FILES)
def quorum_elsewhere(evidence: Evidence) -> Iterator[CheckFinding]:
    """The controllers or ZooKeeper are not where a node looks for them.

    Cause: Nodes do not find the controllers or ZooKeeper at the addresses in their files: {subjects}.
    What: `controller.quorum.voters` has a host or a port at which that node's controllers' listener is not bound, or
    the nodes' files differ in it; or `zookeeper.connect` leads a container to itself, or to a name or a port that the
    compose file's ZooKeeper does not have.
    Why: each node dials the controllers at the addresses in this setting. A broker starts only when it has found the
    active controller; until then it waits, and logs that the connection could not be established.
    Remedy: write host and port of the listener in `controller.listener.names`, the same in every file.
    """
    brokers = all_listeners(evidence)
    for broker in brokers:
        siblings = [each for each in brokers if each.may_share_cluster(broker)]
        controllers = {each.node_id: each for each in siblings if "controller" in each.roles}
        wrong = [voter for voter in broker.voters if _other_port(voter, controllers)]
        if wrong:
            named = ", ".join(f"port {voter.port} for node {voter.node_id}" for voter in wrong)
            right = ", ".join(f"{_ports(controllers[voter.node_id])[0]} for node {voter.node_id}" for voter in wrong)
            message = f"`{_VOTERS}` has {named}, where the controllers' listener is not bound"
            yield error(broker.name, message, broker=f"in `{_VOTERS}` write port {right}")
        yield from _hosts(broker, controllers)
        yield from _zookeeper(broker)
    having = [broker for broker in brokers if broker.voters]
    differing = {
        tuple(sorted(broker.voters)): broker.name
        for broker in having
        if any(set(broker.voters) != set(other.voters) and broker.may_share_cluster(other) for other in having)
    }
    if differing:
        seen = [f"{name}: {', '.join(map(str, voters))}" for voters, name in differing.items()]
        message = f"the files differ in `{_VOTERS}`, so some nodes look for a controller where it is not"
        fix = f"write the same `{_VOTERS}` in every file"
        yield warning(evidence.subject, message, seen, broker=fix, confidence=Confidence.LIKELY)


def _zookeeper(broker: BrokerListeners) -> Iterator[CheckFinding]:
    servers, known = broker.zookeepers, broker.file.zookeepers
    by_host = {each.rpartition(":")[0]: each for each in known}
    fix = f"write {known[0]} in `zookeeper.connect`" if known else "write the name of ZooKeeper's service for its host"
    if broker.in_container and any(is_loopback(each.rpartition(":")[0]) for each in servers):
        message = f"`zookeeper.connect` is {', '.join(servers)}, which in a container is the container itself"
        yield error(broker.name, message, broker=fix)
        return
    ways = {
        f"{each.host}:{each.port}": each.way
        for each in broker.file.clients
        if each.service in broker.file.names and each.for_zookeeper
    }
    for server in servers:
        host = server.rpartition(":")[0]
        if host in by_host and server not in known:
            message = f"`zookeeper.connect` has {server}, and in Docker's network ZooKeeper listens at {by_host[host]}"
            yield error(broker.name, message, broker=f"write {by_host[host]} in `zookeeper.connect`")
        elif known and ways.get(server) == "unknown":
            message = f"`zookeeper.connect` has {server}, and no service has this name"
            yield error(broker.name, message, broker=fix)


def _ports(broker: BrokerListeners) -> list[int]:
    """The ports of the controllers' listeners."""
    return [each.port for each in broker.listeners if each.name in broker.controllers]


def _other_port(voter: Voter, controllers: Mapping[int | None, BrokerListeners]) -> bool:
    ports = _ports(controllers[voter.node_id]) if voter.node_id in controllers else []
    return bool(ports) and voter.port not in ports


def _hosts(broker: BrokerListeners, controllers: Mapping[int | None, BrokerListeners]) -> Iterator[CheckFinding]:
    """Voters at a host that leads elsewhere."""
    others = [voter for voter in broker.voters if voter.node_id != broker.node_id]
    to_itself = [voter for voter in others if broker.in_container and is_loopback(voter.host)]
    if to_itself and broker.node_id is not None:
        message = f"`{_VOTERS}` has {', '.join(map(str, to_itself))}, which in a container is the container itself"
        yield error(broker.name, message, broker=f"in `{_VOTERS}` write each node's service for its host")
    known = {name for each in controllers.values() for name in each.file.names}
    for voter in broker.voters:
        there = controllers.get(voter.node_id)
        if there and voter.host not in known and get_close_matches(voter.host, there.file.names, cutoff=0.7):
            message = f"`{_VOTERS}` has {voter}, and node {voter.node_id} is the service {there.file.names[0]}"
            yield error(broker.name, message, broker=f"in `{_VOTERS}` write {there.file.names[0]} for {voter.host}")
    own = [each for each in broker.listeners if each.name in broker.controllers and is_loopback(each.host)]
    told = next((each for each in broker.voters if each.node_id == broker.node_id), None)
    if own and others and told is not None and not is_loopback(told.host):
        message = f"{own[0]} is bound to loopback, and other nodes look for it at {told.host}:{told.port}"
        yield error(broker.name, message, broker=f"bind every address: `{own[0].name}://0.0.0.0:{own[0].port}`")


@check("BN837", Need.FILES)
def identity_of_a_node(evidence: Evidence) -> Iterator[CheckFinding]:
    """A node's id or its cluster's id is missing, or does not fit its roles.

    Cause: The id of a node or of its cluster is missing or does not fit its roles, so the node does not start:
    {subjects}.
    What: with `process.roles`, `node.id` is missing, differs from `broker.id`, or does not fit
    `controller.quorum.voters`, or there are no voters; a container has neither `process.roles` nor ZooKeeper, or lacks
    its `CLUSTER_ID`; or containers of one quorum have different cluster ids.
    Why: a node with the role `controller` must be one of the voters, and a node that is only a broker must not
    (`KafkaConfig`). Kafka 4 has no ZooKeeper mode. An image formats the data folder at its start with the cluster id,
    and nodes with different ids never form a quorum; Bitnami's image draws one for each node if it is given none.
    Remedy: follow the hint of the finding.
    """
    brokers = all_listeners(evidence)
    for broker in brokers:
        node_id, voters = broker.node_id, [voter.node_id for voter in broker.voters]
        both = [broker.settings.get(name) for name in ("node.id", "broker.id")]
        if None not in both and both[0] != both[1]:
            message = f"`node.id` is {both[0]} and `broker.id` is {both[1]}, which Kafka refuses"
            yield error(broker.name, message, broker="remove `broker.id`")
        if broker.is_kraft and not any(both):
            fix = "set `node.id` to a number that no other node of the cluster has"
            yield error(broker.name, "`process.roles` is set, and `node.id` is not", broker=fix)
        elif broker.roles == {"broker"} and node_id in voters:
            message = f"`{_VOTERS}` names node {node_id}, which has the role `broker` only"
            fix = "set `process.roles` to `broker,controller`, or give the broker an id that no voter has"
            yield error(broker.name, message, broker=fix)
        elif "controller" in broker.roles and voters and node_id is not None and node_id not in voters:
            message = f"it has the role `controller`, and `{_VOTERS}` does not name node {node_id}"
            fix = f"add {node_id}@HOST:PORT to `{_VOTERS}` in every file, or correct `node.id`"
            yield error(broker.name, message, broker=fix)
        if (
            "controller" in broker.roles
            and not broker.file.names
            and not broker.settings.keys() & {_VOTERS, _TO_BOOTSTRAP}
        ):
            message = f"`process.roles` is set without `{_VOTERS}` or `{_TO_BOOTSTRAP}`: Kafka refuses to start"
            fix = f"set `{_VOTERS}` to `ID@HOST:PORT` of each node with the role `controller`"
            yield error(broker.name, message, broker=fix)
        for variable in broker.file.lacking:
            message, fix = _LACKING.get(variable, (f"`{variable}` is not set", f"set `{variable}`"))
            yield error(broker.name, message, broker=fix)
    yield from _cluster_ids(evidence.subject, brokers)


def _cluster_ids(subject: str, brokers: Iterable[BrokerListeners]) -> Iterator[CheckFinding]:
    """Containers of one quorum that format their data folders with different cluster ids."""
    nodes = [broker for broker in brokers if broker.file.cluster_id is not None]
    for broker in nodes:
        together = [each for each in nodes if set(each.voters) & set(broker.voters) and each.may_share_cluster(broker)]
        ids = {each.file.cluster_id for each in together}
        if len(together) > 1 and broker is together[0] and (len(ids) > 1 or "" in ids):
            seen = [f"{each.name}: {each.file.cluster_id or 'drawn by the image'}" for each in together]
            message = "the nodes of one quorum have different cluster ids, so they never find each other"
            fix = "give all nodes the same `CLUSTER_ID` (Bitnami: `KAFKA_KRAFT_CLUSTER_ID`), and new data folders"
            yield error(subject, message, seen, broker=fix)
