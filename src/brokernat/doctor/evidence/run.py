"""The evidence of a whole run: endpoints, partitions, coordinators, Spark JVMs and brokers' files. It is written to the
file of `--save` and read back.

A file is untrusted, so every assumption of the checks is verified when it is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

# Imported at run time too, because pydantic resolves the types of fields.
from brokernat.config.cluster import UNNAMED
from brokernat.doctor.evidence.endpoint import EndpointProbe
from brokernat.doctor.evidence.stages import Advertised, RuleText
from brokernat.errors import ConfigError, Finding

NodeOutcome = Literal["proved", "not-provable", "other-node", "unmapped", "unreachable", "failed"]
JvmOutcome = Literal["answered", "no-agent", "other-map", "failed", "silent", "not-registered"]

VERSION = 3
# The last key of the file, except keys that a later version has added.
_STATED = re.compile(r'^  "version": (\d{1,9}),?$', re.MULTILINE)


def now() -> str:
    """The current time in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Leaderless:
    """Partitions that two queries showed as unusable. `sample` is one, as `topic-partition`; `nodes` hold them.

    `wanted` is false if they are of other topics than those that were asked for.
    """

    error: str
    count: int
    sample: str
    nodes: tuple[int, ...] = ()
    wanted: bool = True


@dataclass(frozen=True, slots=True)
class Coordinator:
    """The coordinator of a group or a transactional id, as a bootstrap server reports it.

    `error` is the Kafka error name that two queries returned instead; `not-asked` if the request would create `topic`,
    `not-answered` if the connection ended or the time ran out first. `forbidden` is whether the client's user may look
    it up (DESCRIBE) and lacks what its clients need: READ on the group, WRITE on the id.
    """

    kind: Literal["group", "transaction"]
    key: str
    broker: Advertised | None = None
    error: str = ""
    forbidden: bool = False

    @property
    def subject(self) -> str:
        """Its name in reports."""
        return f"{'group' if self.kind == 'group' else 'transactional id'} {self.key}"

    @property
    def hidden(self) -> bool:
        """Whether the client's user may not look it up."""
        return self.error.endswith("_AUTHORIZATION_FAILED")

    @property
    def topic(self) -> str:
        """The topic of the coordinator's state."""
        return "__consumer_offsets" if self.kind == "group" else "__transaction_state"


@dataclass(frozen=True, slots=True)
class TopicSeen:
    """A topic that was asked for, as a bootstrap server reports it.

    `error` is Kafka's error name, `not-answered` if the connection ended or the time ran out first. `rights` are the
    operations that the client's user may do on it (Kafka's AclOperation), None if the broker does not tell
    (before 2.3, KIP-430). `in_sync` is the number of in-sync replicas of the partition that has the fewest, `required`
    the topic's `min.insync.replicas`, for brokers since 3.7 at most its number of replicas; None if unknown.
    `out_of_sync` are the nodes that hold a replica of that partition and are not in sync.
    """

    name: str
    error: str = ""
    partitions: int = 0
    rights: tuple[str, ...] | None = None
    in_sync: int | None = None
    required: int | None = None
    out_of_sync: tuple[int, ...] = ()

    @property
    def under_min_isr(self) -> bool:
        """Whether a partition has too few in-sync replicas for producers with `acks=all` (Kafka's UnderMinIsr)."""
        return self.in_sync is not None and self.required is not None and self.in_sync < self.required


@dataclass(frozen=True, slots=True)
class BrokerPath:
    """From an advertised listener to the dialled endpoint. `probe` is None if nothing may be dialled.

    `rule` is the rule that was applied; `direct` is a connection to the advertised endpoint itself, made if clients do
    not dial it: a rule translates it, or a rule is missing.
    """

    broker: Advertised
    probe: EndpointProbe | None
    rule: RuleText | None = None
    direct: EndpointProbe | None = None

    @property
    def answers(self) -> bool:
        """Whether a client can use Kafka at the endpoint that it dials for the node."""
        return self.probe is not None and self.probe.answers


