"""What each stage of a probe found: resolve, connect, tls, versions, sasl, metadata, identity, size.

A stage is probed in this order on one connection, and its result is made once. A result says what was observed:
`silent` is a peer that took the connection and did not answer, `closed` and `reset` one that ended it before the
first byte of an answer, `cut` one whose answer began as Kafka's and ended early, `stalled` one whose answer began and
did not go on. `other-protocol` needs bytes that another protocol explains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Stage = Literal["resolve", "connect", "tls", "versions", "sasl", "metadata", "identity", "size"]
"""The stages, in the order in which a client comes to them; the greeting (ApiVersions) goes before the login."""

Fault = Literal["silent", "closed", "reset", "cut", "stalled", "other-protocol", "unreadable", "unsupported"]
"""How a request ended that got no answer. `unreadable` is none of Kafka's answers and of no protocol that is known;
`unsupported` is a request of which the peer offers no version that the doctor knows."""

Client = Literal["java", "librdkafka", "python"]
"""Families of clients that verify certificates in their own ways."""


class Result:
    """What a stage came to; `outcome` is `ok` where a client goes on from it."""

    __slots__ = ()
    outcome: str

    @property
    def ok(self) -> bool:
        """Whether a client goes on."""
        return self.outcome == "ok"


@dataclass(frozen=True, slots=True)
class Tries:
    """How often a stage was tried and how often that failed, over all connections to an endpoint, with each fault.

    `median` and `largest` are seconds: of the tries that worked, of all where none did.
    """

    stage: Stage
    made: int
    failed: int = 0
    median: float = 0.0
    largest: float = 0.0
    faults: tuple[str, ...] = ()


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

    def __str__(self) -> str:
        return f"{self.node_id} {self.endpoint}"


@dataclass(frozen=True, slots=True)
class NameLookup(Result):
    """The addresses of a name. `no-answer` is a name server that does not answer, or answers that it cannot.

    `canonical` is what a client dials that asks for canonical names; `hosts_entry` the line of the hosts file that
    decides the name.
    """

    outcome: Literal["ok", "unknown", "no-answer", "not-a-name"]
    addresses: tuple[str, ...] = ()
    detail: str = ""
    hosts_entry: str | None = None
    canonical: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """TCP connections to one address of a name, until one was taken or the tries were used up.

    `icmp` is what a router or the host itself reported instead of an answer (`admin-prohibited`), `reported_by` its
    address: a firewall that rejects. `refused` without it is a reset from the address: nothing listens there.
    """

    address: str
    outcome: Literal["connected", "refused", "timeout", "unreachable"]
    detail: str = ""
    icmp: str = ""
    reported_by: str = ""
    made: int = 1
    failed: int = 0

    @property
    def rejected(self) -> bool:
        """Whether something on the way to the port, and not the port, said no.

        A router may well find no host; a host that calls itself unreachable is there, and its firewall rejects.
        """
        itself = self.icmp == "host-unreachable" and self.reported_by == self.address
        return itself or self.icmp in ("port-unreachable", "net-prohibited", "host-prohibited", "admin-prohibited")


@dataclass(frozen=True, slots=True)
class Connection:
    """All addresses of the name, because clients take any of them."""

    attempts: tuple[Attempt, ...]

    @property
    def outcome(self) -> str:
        """`ok` where any address took a connection, `mixed` where they fail in different ways."""
        outcomes = {each.outcome for each in self.attempts}
        if "connected" in outcomes:
            return "ok"
        return outcomes.pop() if len(outcomes) == 1 else "mixed"

    @property
    def ok(self) -> bool:
        """Whether any address took a connection."""
        return self.outcome == "ok"


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
class TlsHandshake(Result):
    """A TLS handshake as the client is configured to make it. `names` are those of the certificate.

    `ok` is what some clients accept, and `objections` are what the others have against it. `closed`, `reset` and
    `silent` are a peer that says no word of TLS. `chain` is what was presented, the broker's own first, where that is
    refused, and the client's own where the broker refuses that. `showed` is whether this client has a certificate.
    `plain` is whether Kafka answers there without TLS, and `protocol` what else does, where its bytes explain it:
    `HTTP`, `SSH` …
    """

    outcome: Literal[
        "ok",
        "not-tls",
        "closed",
        "reset",
        "silent",
        "name-mismatch",
        "expired",
        "untrusted",
        "unfit",
        "client-certificate",
        "failed",
    ]
    names: tuple[str, ...] = ()
    detail: str = ""
    objections: tuple[Objection, ...] = ()
    chain: tuple[Presented, ...] = ()
    showed: bool = False
    plain: bool = False
    protocol: str = ""


@dataclass(frozen=True, slots=True)
class ApiVersions(Result):
    """The greeting: which requests a peer offers, as (api key, oldest version, newest version).

    `controller` is a KRaft controller's own listener. `protocol` is what speaks there where the bytes explain it:
    `HTTP`, `SSH`, `TLS` …; `first_bytes` are the first ones of an answer, in hexadecimal. `received` counts its bytes.
    """

    outcome: Literal["ok", "controller"] | Fault
    offered: tuple[tuple[int, int, int], ...] = ()
    protocol: str = ""
    first_bytes: str = ""
    received: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Login(Result):
    """A login. `offered` are the mechanisms of the broker, where it refused ours.

    `not-tried` is a login that the doctor cannot do, or one that nobody agreed to send there.
    """

    outcome: Literal["ok", "mechanism-not-offered", "rejected", "not-tried"] | Fault
    offered: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ClusterMetadata(Result):
    """A cluster as one listener tells it. `brokers` are by node id; `controller_id` is None where there is none."""

    outcome: Literal["ok"] | Fault
    cluster_id: str | None = None
    controller_id: int | None = None
    brokers: tuple[Advertised, ...] = ()
    received: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who answered. By its own word: `apiversions` is KIP-1242, `describeconfigs` the text of error 42.

    By what only it can do: `listoffsets` is the leader of its partitions, on two connections; `certificate` has a name
    that one broker alone advertises. `detail` says why the methods before it told nothing. `others` are node ids that
    later connections to the same endpoint met: a balancer, or a name whose addresses lead to several brokers; `met` has
    every (address, node id) that answered, and `connections` is on how many the node answered, at the address where it
    did so least often. `settings` are the node's own about its listeners. `fault` is how the
    connection ended where nothing could be asked.
    """

    node_id: int | None
    method: Literal["apiversions", "describeconfigs", "listoffsets", "certificate", "none"]
    detail: str = ""
    others: tuple[int, ...] = ()
    met: tuple[tuple[str, int], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    fault: Fault | None = None
    connections: int = 0

    @property
    def ok(self) -> bool:
        """Whether the node could be asked, whatever it said."""
        return self.fault is None

    @property
    def outcome(self) -> str:
        """`ok`, `not-provable`, or the fault."""
        return self.fault or ("not-provable" if self.node_id is None else "ok")

    @property
    def confidence(self) -> Literal["proven", "likely", "unknown"]:
        """How sure it is: a node's own word proves, the rest only fits."""
        if self.node_id is None:
            return "unknown"
        return "proven" if self.method in ("apiversions", "describeconfigs") else "likely"


@dataclass(frozen=True, slots=True)
class Transfer:
    """A message of a size in one direction; the one in the other direction is small.

    `received` are the bytes of the answer that came.
    """

    direction: Literal["request", "answer"]
    size: int
    outcome: Literal["ok", "not-possible"] | Fault
    received: int = 0
    made: int = 1
    failed: int = 0


@dataclass(frozen=True, slots=True)
class SizeTest:
    """Whether large requests and answers get through, after small ones did.

    On a path that is well there is one message above 8 KiB in each direction. Where one fails, each direction is tried
    again in two sizes. A message is `not-possible` where the peer offers no request to do it with.
    """

    transfers: tuple[Transfer, ...] = ()

    @property
    def failed(self) -> tuple[Transfer, ...]:
        """What did not get through."""
        return tuple(each for each in self.transfers if each.outcome not in ("ok", "not-possible"))

    @property
    def ok(self) -> bool:
        """Whether all that could be tried got through."""
        return not self.failed

    @property
    def outcome(self) -> str:
        """`ok`, `not-possible` where nothing could be tried, or how the first one failed."""
        if self.failed:
            return self.failed[0].outcome
        return "ok" if any(each.outcome == "ok" for each in self.transfers) else "not-possible"
