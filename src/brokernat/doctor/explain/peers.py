"""The broker that a line names: its node id, its role for the client, and its endpoint; pure.

Kafka's Java clients number bootstrap servers -1, -2 …, brokers as the cluster does, and up to 4.3 a coordinator's own
connection 2147483647 minus the node id. librdkafka names its brokers `host:port/bootstrap`, `host:port/ID` and
`GroupCoordinator` with or without `/ID`, kafka-python `bootstrap-0`, `ID` and `coordinator-ID`, franz-go `seed_0` and
`ID`; kafkajs knows seed brokers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from brokernat.address.endpoint import bracketed
from brokernat.doctor.explain.known_lines import Role
from brokernat.doctor.host_kinds import address, inside_name, is_loopback

_COORDINATORS = 2**31 - 1
# No cluster has node ids as high as the ids of coordinator connections.
_LOWEST_COORDINATOR = _COORDINATORS - 10_000_000
_IPV4 = re.compile(r"\d+\.\d+\.\d+\.\d+")
_NUMBER = re.compile(r"-?\d+")
_BOOTSTRAP = re.compile(r"bootstrap|seed[ _]")
_COORDINATOR = re.compile(r"(?:(?:Group|Txn)C|c)oordinator(?:[-/](?P<id>\d+))?")
_CONTAINER = re.compile(r"[0-9a-f]{12}")
_HOST = re.compile(r"[\w.:%-]+")
# What people write in place of a name or an address that they hide.
_MASKED = re.compile(
    r"(?i).*x{3,}.*|(?:\d{1,3}\.){1,3}(?:x{1,2}\.){0,2}x{1,2}|x{1,2}(?:\.(?:\d{1,3}|x{1,2})){3}|"
    r"(?:your|my)[-_.](?:host|broker|server|kafka|ip)\b.*|.*\b(?:redacted|masked|hidden)\b.*"
)
_ARRAY = re.compile(r"(?P<depth>\[{1,3})(?:(?P<type>[BCDFIJSZ])|L(?:java\.base/)?(?P<class>[\w.$]{1,200});?)")
_PRIMITIVES = {
    "B": "byte",
    "C": "char",
    "D": "double",
    "F": "float",
    "I": "int",
    "J": "long",
    "S": "short",
    "Z": "boolean",
}
UNNAMED: Final = {"endpoint": "an endpoint that the line does not name", "node": "?", "of_node": "", "host": "a name"}
"""The text in a sentence for values that the line does not name."""


class Words(dict[str, str]):
    """The values for the sentences of a line, by name; `…` for a value that the line does not have."""

    def __missing__(self, name: str) -> str:
        return "…"


@dataclass(frozen=True, slots=True)
class Peer:
    """`node` is the node id in the cluster, also for a coordinator; `words` are all groups, for the sentences.

    `dialled` is the endpoint of the connection, if the line shows that it is not the named one.
    """

    role: Role
    node: int | None
    endpoint: str | None
    words: Words
    dialled: str | None = None

    @property
    def is_masked(self) -> bool:
        """Whether who pasted the line hid the host: `<broker>`, `***`, `10.0.x.x`, or letters for an address."""
        host, ip = self.words["host"], self.words.get("ip", "")
        hidden = not _HOST.fullmatch(host) or _MASKED.fullmatch(host)
        return bool(hidden) or (host == ip and address(ip.strip("[]")) is None)

    @property
    def host_kind(self) -> str:
        """`loopback`, `private`, `container` or `inside` (a name of the brokers' own network); otherwise empty."""
        if self.words["host"] == UNNAMED["host"] or self.is_masked:
            return ""
        host = self.words["host"].lower().rstrip(".")
        place = address(host)
        # Linux and Docker connect 0.0.0.0 to the client's own machine.
        if is_loopback(host) or (place is not None and place.is_unspecified):
            return "loopback"
        if place is not None:
            return "private" if place.is_private else ""
        if _CONTAINER.fullmatch(host):
            return "container"
        return "inside" if inside_name(host) else ""


def peer_of(match: re.Match[str], role: Role) -> Peer:
    """Read the groups of a known line's pattern; `role` applies if the groups do not show one."""
    groups = {name: _class_name(text) for name, text in match.groupdict().items() if text is not None}
    shown, node = _node(groups.get("node", ""))
    endpoint = groups.get("endpoint") or _endpoint(groups)
    if endpoint:
        groups["endpoint"] = endpoint
        # Java leaves the name out if there is none: `/10.0.0.1:9092`.
        groups["host"] = groups.get("host") or endpoint.rpartition(":")[0].strip("[]")
    if node is not None:
        groups |= {"node": str(node), "of_node": f" of node {node}"}
    # `10.0.0.1/10.9.0.1:9092`: an address never resolves to another one, so a map translated it.
    host, ip = groups.get("host", ""), groups.get("ip", "")
    translated = _IPV4.fullmatch(host) and _IPV4.fullmatch(ip) and host != ip
    dialled = f"{ip}:{groups['port']}" if translated else None
    if "host" in groups:
        groups.setdefault("endpoint", groups["host"])
    return Peer(role if shown is Role.UNNAMED else shown, node, endpoint, Words(UNNAMED | groups), dialled)


def _class_name(text: str) -> str:
    """Java's name of a class without its module, and of an array as it is written: `[B` is `byte[]`."""
    if text.startswith("java.base/"):
        return text.removeprefix("java.base/")
    array = _ARRAY.fullmatch(text) if text.startswith("[") else None
    if array is None:
        return text
    return f"{array['class'] or _PRIMITIVES[array['type']]}{'[]' * len(array['depth'])}"


def _node(text: str) -> tuple[Role, int | None]:
    coordinator = _COORDINATOR.fullmatch(text)
    if coordinator:
        return Role.COORDINATOR, int(coordinator["id"]) if coordinator["id"] else None
    name = text.rpartition("/")[2]
    if _NUMBER.fullmatch(name):
        number = int(name)
        if number < 0:
            return Role.BOOTSTRAP, None
        if number > _LOWEST_COORDINATOR:
            return Role.COORDINATOR, _COORDINATORS - number
        return Role.ADVERTISED, number
    return (Role.BOOTSTRAP if _BOOTSTRAP.search(name) else Role.UNNAMED), None


def _endpoint(groups: Mapping[str, str]) -> str | None:
    host = (groups.get("host") or groups.get("ip") or "").strip("[]")
    return f"{bracketed(host)}:{groups['port']}" if host and "port" in groups else None
