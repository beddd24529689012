"""Everything that one run saw: endpoints, the cluster's partitions and coordinators, Spark's JVMs, brokers' files; and
the file that `--save` writes of it, and back.

What a file says is a stranger's word, so it is held against all that the checks rely on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Literal

from brokernat.address import Endpoint, parse_rule

# Read at run time as well: pydantic looks the types of fields up.
from brokernat.doctor.evidence.endpoint import EndpointProbe
from brokernat.doctor.evidence.stages import Advertised, NameLookup
from brokernat.errors import ConfigError, Finding

VERSION = 2
# The last key of the file, before whatever a later version has added.
_STATED = re.compile(r'^  "version": (\d{1,9}),?$', re.MULTILINE)
_FieldPath = tuple[str | int, ...]
"""The names of fields and the numbers of entries that lead to a value."""


def now() -> str:
    """When evidence is taken: ISO 8601, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


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
class BrokerPath:
    """From an advertised listener to what is dialled for it. `probe` is None where nothing may be dialled.

    `rule` is the rule that decided; `direct` is a first look at the advertised endpoint itself, made where a rule leads
    elsewhere.
    """

    broker: Advertised
    probe: EndpointProbe | None
    rule: str | None = None
    direct: EndpointProbe | None = None

    @property
    def answers(self) -> bool:
        """Whether a client gets through to Kafka at what it dials for the node."""
        return self.probe is not None and self.probe.answers


@dataclass(frozen=True, slots=True)
class ListenerSeen:
    """A listener of a bootstrap server's node, by that node's settings, and what this client meets where it is sent.

    `entered` are the bootstrap servers that came in on it. `probe` has no identity unless it was dialled for a node
    too, and is None where the endpoint is none.
    """

    node_id: int
    name: str
    endpoint: str
    probe: EndpointProbe | None
    entered: tuple[str, ...] = ()


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
class Evidence:
    """Everything one run saw. `bootstraps` and `paths` are in the order of the configuration and of node ids.

    `replicas` are the node ids that partitions name, None where they were not asked for; `in_sync` those of them that
    are in sync for any partition: they are up, whatever a listener shows. `dns_lookup` is the client's
    `client.dns.lookup`. `unprobed` counts advertised brokers beyond the most that are probed.
    `executors` has the driver's JVM too; it is empty where no Spark was asked.
    `as_written` are connections to bootstrap servers as they are written, where a rule leads to where nobody answers.
    """

    taken_at: str
    cluster: str
    security_protocol: str
    mechanism: str | None
    rules: tuple[str, ...] | None
    unmapped: str
    bootstraps: tuple[EndpointProbe, ...]
    paths: tuple[BrokerPath, ...] = ()
    replicas: tuple[int, ...] | None = None
    in_sync: tuple[int, ...] = ()
    leaderless: tuple[Leaderless, ...] = ()
    coordinators: tuple[Coordinator, ...] = ()
    dns_lookup: str | None = None
    executors: tuple[ExecutorSeen, ...] = ()
    files: tuple[BrokerFile, ...] = ()
    listeners: tuple[ListenerSeen, ...] = ()
    unprobed: int = 0
    as_written: tuple[EndpointProbe, ...] = ()
    version: int = VERSION

    @classmethod
    def without_network(
        cls, cluster: str, *, files: tuple[BrokerFile, ...] = (), executors: tuple[ExecutorSeen, ...] = ()
    ) -> Evidence:
        """Of files, or of Spark's JVMs, alone."""
        return cls(now(), cluster, "", None, None, "", (), files=files, executors=executors)


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


def _nonsense(value: object, place: _FieldPath = ()) -> Iterator[tuple[_FieldPath, str]]:
    """What the probes never write and the checks rely on: its place, and what is wrong with it."""
    texts: list[tuple[_FieldPath, str, Callable[[str], object]]] = []
    match value:
        case tuple():
            for number, each in enumerate(value):
                yield from _nonsense(each, (*place, number))
            return
        case Evidence(rules=rules):
            texts = [(("rules", number), rule, parse_rule) for number, rule in enumerate(rules or ())]
        case BrokerPath(rule=str(rule)):
            texts = [(("rule",), rule, parse_rule)]
        case EndpointProbe(endpoint=endpoint, rule=rule):
            texts = [(("endpoint",), endpoint, Endpoint.parse), *([(("rule",), rule, parse_rule)] if rule else [])]
        case NameLookup(addresses=addresses):
            texts = [(("addresses", number), address, ip_address) for number, address in enumerate(addresses)]
    for within, text, parse in texts:
        try:
            parse(text)
        except ConfigError as error:
            yield (*place, *within), error.problems[0].message
        except ValueError:
            yield (*place, *within), "this is no address"
    if is_dataclass(value):
        for field in fields(value):
            yield from _nonsense(getattr(value, field.name), (*place, field.name))


def _require_version(version: int, source: str) -> None:
    if version != VERSION:
        message = f"`{source}` holds evidence of version {version}; this brokernat reads version {VERSION}"
        hint = "probe again with `brokernat doctor --save FILE`, or read it with the brokernat that wrote it"
        raise ConfigError(Finding("evidence-version", message, hint))


def _no_evidence(source: str, place: _FieldPath, reason: str) -> ConfigError:
    hint = "give a file that `brokernat doctor --save FILE` wrote"
    detail = f"{'.'.join(map(str, place))}: {reason}" if place else reason
    return ConfigError(Finding("not-evidence", f"`{source}` holds no evidence", hint, details=(detail,)))