@dataclass(frozen=True, slots=True)
class ListenerSeen:
    """A listener from the settings of a bootstrap server's node, and the probe of its advertised endpoint.

    `entered` are the bootstrap servers that lead to it. `probe` has an identity only if clients do not reach some node,
    or the endpoint was dialled for a node too; it is None if the endpoint is invalid.
    """

    node_id: int
    name: str
    endpoint: str
    probe: EndpointProbe | None
    entered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeTried:
    """A node as Kafka's client saw it in a Spark JVM; `dialled` is empty if nothing may be dialled."""

    node_id: int
    advertised: str
    dialled: str
    outcome: NodeOutcome
    detail: str = ""

    @property
    def reached(self) -> bool:
        """Whether this node answered."""
        return self.outcome in ("proved", "not-provable")


@dataclass(frozen=True, slots=True)
class ExecutorSeen:
    """A JVM of a Spark application: `driver`, or an executor by Spark's id, empty if it never registered.

    `fingerprint` is the fingerprint of its map. `nodes` is empty unless it has `answered`.
    """

    executor: str
    host: str
    outcome: JvmOutcome
    detail: str = ""
    agent: str | None = None
    fingerprint: str | None = None
    nodes: tuple[NodeTried, ...] = ()

    @property
    def is_driver(self) -> bool:
        """Whether it is the driver's JVM, which runs on the doctor's machine."""
        return self.executor == "driver"

    @property
    def name(self) -> str:
        """Its name in reports."""
        if self.is_driver:
            return "the driver"
        place = f" on {self.host}" if self.host else ""
        return f"executor {self.executor}{place}" if self.executor else "an executor that was expected"


Way = Literal["own", "shared", "apart", "unknown", "host", "elsewhere"]


@dataclass(frozen=True, slots=True)
class ComposeClient:
    """A bootstrap server that a service of a compose file has in one of its variables or in its command, or the
    ZooKeeper that a broker has in its own.

    `way` is where its host leads from this container: to itself, to a service in a shared network or in another one
    only, to no service, to what the Docker host calls so (the container has the host's network), or to what the file
    does not tell. `protocol` is the one that stands before the host, empty if there is none.
    """

    service: str
    variable: str
    host: str
    port: int
    way: Way
    protocol: str = ""

    @property
    def for_zookeeper(self) -> bool:
        """Whether it is the endpoint of ZooKeeper."""
        return self.variable.endswith("ZOOKEEPER_CONNECT")


