"""The result of each stage of a probe: resolve, connect, tls, versions, sasl, metadata, identity, size.

The stages run in this order on one connection. A result states an observation. `silent`: the peer accepted the
connection and did not answer. `closed` and `reset`: it ended the connection before the first byte of an answer. `cut`:
a Kafka answer began and the connection ended. `stalled`: the answer began and did not continue. `other-protocol`: the
bytes are of another protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated, Any, Literal

from brokernat.address import Endpoint, parse_rule
from brokernat.address.endpoint import bracketed
from brokernat.errors import ConfigError

Stage = Literal["resolve", "connect", "tls", "versions", "sasl", "metadata", "identity", "size"]
"""The stages, in the order of a client; ApiVersions comes before the login."""

Fault = Literal["silent", "closed", "reset", "cut", "stalled", "other-protocol", "unreadable", "unsupported"]
"""How a request without an answer ended. `unreadable`: the bytes are of no known protocol. `unsupported`: the peer
offers no version of the request that the doctor knows.
"""

Client = Literal["java", "librdkafka", "python"]
"""Client families that verify certificates differently."""


@dataclass(frozen=True, slots=True)
class _Parsed:
    """Marks a text that checks parse with this function. A saved file is untrusted, so reading it does so too."""

    parse: Callable[[str], object]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core import PydanticCustomError, core_schema

        def parsed(text: str) -> str:
            try:
                self.parse(text)
            except ConfigError as error:
                raise PydanticCustomError("text", "{reason}", {"reason": error.problems[0].message}) from None
            except ValueError:
                raise PydanticCustomError("text", "this is no address") from None
            return text

        return core_schema.no_info_after_validator_function(parsed, handler(source))


AddressText = Annotated[str, _Parsed(ip_address)]
EndpointText = Annotated[str, _Parsed(Endpoint.parse)]
RuleText = Annotated[str, _Parsed(parse_rule)]


class Result:
    """The result of a stage; `outcome` is `ok` if a client can continue."""

    __slots__ = ()
    outcome: str

    @property
    def ok(self) -> bool:
        """Whether a client can continue."""
        return self.outcome == "ok"


@dataclass(frozen=True, slots=True)
class Advertised:
    """A broker of a Metadata answer. Host and port are unchecked: the host may be empty and the port 0."""

    node_id: int
    host: str
    port: int

    @property
    def endpoint(self) -> str:
        """Host and port, as a client logs them."""
        return f"{bracketed(self.host)}:{self.port}"

    def __str__(self) -> str:
        return f"{self.node_id} {self.endpoint}"


@dataclass(frozen=True, slots=True)
class NameLookup(Result):
    """The addresses of a name. `no-answer`: the name server does not answer or reports a failure.

    `canonical` are the names that a client with canonical names dials; `hosts_entry` is the line of the hosts file that
    decides the address. `own_name`: the name is this machine's host name, with or without a domain.
    """

    outcome: Literal["ok", "unknown", "no-answer", "not-a-name"]
    addresses: tuple[AddressText, ...] = ()
    detail: str = ""
    hosts_entry: str | None = None
    canonical: tuple[str, ...] = ()
    own_name: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """TCP connections to one address of a name, until one was accepted or the tries were used up.

    `icmp` is the ICMP error of a router or of the host (`admin-prohibited` from a firewall), `reported_by` is its
    sender. `refused` without `icmp` is a TCP reset: nothing listens there. `unreachable` with `reported_by` and without
    `icmp`: this machine has that address itself and sends from it, and the host or the next router does not answer.
    `refused` with the address itself in `reported_by` and without `icmp`: this machine itself has the address.
    `reported_here`: this machine itself sent the ICMP error.
    """

    address: str
    outcome: Literal["connected", "refused", "timeout", "unreachable"]
    detail: str = ""
    icmp: str = ""
    reported_by: str = ""
    made: int = 1
    failed: int = 0
    reported_here: bool = False

    @property
    def rejected(self) -> bool:
        """Whether a firewall rejected the connection, and not the port.

        A router reports a missing host as unreachable. A host that reports itself as unreachable is up, and its
        firewall rejects.
        """
        itself = self.icmp == "host-unreachable" and self.reported_by == self.address
        return itself or self.icmp in ("port-unreachable", "net-prohibited", "host-prohibited", "admin-prohibited")

    @property
    def answered(self) -> bool:
        """Whether another machine accepted or refused the connection; this one refuses at its own addresses."""
        return self.outcome == "connected" or (self.outcome == "refused" and not self.at_own_address)

    @property
    def at_own_address(self) -> bool:
        """Whether this machine itself has the address, and refused."""
        return self.outcome == "refused" and self.reported_by == self.address and not self.icmp

    @property
    def without_ipv6(self) -> bool:
        """Whether this machine itself has no route to an IPv6 address; no packet was sent."""
        return ":" in self.address and self.outcome == "unreachable" and not self.icmp


@dataclass(frozen=True, slots=True)
class Connection:
    """The connections to all addresses of the name, because clients use any of them."""

    attempts: tuple[Attempt, ...]

    @property
    def outcome(self) -> str:
        """`ok` if any address accepted a connection, `mixed` if they failed in different ways."""
        outcomes = {each.outcome for each in self.attempts}
        if "connected" in outcomes:
            return "ok"
        return outcomes.pop() if len(outcomes) == 1 else "mixed"

    @property
    def ok(self) -> bool:
        """Whether any address accepted a connection."""
        return self.outcome == "ok"


@dataclass(frozen=True, slots=True)
class Presented:
    """A presented certificate: common names of subject and issuer, and its validity in ISO 8601.

    All times of the evidence have one format in UTC, so they can be compared as text.
    """

    subject: str
    issuer: str
    since: str
    until: str


@dataclass(frozen=True, slots=True)
class Objection:
    """Why some clients reject a certificate that others accept."""

    clients: tuple[Client, ...]
    outcome: Literal["expired", "untrusted", "name-mismatch"]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TlsHandshake(Result):
    """A TLS handshake with the client's configuration. `names` are the names of the certificate.

    `ok` means that some clients accept it; `objections` are the reasons of the others. With `closed`, `reset` and
    `silent` the peer sent no TLS. `chain` is the rejected chain: the broker's (its own certificate first) or the
    client's. `showed` is whether this client has a certificate. `plain` is whether Kafka answers without TLS;
    `protocol` is another protocol that the peer's bytes show: `HTTP`, `SSH` … `alert` is whether a silent peer sends
    an alert, which is short, to a ClientHello that it cannot accept.
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
    alert: bool = False


