"""One endpoint, as far as a client gets with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Read at run time as well: pydantic looks the types of fields up.
from brokernat.doctor.evidence.stages import (
    Advertised,
    ApiVersions,
    Attempt,
    ClusterMetadata,
    Connection,
    Identity,
    Login,
    NameLookup,
    SizeTest,
    Stage,
    TlsHandshake,
    Tries,
)

_API_KEYS = {"Produce": 0, "Metadata": 3, "ApiVersions": 18, "DescribeTransactions": 65}
_SPEAKS: dict[str, Literal["tls", "http", "ssh"]] = {"TLS": "tls", "HTTP": "http", "SSH": "ssh"}
_REACHING: tuple[Stage, ...] = ("resolve", "connect", "tls", "versions", "sasl", "metadata")


@dataclass(frozen=True, slots=True)
class EndpointProbe:
    """What each stage found; None where it was not come to, or where the client has none (tls, sasl).

    `name` is the host that TLS and SASL are told, which is the advertised one even where the map leads elsewhere.
    `rule` is the rule that led a bootstrap server here. `complete` is False where the time ran out: what is missing
    then is not known.
    """

    endpoint: str
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
    rule: str | None = None
    complete: bool = True

    @property
    def failed(self) -> Stage | None:
        """The stage that stops clients here, None where they get through or the time ran out."""
        for stage in _REACHING if self.complete else ():
            result = getattr(self, stage)
            if result is not None and not result.ok:
                return stage
        return None

    def tried(self, stage: Stage) -> Tries | None:
        """How often a stage was tried, None where it was not come to."""
        return next((each for each in self.tries if each.stage == stage), None)

    @property
    def connected(self) -> bool:
        """Whether any address took a connection."""
        return self.connect is not None and self.connect.ok

    @property
    def answers(self) -> bool:
        """Whether a client gets through to Kafka here: login done, metadata read."""
        return self.metadata is not None and self.metadata.ok

    @property
    def addresses(self) -> tuple[str, ...]:
        """What the name led to."""
        return self.resolve.addresses if self.resolve is not None else ()

    @property
    def canonical(self) -> tuple[str, ...]:
        """What a client dials that asks for canonical names."""
        return self.resolve.canonical if self.resolve is not None else ()

    @property
    def hosts_entry(self) -> str | None:
        """The line of the hosts file that decides the name."""
        return self.resolve.hosts_entry if self.resolve is not None else None

    @property
    def dns_error(self) -> str | None:
        """Why the name leads nowhere."""
        return None if self.resolve is None or self.resolve.ok else self.resolve.detail

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The connections, one an address."""
        return self.connect.attempts if self.connect is not None else ()

    @property
    def speaks(self) -> Literal["kafka", "controller", "tls", "http", "ssh", "silence", "closed", "other"] | None:
        """What answered a Kafka request."""
        if self.versions is None:
            if self.tls is None or self.tls.outcome not in ("not-tls", "closed", "reset"):
                return None
            if self.tls.protocol:
                return _SPEAKS.get(self.tls.protocol, "other")
            return "kafka" if self.tls.plain else "closed" if self.tls.outcome != "not-tls" else None
        match self.versions.outcome:
            case "ok":
                return "kafka"
            case "controller":
                return "controller"
            case "other-protocol":
                return _SPEAKS.get(self.versions.protocol, "other")
            case "silent":
                return "silence"
            case "unreadable" | "unsupported":
                return "other"
            case _:
                return "closed"

    @property
    def first_bytes(self) -> str:
        """What came first, in hexadecimal, where it was no answer of Kafka's."""
        return self.versions.first_bytes if self.versions is not None else ""

    @property
    def cluster_id(self) -> str | None:
        """The cluster that answers."""
        return self.metadata.cluster_id if self.metadata is not None else None

    @property
    def controller_id(self) -> int | None:
        """The node that answers for the controller."""
        return self.metadata.controller_id if self.metadata is not None else None

    @property
    def brokers(self) -> tuple[Advertised, ...] | None:
        """What is advertised here, None where that was not read."""
        return self.metadata.brokers if self.metadata is not None and self.metadata.ok else None

    @property
    def node_ids(self) -> frozenset[int]:
        """The nodes that are advertised here; empty where that was not read."""
        return frozenset(each.node_id for each in self.brokers or ())

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """The node's own about its listeners."""
        return self.identity.settings if self.identity is not None else ()

    @property
    def slow(self) -> bool:
        """Whether what greeted as Kafka let the request for the cluster's brokers wait."""
        return self.metadata is not None and self.metadata.outcome in ("silent", "stalled")

    def newest(self, request: str) -> int:
        """The newest version of a request that is offered here, -1 where that was not seen."""
        offered = self.versions.offered if self.versions is not None else ()
        return next((newest for key, _, newest in offered if key == _API_KEYS[request]), -1)
