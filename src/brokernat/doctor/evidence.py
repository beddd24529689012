"""What was seen, and nothing else: frozen, complete in itself, the same as JSON.

A report is made of evidence alone, so that a file that somebody sends in gives the same report elsewhere. Endpoints are
kept as text and numbers as they came off the wire: what a broker advertises may be no endpoint at all. No field can
hold a credential: of the login there is only the name of the mechanism and what the broker answered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Literal

from brokernat.address import parse_rule
from brokernat.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 1
# The last key of the file, before whatever a later version has added.
_STATED = re.compile(r'^  "version": (\d{1,9}),?$', re.MULTILINE)
Client = Literal["java", "librdkafka", "python"]
"""Families of clients that verify certificates in their own ways."""


@dataclass(frozen=True, slots=True)
class Advertised:
    """A broker of a Metadata answer. Host and port are the broker's words: perhaps empty, perhaps 0."""

    node_id: int
    host: str
    port: int

    @property
    def endpoint(self) -> str:
        """As a client would log it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One TCP connection to one address of a name."""

    address: str
    outcome: Literal["connected", "refused", "timeout", "unreachable"]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Presented:
    """A certificate as it is shown: who it is for, who signed it (common names), and its time, in ISO 8601."""

    subject: str
    issuer: str
    since: str
    until: str


@dataclass(frozen=True, slots=True)
class Objection:
    """What some clients have against a certificate that others take."""

    clients: tuple[Client, ...]
    outcome: Literal["expired", "untrusted", "name-mismatch"]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TlsSeen:
    """A TLS handshake as the client is configured to make it. `names` are those of the certificate.

    `ok` is what some clients accept, and `objections` are what the others have against it. `closed` is a peer that
    hangs up without a word of TLS or Kafka. `chain` is what was presented, the broker's own first, where that is
    refused. `showed` is whether this client has a certificate.
    """

    outcome: Literal[
        "ok", "not-tls", "closed", "name-mismatch", "expired", "untrusted", "unfit", "client-certificate", "failed"
    ]
    names: tuple[str, ...] = ()
    detail: str = ""
    objections: tuple[Objection, ...] = ()
    chain: tuple[Presented, ...] = ()
    showed: bool = False


@dataclass(frozen=True, slots=True)
class SaslSeen:
    """A login. `offered` are the mechanisms of the broker, where it refused ours."""

    outcome: Literal["ok", "mechanism-not-offered", "rejected", "closed", "not-tried"]
    offered: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who answered. By its own word: `apiversions` is KIP-1242, `describeconfigs` the text of error 42.

    By what only it can do: `listoffsets` is the leader of its partitions, on two connections; `certificate` has a name
    that one broker alone advertises. `detail` says why the methods before it told nothing. `others` are node ids that
    later connections to the same endpoint met: a balancer.
    """

    node_id: int | None
    method: Literal["apiversions", "describeconfigs", "listoffsets", "certificate", "none"]
    detail: str = ""
    others: tuple[int, ...] = ()

    @property
    def confidence(self) -> Literal["proven", "likely", "unknown"]:
        """How sure it is: a node's own word proves, the rest only fits."""
        if self.node_id is None:
            return "unknown"
        return "proven" if self.method in ("apiversions", "describeconfigs") else "likely"


