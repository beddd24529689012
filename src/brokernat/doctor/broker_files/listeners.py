"""A broker's listeners as Kafka reads them from its file (names, bound and advertised endpoints), and the table of all
files by listener name; pure.

Follows `KafkaConfig` (`listeners`, `effectiveAdvertisedBrokerListeners`, `effectiveListenerSecurityProtocolMap`), as in
2.4 to 4.4; a test compares the results. This module judges nothing: entries that Kafka cannot read are kept in
`unreadable`, and the rest is used.

The settings that Kafka 3.0 removed (`host.name`, `advertised.host.name` and their ports) count only in ZooKeeper mode:
no release in KRaft mode reads them. An advertised port 0 becomes the bound port of the listener
(`ListenerInfo.withEphemeralPortsCorrected`).

A broker answers with the endpoints of the listener NAME of the client's port, for every broker that has this name. So
`listener_table` has one row for each name, and a broker without the name is missing in its clients' metadata.

Kafka compares listener names in upper case (`ListenerName.normalised`), except the names in
`controller.listener.names`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal, NamedTuple

from brokernat.address.endpoint import bracketed, is_wildcard
from brokernat.config.client_properties import PROTOCOLS
from brokernat.config.java_properties import parse_properties
from brokernat.doctor.evidence import BrokerFile, EndpointProbe, Evidence
from brokernat.doctor.host_kinds import inside_name, is_loopback
from brokernat.errors import ConfigError, Finding

FORMER_SETTINGS = ("host.name", "port", "advertised.host.name", "advertised.port")
# Only these settings are read from a file, because a broker's file holds passwords.
LISTENER_SETTINGS = frozenset(
    {
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "inter.broker.listener.name",
        "security.inter.broker.protocol",
        "controller.listener.names",
        "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
        "process.roles",
        "zookeeper.connect",
        "zookeeper.metadata.migration.enable",
        "node.id",
        "broker.id",
        "offsets.topic.replication.factor",
        "transaction.state.log.replication.factor",
        *FORMER_SETTINGS,
    }
)
# Shorter names are near to names of other settings.
_LONG_NAMES = (
    "listeners",
    "advertised.listeners",
    "listener.security.protocol.map",
    "inter.broker.listener.name",
    "controller.listener.names",
    "controller.quorum.voters",
)
_MISSPELLED = {"nodeid": "node.id", "brokerid": "broker.id", "process.role": "process.roles"}
_OTHER_PROGRAMS = {
    "config.storage.topic": "a Kafka Connect worker",
    "kafkastore.bootstrap.servers": "a Schema Registry",
    "kafkastore.topic": "a Schema Registry",
    "ksql.service.id": "a ksqlDB server",
    "ksql.streams.bootstrap.servers": "a ksqlDB server",
}
ROLES = frozenset({"broker", "controller"})
DEFAULT_LISTENERS = "PLAINTEXT://:9092"

_ENTRY = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]{1,99})")
_VOTER = re.compile(r"([0-9]{1,9})@([^\s@]+):([0-9]{1,5})")
_PAIR = re.compile(r"\s*([^:]*?)\s*:\s*(\S*)\s*")
_PORTS = range(2**16)
_PLAIN = "PLAINTEXT"


@dataclass(frozen=True, slots=True)
class Listener:
    """`NAME://HOST:PORT`. An empty host binds every address and advertises the machine's host name."""

    name: str
    """In upper case."""
    host: str
    port: int

    @property
    def endpoint(self) -> str:
        """Host and port, as a client logs them."""
        return f"{bracketed(self.host)}:{self.port}"

    @property
    def where(self) -> Literal["anywhere", "same-machine", "same-network", "nowhere"]:
        """From where clients can dial the host, judged by its text."""
        if is_wildcard(self.host):
            return "nowhere"
        if is_loopback(self.host):
            return "same-machine"
        # An empty host is the machine's own host name.
        return "same-network" if not self.host or inside_name(self.host) else "anywhere"

    def __str__(self) -> str:
        return f"{self.name}://{self.endpoint}"