@dataclass(frozen=True, slots=True)
class BrokerFile:
    """The listener settings of a broker's file. `name` is the file, with the service if it is a compose file.

    `settings` keep the order and the duplicates of the file; other settings are left out. `published` are (container
    port, host port), None if the file is not a compose file or the container uses the host's network; `addresses` are
    the host's address of each, empty for every address. `profiles` are those that the service starts with; `names` are
    those that Docker's own networks know it by. `others_ports` are the host ports of the other services. `clients`
    are the bootstrap servers of all services of the compose file, and `zookeepers` the endpoints of its ZooKeepers, by
    all of their names. `lacking` are variables without which the image does not start Kafka. `release` is Kafka's
    release by the image's tag, None if unknown; `cluster_id` the id that the image formats the data folder with, empty
    if the image draws one, None if it is not known.
    """

    name: str
    settings: tuple[tuple[str, str], ...]
    published: tuple[tuple[int, int], ...] | None = None
    addresses: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    others_ports: tuple[int, ...] = ()
    clients: tuple[ComposeClient, ...] = ()
    zookeepers: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    release: tuple[int, int] | None = None
    cluster_id: str | None = None

    @property
    def project(self) -> str:
        """The compose file."""
        return self.name.rpartition(" ")[0]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of one run. `bootstraps` are in the order of the configuration, `paths` in the order of node ids.

    `replicas` are the node ids that partitions name, None if they were not requested; `in_sync` are those that are in
    sync for any partition, so they are up. `dns_lookup` is the client's `client.dns.lookup`. `unprobed` counts
    advertised brokers above the limit of probes. `executors` includes the driver's JVM; it is empty if no Spark
    application was used. `as_written` are connections to the configured bootstrap servers whose rule leads to an
    endpoint that does not answer. `user` is the user name of the client's login, None if it has none; `tls_versions`
    are those of `ssl.enabled.protocols`, empty if it is not set; `own_chain` is the size of the client's certificates
    in bytes, 0 if it has none. `timeout` are the seconds that all probes had, None if unknown. `crowded` are endpoints
    that accept no connection while others are open, and accept one alone; those of `one_at_a_time` accept no second
    connection while the first is open.
    """

    taken_at: str
    cluster: str
    security_protocol: str
    mechanism: str | None
    rules: tuple[RuleText, ...] | None
    unmapped: str
    bootstraps: tuple[EndpointProbe, ...]
    paths: tuple[BrokerPath, ...] = ()
    replicas: tuple[int, ...] | None = None
    in_sync: tuple[int, ...] = ()
    leaderless: tuple[Leaderless, ...] = ()
    coordinators: tuple[Coordinator, ...] = ()
    topics: tuple[TopicSeen, ...] = ()
    dns_lookup: str | None = None
    executors: tuple[ExecutorSeen, ...] = ()
    files: tuple[BrokerFile, ...] = ()
    listeners: tuple[ListenerSeen, ...] = ()
    unprobed: int = 0
    as_written: tuple[EndpointProbe, ...] = ()
    user: str | None = None
    tls_versions: tuple[str, ...] = ()
    own_chain: int = 0
    timeout: float | None = None
    crowded: tuple[str, ...] = ()
    one_at_a_time: tuple[str, ...] = ()
    version: int = VERSION

    @property
    def subject(self) -> str:
        """The cluster's name in findings; one that was given without a file has none of its own."""
        return "the cluster" if self.cluster == UNNAMED else f"cluster {self.cluster}"

    @property
    def probes(self) -> tuple[EndpointProbe, ...]:
        """Those of the bootstrap servers and of the nodes."""
        return (*self.bootstraps, *(path.probe for path in self.paths if path.probe is not None))

    @classmethod
    def without_network(
        cls, cluster: str, *, files: tuple[BrokerFile, ...] = (), executors: tuple[ExecutorSeen, ...] = ()
    ) -> Evidence:
        """Evidence that has only files, or only Spark JVMs."""
        return cls(now(), cluster, "", None, None, "", (), files=files, executors=executors)


def to_json(evidence: Evidence) -> str:
    """The file that `--save` writes."""
    from pydantic import TypeAdapter

    return TypeAdapter(Evidence).dump_json(evidence, indent=2).decode() + "\n"


def from_json(text: str, source: str) -> Evidence:
    """The evidence that a file holds.

    Raises:
        ConfigError: it holds no evidence, or evidence of another version.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        evidence = TypeAdapter(Evidence).validate_json(text)
    except ValidationError as error:
        # A later version may have unknown values; its version number is then a better error than the first of these.
        stated = _STATED.search(text)
        _require_version(int(stated[1]) if stated else VERSION, source)
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        detail = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
        hint = "give a file that `brokernat doctor --save FILE` wrote"
        raise ConfigError(Finding("not-evidence", f"`{source}` holds no evidence", hint, details=(detail,))) from None
    _require_version(evidence.version, source)
    return evidence


def _require_version(version: int, source: str) -> None:
    if version != VERSION:
        message = f"`{source}` holds evidence of version {version}; this brokernat reads version {VERSION}"
        hint = "probe again with `brokernat doctor --save FILE`, or read it with the brokernat that wrote it"
        raise ConfigError(Finding("evidence-version", message, hint))