@dataclass(frozen=True, slots=True)
class Look:
    """One endpoint, as far as this client got with it; what comes after the first failure is empty.

    `name` is the host that TLS and SASL are told, which is the advertised one even where the map leads elsewhere.
    `speaks` is what answered a Kafka request; `controller` is a KRaft controller's own listener. `knows` are the newest
    versions of requests that tell Kafka's age. `canonical` is what a client dials that asks for canonical names.
    `complete` is False where the time ran out.
    """

    endpoint: str
    name: str
    addresses: tuple[str, ...] = ()
    dns_error: str | None = None
    attempts: tuple[Attempt, ...] = ()
    tls: TlsSeen | None = None
    speaks: Literal["kafka", "controller", "tls", "http", "ssh", "silence", "closed", "other"] | None = None
    first_bytes: str = ""
    sasl: SaslSeen | None = None
    cluster_id: str | None = None
    brokers: tuple[Advertised, ...] | None = None
    identity: Identity | None = None
    settings: tuple[tuple[str, str], ...] = ()
    complete: bool = True
    controller_id: int | None = None
    knows: tuple[tuple[str, int], ...] = ()
    canonical: tuple[str, ...] = ()
    hosts_entry: str | None = None
    """The line of the hosts file that decides the name."""
    rule: str | None = None
    """The rule that led a bootstrap server here."""
    slow: bool = False
    """What greeted as Kafka does let the request for the cluster's brokers wait until the patience was over."""

    @property
    def connected(self) -> bool:
        """Whether any address took a connection."""
        return any(attempt.outcome == "connected" for attempt in self.attempts)

    @property
    def tls_done(self) -> bool:
        """Whether TLS stood in nobody's way."""
        return self.tls is None or self.tls.outcome == "ok"

    @property
    def answers(self) -> bool:
        """Whether a client gets through to Kafka here: login done, metadata read."""
        return self.brokers is not None

    def newest(self, request: str) -> int:
        """The newest version of a request that is known here, -1 where that was not seen."""
        return dict(self.knows).get(request, -1)


@dataclass(frozen=True, slots=True)
class Leaderless:
    """Partitions that clients cannot use, on two looks. `sample` is one, as `topic-partition`; `nodes` hold them."""

    error: str
    count: int
    sample: str
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Coordinator:
    """Who coordinates a group or a transactional id, as a bootstrap server says.

    `error` is Kafka's name of what it answered instead, on two looks; `not-asked` where asking would create `topic`,
    `not-answered` where the connection ended or the time ran out before.
    """

    kind: Literal["group", "transaction"]
    key: str
    broker: Advertised | None = None
    error: str = ""

    @property
    def subject(self) -> str:
        """As a report calls it."""
        return f"{'group' if self.kind == 'group' else 'transactional id'} {self.key}"

    @property
    def topic(self) -> str:
        """Where the coordinator keeps its state."""
        return "__consumer_offsets" if self.kind == "group" else "__transaction_state"


@dataclass(frozen=True, slots=True)
class Path:
    """From an advertised listener to what is dialled for it. `look` is None where nothing may be dialled.

    `rule` is the rule that decided; `direct` is a first look at the advertised endpoint itself, made where a rule leads
    elsewhere.
    """

    broker: Advertised
    look: Look | None
    rule: str | None = None
    direct: Look | None = None


@dataclass(frozen=True, slots=True)
class NodeTried:
    """A node as Kafka's own client met it in a JVM of Spark's; `dialled` is empty where nothing may be dialled."""

    node_id: int
    advertised: str
    dialled: str
    outcome: Literal["proved", "not-provable", "other-node", "unmapped", "unreachable", "failed"]
    detail: str = ""

    @property
    def reached(self) -> bool:
        """Whether this node answered there."""
        return self.outcome in ("proved", "not-provable")


@dataclass(frozen=True, slots=True)
class ExecutorSeen:
    """A JVM of a Spark application: `driver`, or an executor by Spark's id, empty where it never registered.

    `fingerprint` is that of the map it has. `nodes` is empty unless it has `answered`.
    """

    executor: str
    host: str
    outcome: Literal["answered", "no-agent", "other-map", "failed", "silent", "not-registered"]
    detail: str = ""
    agent: str | None = None
    fingerprint: str | None = None
    nodes: tuple[NodeTried, ...] = ()

    @property
    def is_driver(self) -> bool:
        """Whether it is the driver's JVM, which stands where the doctor runs."""
        return self.executor == "driver"

    @property
    def name(self) -> str:
        """As a report calls it."""
        if self.is_driver:
            return "the driver"
        place = f" on {self.host}" if self.host else ""
        return f"executor {self.executor}{place}" if self.executor else "an executor that was expected"