@dataclass(frozen=True, slots=True)
class BrokerListeners:
    """The listeners of one file. `advertised` is the list for brokers and clients, without the controllers' listeners.

    `advertised_setting` is None if it is not set; the broker then advertises `listeners`. `unreadable` are the entries
    that Kafka cannot read, each behind the name of its setting.
    """

    file: BrokerFile
    settings: Mapping[str, str]
    node_id: int | None
    roles: frozenset[str]
    listeners: tuple[Listener, ...]
    advertised: tuple[Listener, ...]
    advertised_setting: tuple[Listener, ...] | None
    protocols: Mapping[str, str]
    controllers: tuple[str, ...]
    unreadable: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Its name in reports."""
        return self.file.name if self.node_id is None else f"node {self.node_id} ({self.file.name})"

    @property
    def voters(self) -> tuple[Voter, ...]:
        """The controllers that the file names (`controller.quorum.voters`)."""
        found = map(_VOTER.fullmatch, _names(self.settings.get("controller.quorum.voters", "")))
        return tuple(Voter(int(each[1]), each[2], int(each[3])) for each in found if each)

    @property
    def zookeepers(self) -> tuple[str, ...]:
        """The servers in `zookeeper.connect`, without the path behind them."""
        return _names(self.settings.get("zookeeper.connect", "").partition("/")[0])

    def may_share_cluster(self, other: BrokerListeners) -> bool:
        """Whether both may be of one cluster.

        They run at one time, and neither ZooKeeper nor the controllers of one are unknown to the other.
        """
        zookeepers = [each.settings.get("zookeeper.connect") for each in (self, other)]
        if not self.may_run_with(other) or (None not in zookeepers and zookeepers[0] != zookeepers[1]):
            return False
        # In a container, localhost is a controller of its own.
        own = [
            each for each in (self, other) if each.in_container and all(is_loopback(one.host) for one in each.voters)
        ]
        if self.file is not other.file and self.voters and other.voters and own:
            return False
        return not self.voters or not other.voters or bool(set(self.voters) & set(other.voters))

    def may_run_with(self, other: BrokerListeners) -> bool:
        """Whether no profile of a compose file keeps both apart."""
        profiles, others = set(self.file.profiles), set(other.file.profiles)
        same_file = self.file.project == other.file.project
        return not same_file or not profiles or not others or bool(profiles & others)

    @property
    def migrates(self) -> bool:
        """Whether it takes part in the migration from ZooKeeper to KRaft (KIP-866), which needs settings of both."""
        return self.settings.get("zookeeper.metadata.migration.enable", "").lower() == "true"

    @property
    def is_kraft(self) -> bool:
        """Whether it has `process.roles`, which brokers in ZooKeeper mode do not have."""
        return bool(self.roles)

    @property
    def serves_clients(self) -> bool:
        """Whether it is a broker, and not only a controller."""
        return not self.roles or "broker" in self.roles

    @property
    def inter_broker(self) -> str:
        """The inter-broker listener's name."""
        named = self.settings.get("inter.broker.listener.name")
        return (named or self.settings.get("security.inter.broker.protocol") or _PLAIN).upper()

    def bound_port(self, name: str) -> int | None:
        """The port that a listener is bound to, None if it is not bound."""
        return next((each.port for each in self.listeners if each.name == name), None)

    def at_port_of(self, advertised: Listener) -> list[Listener]:
        """The other listeners that are bound to an advertised port; none if it is the listener's own, or not bound."""
        if self.bound_port(advertised.name) in (None, advertised.port):
            return []
        return [other for other in self.listeners if other.name != advertised.name and other.port == advertised.port]

    @property
    def in_container(self) -> bool:
        """Whether it runs in a container with a network of its own."""
        return self.file.published is not None

    @property
    def host_ports(self) -> frozenset[int]:
        """The ports of the Docker host that a container takes; none outside of Docker."""
        if self.file.published is None:
            return frozenset(each.port for each in self.listeners) if self.file.names else frozenset()
        return frozenset(outside for _, outside in self.file.published)

    def host_addresses(self, port: int) -> set[str]:
        """The host's addresses at which a container takes a port of the host; empty text for every address."""
        if self.file.published is None:
            return {"" if is_wildcard(each.host) else each.host for each in self.listeners if each.port == port}
        addresses = self.file.addresses or ("",) * len(self.file.published)
        return {at for (_, outside), at in zip(self.file.published, addresses, strict=False) if outside == port}

    def of_clients(self) -> tuple[Listener, ...]:
        """The bound listeners, without the controllers'."""
        return tuple(each for each in self.listeners if each.name not in self.controllers)


