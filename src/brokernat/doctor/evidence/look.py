"""One endpoint, as far as a client got with it: name, connection, TLS, login, what it was told, who answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