@dataclass(frozen=True, slots=True)
class BrokerFile:
    """What a broker's file says about its listeners. `name` is the file, with the service of a compose file.

    `settings` are in the order of the file, a name that is given twice is there twice; no other settings are kept.
    `published` are a container's ports with the host's, None where the file is no compose file.
    """

    name: str
    settings: tuple[tuple[str, str], ...]
    published: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class ListenerSeen:
    """A listener of a bootstrap server's node, by that node's settings, and what this client meets where it is sent.

    `entered` are the bootstrap servers that came in on it. `look` has no identity unless it was dialled for a node too,
    and is None where the endpoint is none.
    """

    node_id: int
    name: str
    endpoint: str
    look: Look | None
    entered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything one run saw. `bootstraps` and `paths` are in the order of the configuration and of node ids.

    `replicas` are the node ids that partitions name, None where they were not asked for. `dns_lookup` is the client's
    `client.dns.lookup`.
    `executors` has the driver's JVM too; it is empty where no Spark was asked.
    """

    taken_at: str
    cluster: str
    security_protocol: str
    mechanism: str | None
    rules: tuple[str, ...] | None
    unmapped: str
    bootstraps: tuple[Look, ...]
    paths: tuple[Path, ...] = ()
    replicas: tuple[int, ...] | None = None
    leaderless: tuple[Leaderless, ...] = ()
    coordinators: tuple[Coordinator, ...] = ()
    dns_lookup: str | None = None
    executors: tuple[ExecutorSeen, ...] = ()
    files: tuple[BrokerFile, ...] = ()
    listeners: tuple[ListenerSeen, ...] = ()
    version: int = VERSION


def to_json(evidence: Evidence) -> str:
    """The file that `--save` writes."""
    from pydantic import TypeAdapter

    return TypeAdapter(Evidence).dump_json(evidence, indent=2).decode() + "\n"


def from_json(text: str, source: str) -> Evidence:
    """The evidence of a file.

    Raises:
        ConfigError: it holds none, or that of another version.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        evidence = TypeAdapter(Evidence).validate_json(text)
    except ValidationError as error:
        # A later version may have values that this one does not know: then its number says more than its first one.
        stated = _STATED.search(text)
        _require_version(int(stated[1]) if stated else VERSION, source)
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise _no_evidence(source, first["loc"], first["msg"]) from None
    _require_version(evidence.version, source)
    for place, reason in _nonsense(evidence):
        raise _no_evidence(source, place, reason)
    return evidence


def _nonsense(evidence: Evidence) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What the probes never write and the checks rely on: its place, and what is wrong with it."""
    for number, rule in enumerate(evidence.rules or ()):
        try:
            parse_rule(rule)
        except ConfigError as error:
            yield ("rules", number), error.problems[0].message
    looks: list[tuple[tuple[str | int, ...], Look | None]] = [
        *((("bootstraps", n), look) for n, look in enumerate(evidence.bootstraps)),
        *((("paths", n, "look"), path.look) for n, path in enumerate(evidence.paths)),
        *((("paths", n, "direct"), path.direct) for n, path in enumerate(evidence.paths)),
        *((("listeners", n, "look"), each.look) for n, each in enumerate(evidence.listeners)),
    ]
    for place, look in looks:
        for number, address in enumerate(look.addresses if look is not None else ()):
            try:
                ip_address(address)
            except ValueError:
                yield (*place, "addresses", number), "this is no address"


def _require_version(version: int, source: str) -> None:
    if version != VERSION:
        message = f"`{source}` holds evidence of version {version}; this brokernat reads {VERSION}"
        raise ConfigError([Problem("evidence-version", message)])


def _no_evidence(source: str, place: tuple[str | int, ...], reason: str) -> ConfigError:
    hint = "give a file that `brokernat doctor --save FILE` wrote"
    detail = f"{'.'.join(map(str, place))}: {reason}" if place else reason
    return ConfigError([Problem("not-evidence", f"`{source}` holds no evidence", hint, details=(detail,))])