@dataclass(frozen=True, slots=True)
class ApiVersions(Result):
    """The ApiVersions answer: the offered requests as (api key, oldest version, newest version).

    `controller` is a KRaft controller's listener. `protocol` is the protocol that the peer's bytes show: `HTTP`, `SSH`,
    `TLS` …; `first_bytes` are the first bytes of an answer, in hexadecimal. `received` counts its bytes.
    """

    outcome: Literal["ok", "controller"] | Fault
    offered: tuple[tuple[int, int, int], ...] = ()
    protocol: str = ""
    first_bytes: str = ""
    received: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Login(Result):
    """A login. `offered` are the broker's mechanisms if it rejected ours.

    `not-tried` is a login that the doctor does not support, or that the user did not allow for this endpoint.
    """

    outcome: Literal["ok", "mechanism-not-offered", "rejected", "not-tried"] | Fault
    offered: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ClusterMetadata(Result):
    """A cluster as one listener reports it. `brokers` are sorted by node id; `controller_id` may be None.

    `mechanisms` are those of the listener if it closed the connection of a client without a login: empty if it has no
    login, None if that is unknown.
    """

    outcome: Literal["ok"] | Fault
    cluster_id: str | None = None
    controller_id: int | None = None
    brokers: tuple[Advertised, ...] = ()
    received: int = 0
    detail: str = ""
    mechanisms: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """The node that answered, and the method. Its own statement: `apiversions` (KIP-1242), `describeconfigs` (text of
    error 42).

    Indirect: `listoffsets` (it leads its partitions, on two connections), `certificate` (a name that only one broker
    advertises). `detail` is why the earlier methods gave no result. `others` are other node ids that later connections
    reached: a load balancer, or a name with addresses of several brokers. `met` has every (address, node id) that
    answered. `connections` is the number of connections on which the node answered, at the address with the fewest.
    `settings` are the node's own listener settings. `fault` is how the connection ended if no request was possible.
    `strangers` are addresses of the name that lead to another cluster, each with its id; one that is in `met`, too,
    leads to several in turn.
    """

    node_id: int | None
    method: Literal["apiversions", "describeconfigs", "listoffsets", "certificate", "none"]
    detail: str = ""
    others: tuple[int, ...] = ()
    met: tuple[tuple[str, int], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    fault: Fault | None = None
    connections: int = 0
    strangers: tuple[tuple[str, str], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the node answered the requests, with any result."""
        return self.fault is None

    @property
    def outcome(self) -> str:
        """`ok`, `not-provable`, or the fault."""
        return self.fault or ("not-provable" if self.node_id is None else "ok")

    @property
    def alone(self) -> bool:
        """Whether every connection reached the same node of the same cluster."""
        return not self.others and not self.strangers

    @property
    def other_clusters(self) -> tuple[str, ...]:
        """The ids of the other clusters that connections reached."""
        return tuple(dict.fromkeys(cluster for _, cluster in self.strangers))

    @property
    def confidence(self) -> Literal["proven", "likely", "unknown"]:
        """`proven` for the node's own statement, `likely` for indirect methods, `unknown` without a node id."""
        if self.node_id is None:
            return "unknown"
        return "proven" if self.method in ("apiversions", "describeconfigs") else "likely"


@dataclass(frozen=True, slots=True)
class Transfer:
    """A message of this size in one direction; the message in the other direction is small.

    `received` is the number of received bytes of the answer.
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

    On a working path there is one message above 8 KiB in each direction. If one fails, each direction is tried again in
    two sizes. A message is `not-possible` if the peer offers no suitable request.
    """

    transfers: tuple[Transfer, ...] = ()

    @property
    def failed(self) -> tuple[Transfer, ...]:
        return tuple(each for each in self.transfers if each.outcome not in ("ok", "not-possible"))

    @property
    def ok(self) -> bool:
        """Whether every possible transfer succeeded."""
        return not self.failed

    @property
    def outcome(self) -> str:
        """`ok`, `not-possible` if no transfer was possible, or the outcome of the first failed one."""
        if self.failed:
            return self.failed[0].outcome
        return "ok" if any(each.outcome == "ok" for each in self.transfers) else "not-possible"
