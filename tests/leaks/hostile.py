"""Clients and brokers that mean no good, or are broken: bytes of any kind, in a seeded order, against a running proxy.

The brokers are simulated, so what costs time and memory here is the proxy.
"""

from __future__ import annotations

import random
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.leaks.proxies import RunningProxy, proxy
from tests.property.bent_server import Bend
from tests.support.simulated_brokers import Served, Simulated, serving_as

from brokernat.address import Endpoint
from brokernat.testbed.running_cluster import quoted

DEAD = "127.0.81"
FETCH, METADATA, API_VERSIONS, PRODUCE = 1, 3, 18, 0
ANSWER = 1 << 20
"""Bytes of a Fetch answer."""
_ALL = struct.pack(">i", -1)
_PATIENCE = 20
_GREETINGS = (
    b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n",
    b"SSH-2.0-OpenSSH_9.2p1\r\n",
    bytes.fromhex("160301020001000 1fc0303".replace(" ", "")) + bytes(400),
    b"",
)
_KINDS = ("cut", "overwritten", "lengthened", "huge", "count", "shorter-inside", "noise")


@dataclass(frozen=True)
class LargeAnswers(Simulated):
    """A Fetch is answered with a mebibyte."""

    def answer(self, node_id: int, request: bytes) -> bytes | None:
        """As a broker, and to each Fetch bytes that the proxy lets pass as they are."""
        api, _, correlation = struct.unpack_from(">hhi", request)
        if api == FETCH:
            return struct.pack(">ii", ANSWER + 4, correlation) + bytes(ANSWER)
        return super().answer(node_id, request)


class Bent(Simulated):
    """A share of the answers is bent, by a seed that the test sets."""

    dice = random.Random(0)
    share = 0.5

    def answer(self, node_id: int, request: bytes) -> bytes | None:
        """Right, or anything."""
        try:
            right = super().answer(node_id, request)
        except Exception:  # noqa: BLE001 - the simulation reads requests of right clients only
            return None
        if right is None or self.dice.random() >= self.share:
            return right
        bend = Bend(self.dice.choice(_KINDS), self.dice.randrange(256), self.dice.randbytes(20), stays=False)
        return bend.apply(right).data

    def _said(self, node_id: int, api: int, version: int, body: bytes) -> bytes:
        # For an array kio takes memory by the length that is written, and ends the process where there is none.
        if (api, body) != (METADATA, _ALL):
            raise ValueError("no request of a right client")
        return super()._said(node_id, api, version, body)


@contextmanager
def fronted(
    kind: type[Simulated], folder: Path, listen: Endpoint, *options: str
) -> Iterator[tuple[RunningProxy, Served]]:
    """The proxy in front of two simulated brokers that advertise dead addresses."""
    with serving_as(kind, 2, DEAD) as served:
        config = folder / "brokernat.yaml"
        rules = [f"{served.cluster.advertised[node]}={at}" for node, at in served.reachable.items()]
        servers = ",".join(map(str, served.reachable.values()))
        lines = ["clusters:", "  hq:", f"    bootstrap_servers: {servers}", "    address_map:"]
        config.write_text("\n".join([*lines, *(f"      - {quoted(rule)}" for rule in rules), ""]))
        with proxy(config, listen, *options) as running:
            yield running, served


def request(api: int, version: int, body: bytes = b"", correlation: int = 7) -> bytes:
    """A whole request with its length."""
    head = struct.pack(">hhih", api, version, correlation, 4) + b"test"
    return struct.pack(">i", len(head + body)) + head + body


ALL_TOPICS = request(METADATA, 1, _ALL)


def connected(at: Endpoint) -> socket.socket:
    """A client's connection."""
    return socket.create_connection((at.host, at.port), _PATIENCE)


def answered(connection: socket.socket, wanted: bytes) -> bytes:
    """The response to a request; empty when the connection ended."""
    with suppress(ConnectionError):
        connection.sendall(wanted)
        head = exactly(connection, 4)
        return exactly(connection, struct.unpack(">i", head)[0]) if head else b""
    return b""


def exactly(connection: socket.socket, size: int) -> bytes:
    """So many bytes; none when the connection ended before."""
    found = bytearray()
    while len(found) < size:
        data = connection.recv(size - len(found))
        if not data:
            return b""
        found += data
    return bytes(found)


def serves(running: RunningProxy) -> bool:
    """Whether a right client gets a right answer."""
    with connected(running.bootstrap) as connection:
        return running.bootstrap.host.encode() in answered(connection, ALL_TOPICS)


def attack(at: Endpoint, dice: random.Random) -> None:
    """One connection of a client that is broken in one way or another."""
    with connected(at) as connection, suppress(OSError):
        connection.settimeout(0.2)
        for _ in range(dice.randrange(1, 5)):
            connection.sendall(_spoiled(dice))
            if dice.random() < 0.5:
                connection.recv(1 << 16)
        if dice.random() < 0.3:
            # Reset instead of an end.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _spoiled(dice: random.Random) -> bytes:
    right = dice.choice((
        request(API_VERSIONS, dice.randrange(-1, 9), dice.randbytes(dice.randrange(20))),
        request(METADATA, dice.randrange(0, 14), dice.randbytes(dice.randrange(40))),
        request(dice.randrange(-2, 100), dice.randrange(-1, 20), dice.randbytes(dice.randrange(200))),
        request(17, dice.randrange(3), b"\0\5PLAIN"),
        ALL_TOPICS,
    ))  # fmt: skip
    kind = dice.choice((*_KINDS, "right", "greeting"))
    if kind == "right":
        return right
    if kind == "greeting":
        return dice.choice(_GREETINGS)
    return Bend(kind, dice.randrange(256), dice.randbytes(dice.randrange(1, 60)), stays=False).apply(right).data
