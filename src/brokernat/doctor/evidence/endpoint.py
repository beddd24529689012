"""The probe of one endpoint, up to the stage that a client reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Imported at run time too, because pydantic resolves the types of fields.
from brokernat.doctor.evidence.stages import (
    Advertised,
    ApiVersions,
    Attempt,
    ClusterMetadata,
    Connection,
    EndpointText,
    Identity,
    Login,
    NameLookup,
    RuleText,
    SizeTest,
    Stage,
    TlsHandshake,
)

_API_KEYS = {"Produce": 0, "Metadata": 3, "ApiVersions": 18, "DescribeTransactions": 65}
_Peer = Literal["kafka", "controller", "tls", "http", "ssh", "silence", "closed", "other"]
_SPEAKS: dict[str, _Peer] = {"TLS": "tls", "HTTP": "http", "SSH": "ssh"}
_ANSWERS: dict[str, _Peer] = {
    "ok": "kafka",
    "controller": "controller",
    "silent": "silence",
    "unreadable": "other",
    "unsupported": "other",
}
"""The peer by the outcome of ApiVersions; with other outcomes the connection was closed."""
_REACHING: tuple[Stage, ...] = ("resolve", "connect", "tls", "versions", "sasl", "metadata")


@dataclass(frozen=True, slots=True)
class Tries:
    """The number of tries and failures of a stage over all connections to an endpoint, with each fault.

    `median` and `largest` are seconds: of the successful tries, or of all if none succeeded.
    """

    stage: Stage
    made: int
    failed: int = 0
    median: float = 0.0
    largest: float = 0.0
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EndpointProbe:
    """The result of each stage; None if it was not reached or the client has no such stage (tls, sasl).

    `name` is the host for TLS and SASL: the advertised one, even if the map translates it. `rule` is the rule that
    translated a bootstrap server to this endpoint. `complete` is False if the time ran out: missing results are then
    unknown.
    """

    endpoint: EndpointText
    name: str
    resolve: NameLookup | None = None
    connect: Connection | None = None
    tls: TlsHandshake | None = None
    versions: ApiVersions | None = None
    sasl: Login | None = None
    metadata: ClusterMetadata | None = None
    identity: Identity | None = None
    size: SizeTest | None = None
    tries: tuple[Tries, ...] = ()
    rule: RuleText | None = None
    complete: bool = True

    @property
    def stopped(self) -> Stage | None:
        """The first stage that did not work, for example because the time ran out."""
        results = ((stage, getattr(self, stage)) for stage in _REACHING)
        return next((stage for stage, result in results if result is not None and not result.ok), None)

    @property
    def failed(self) -> Stage | None:
        """The stage that stops clients here, None if they get through or the time ran out."""
        return self.stopped if self.complete else None

    def tried(self, stage: Stage) -> Tries | None:
        """The number of tries and failures of a stage, None if it was not reached."""
        return next((each for each in self.tries if each.stage == stage), None)

    @property
    def connected(self) -> bool:
        """Whether any address accepted a connection."""
        return self.connect is not None and self.connect.ok

    @property
    def answers(self) -> bool:
        """Whether a client can use Kafka here: the login succeeded and metadata was read."""
        return self.metadata is not None and self.metadata.ok

    @property
    def mechanisms(self) -> tuple[str, ...] | None:
        """Those of a listener that closed the connection of a client without a login, see `ClusterMetadata`."""
        return self.metadata.mechanisms if self.metadata is not None else None

    @property
    def may_require_login(self) -> bool:
        """Whether the listener may have closed the connection because the client has no login."""
        closed = self.metadata is None or self.metadata.outcome in ("closed", "reset")
        return self.sasl is None and closed and self.mechanisms != ()

    @property
    def port(self) -> str:
        return self.endpoint.rpartition(":")[2]

    @property
    def addresses(self) -> tuple[str, ...]:
        return self.resolve.addresses if self.resolve is not None else ()

    @property
    def canonical(self) -> tuple[str, ...]:
        """The names that a client dials with canonical names turned on."""
        return self.resolve.canonical if self.resolve is not None else ()

    @property
    def hosts_entry(self) -> str | None:
        """The line of the hosts file that decides the address."""
        return self.resolve.hosts_entry if self.resolve is not None else None

    @property
    def dns_error(self) -> str | None:
        """Why the name does not resolve."""
        return None if self.resolve is None or self.resolve.ok else self.resolve.detail

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The connection attempts, one for each address."""
        return self.connect.attempts if self.connect is not None else ()

    @property
    def accepting(self) -> tuple[str, ...]:
        """The addresses that accepted a connection."""
        return tuple(each.address for each in self.attempts if each.outcome == "connected")

    @property
    def speaks(self) -> _Peer | None:
        """The kind of peer that answered a Kafka request."""
        if self.versions is None:
            if self.tls is None or self.tls.outcome not in ("not-tls", "closed", "reset"):
                return None
            if self.tls.protocol:
                return _SPEAKS.get(self.tls.protocol, "other")
            return "kafka" if self.tls.plain else "closed" if self.tls.outcome != "not-tls" else None
        if self.versions.outcome == "other-protocol":
            return _SPEAKS.get(self.versions.protocol, "other")
        return _ANSWERS.get(self.versions.outcome, "closed")

    @property
    def protocol(self) -> str:
        """The protocol that the peer speaks instead of the expected one; empty if it is unknown or the expected one."""
        return next((each.protocol for each in (self.tls, self.versions) if each is not None and each.protocol), "")

    @property
    def first_bytes(self) -> str:
        """The first bytes of an answer that is not Kafka's, in hexadecimal."""
        return self.versions.first_bytes if self.versions is not None else ""

    @property
    def cluster_id(self) -> str | None:
        return self.metadata.cluster_id if self.metadata is not None else None

    @property
    def controller_id(self) -> int | None:
        """The node that metadata names as the controller."""
        return self.metadata.controller_id if self.metadata is not None else None

    @property
    def brokers(self) -> tuple[Advertised, ...] | None:
        """The brokers that are advertised here, None if metadata was not read."""
        return self.metadata.brokers if self.metadata is not None and self.metadata.ok else None

    @property
    def node_ids(self) -> frozenset[int]:
        """The node ids that are advertised here; empty if metadata was not read."""
        return frozenset(each.node_id for each in self.brokers or ())

    @property
    def node_id(self) -> int | None:
        """The node that answers here, None if it is unknown."""
        return self.identity.node_id if self.identity is not None else None

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """The node's own listener settings."""
        return self.identity.settings if self.identity is not None else ()

    @property
    def slow(self) -> bool:
        """Whether the peer answered ApiVersions, and not Metadata in time."""
        return self.metadata is not None and self.metadata.outcome in ("silent", "stalled")

    def newest(self, request: str) -> int:
        """The newest version of a request that is offered here, -1 if unknown."""
        offered = self.versions.offered if self.versions is not None else ()
        return next((newest for key, _, newest in offered if key == _API_KEYS[request]), -1)