class Voter(NamedTuple):
    """A controller in `controller.quorum.voters`."""

    node_id: int
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.node_id}@{self.host}:{self.port}"


class ListenerOfBroker(NamedTuple):
    """A listener as one broker binds or advertises it."""

    broker: BrokerListeners
    listener: Listener

    @property
    def published(self) -> int | None:
        """The Docker host's port for the port that is bound."""
        return dict(self.broker.file.published or ()).get(self.listener.port)


def parse_server_properties(text: str, source: str) -> tuple[tuple[str, str], ...]:
    """The listener settings of a `server.properties`; values are trimmed, as Kafka does.

    Raises:
        ConfigError: Java cannot read the file, or it is that of another program.
    """
    settings = parse_properties(text, source)
    names = {each.name for each in settings}
    other = next((program for setting, program in _OTHER_PROGRAMS.items() if setting in names), None)
    if other:
        message = f"`{source}` is the file of {other}, not of a broker"
        raise ConfigError(Finding("no-broker", message, "give a broker's server.properties, or a compose file"))
    return tuple(
        (each.name, each.value.strip())
        for each in settings
        if setting_like(each.name) or is_lost_listener(each.name, each.value)
    )


def is_lost_listener(name: str, value: str) -> bool:
    """Whether a line is the rest of a list of listeners (`NAME://host:port`): the line before it does not continue."""
    return value.startswith("//") and _ENTRY.fullmatch(f"{name}:{value.split(',')[0].strip()}") is not None


def setting_like(name: str) -> str | None:
    """The setting about listeners that has this name, of which it is a typo, or that another image reads (`cfg.`)."""
    meant = name.removeprefix("cfg.")
    if meant in LISTENER_SETTINGS:
        return meant
    if name in _MISSPELLED:
        return _MISSPELLED[name]
    return next(iter(get_close_matches(name, _LONG_NAMES, n=1, cutoff=0.93)), None)


def broker_listeners(file: BrokerFile) -> BrokerListeners:
    """The listeners as Kafka reads them from the file. If a setting is given twice, the last value counts."""
    settings = dict(file.settings)
    unreadable: list[tuple[str, str]] = []
    node_id = settings.get("node.id") or settings.get("broker.id") or ""
    controllers = _names(settings.get("controller.listener.names", ""))
    roles = frozenset(_names(settings.get("process.roles", "")))
    unreadable += (("process.roles", role) for role in sorted(roles - ROLES))
    voters = _names(settings.get("controller.quorum.voters", "")) if roles else ()
    unreadable += (("controller.quorum.voters", entry) for entry in voters if not _VOTER.fullmatch(entry))
    former_listeners, former_advertised = (None, None) if roles else former_settings(settings)
    bound = settings.get("listeners", former_listeners or DEFAULT_LISTENERS)
    listeners = _listeners("listeners", bound, unreadable)
    given = settings.get("advertised.listeners", former_advertised)
    told = None if given is None else _listeners("advertised.listeners", given, unreadable)
    ports = {each.name: each.port for each in listeners}
    effective = [each if each.port else replace(each, port=ports.get(each.name, 0)) for each in told or ()]
    return BrokerListeners(
        file=file,
        settings=settings,
        node_id=int(node_id) if re.fullmatch(r"[0-9]{1,9}", node_id) else None,
        roles=roles,
        listeners=listeners,
        advertised=tuple(each for each in (listeners if told is None else effective) if each.name not in controllers),
        advertised_setting=told,
        protocols=_protocols(settings, roles, controllers, listeners, unreadable),
        controllers=controllers,
        unreadable=tuple(unreadable),
    )


def node_listeners(probe: EndpointProbe) -> BrokerListeners:
    """The listeners in the settings of the node that answers; a setting without a value is not set."""
    settings = tuple((name, value) for name, value in probe.settings if value)
    return broker_listeners(BrokerFile(f"node {probe.node_id}", settings))


def all_listeners(evidence: Evidence) -> tuple[BrokerListeners, ...]:
    """The listeners of every file of the evidence."""
    return tuple(map(broker_listeners, evidence.files))


def serving(evidence: Evidence) -> tuple[BrokerListeners, ...]:
    """The files of nodes that serve clients."""
    return tuple(each for each in all_listeners(evidence) if each.serves_clients)


def advertised_listeners(evidence: Evidence) -> tuple[ListenerOfBroker, ...]:
    """All advertised listeners, each with its broker."""
    return tuple(ListenerOfBroker(broker, each) for broker in serving(evidence) for each in broker.advertised)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def former_settings(settings: Mapping[str, str]) -> tuple[str | None, str | None]:
    """`FORMER_SETTINGS` as `listeners` and `advertised.listeners`; None if they are not set."""
    host, port = settings.get("host.name", ""), settings.get("port", "9092")
    listeners = f"PLAINTEXT://{host}:{port}" if "host.name" in settings or "port" in settings else None
    if "advertised.host.name" not in settings and "advertised.port" not in settings:
        return listeners, None
    host = settings.get("advertised.host.name") or host
    return listeners, f"PLAINTEXT://{host}:{settings.get('advertised.port') or port}"


def _listeners(setting: str, text: str, unreadable: list[tuple[str, str]]) -> tuple[Listener, ...]:
    found = []
    for entry in _names(text):
        parts = _ENTRY.fullmatch(entry)
        if parts is None or int(parts[3]) not in _PORTS:
            unreadable.append((setting, entry))
        else:
            found.append(Listener(parts[1].upper(), parts[2], int(parts[3])))
    return tuple(found)


def _protocols(
    settings: Mapping[str, str],
    roles: frozenset[str],
    controllers: Iterable[str],
    listeners: Iterable[Listener],
    unreadable: list[tuple[str, str]],
) -> dict[str, str]:
    """The protocol of each name: by default the one of this name, and in KRaft mode PLAINTEXT for the controllers'."""
    setting = "listener.security.protocol.map"
    if setting in settings:
        found = {}
        for entry in _names(settings[setting]):
            pair = _PAIR.fullmatch(entry)
            if pair is None or pair[2].upper() not in PROTOCOLS:
                unreadable.append((setting, entry))
            else:
                found[pair[1].upper()] = pair[2].upper()
        return found
    default = {protocol: protocol for protocol in PROTOCOLS}
    names = {*controllers, *(each.name for each in listeners)}
    if roles and not names & (set(PROTOCOLS) - {_PLAIN}):
        default |= dict.fromkeys((name for name in controllers if name not in default), _PLAIN)
    return default


@dataclass(frozen=True, slots=True)
class ListenerRow:
    """One listener name: clients of `ports` receive `endpoints`. `protocol` is None if brokers differ or have none."""

    listener: str
    protocol: str | None
    ports: tuple[ListenerOfBroker, ...]
    endpoints: tuple[ListenerOfBroker, ...]
    inter_broker: bool


def listener_table(evidence: Evidence) -> tuple[ListenerRow, ...]:
    """The rows, in the order of the files."""
    brokers = serving(evidence)
    bound = [ListenerOfBroker(broker, each) for broker in brokers for each in broker.of_clients()]
    advertised = advertised_listeners(evidence)
    rows = []
    for name in dict.fromkeys(each.name for broker in brokers for each in (*broker.of_clients(), *broker.advertised)):
        ports = tuple(each for each in bound if each.listener.name == name)
        endpoints = tuple(each for each in advertised if each.listener.name == name)
        protocols = {broker.protocols.get(name) for broker, _ in (*ports, *endpoints)}
        protocol = protocols.pop() if len(protocols) == 1 else None
        inter_broker = any(broker.inter_broker == name for broker in brokers)
        rows.append(ListenerRow(name, protocol, ports, endpoints, inter_broker))
    return tuple(rows)
