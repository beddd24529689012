"""Keys and versions that do not exist yet, and fields of today's answers that nobody knows, never reach a client."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any, Self

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader
from tests.leaks.future import API_VERSIONS, METADATA, UNKNOWN_KEYS, FutureCluster
from tests.leaks.proxies import RunningProxy, proxy, somewhere
from tests.leaks.scan import Needles, Stream, scanned
from tests.support.simulated_brokers import serving_as

from brokernat.address import Endpoint
from brokernat.testbed.place import wait_until
from brokernat.testbed.running_cluster import quoted

pytestmark = pytest.mark.integration

_DEAD = "127.0.78"
_PATIENCE = 20
PRODUCE, FETCH, DESCRIBE_QUORUM = 0, 1, 55
CAPS = {PRODUCE: 9, FETCH: 15, DESCRIBE_QUORUM: 1}
HIDDEN = {"ShareFetch": 78, "ShareAcknowledge": 79, "LeaderAndIsr": 4, "UpdateMetadata": 6, "Vote": 52}


@pytest.fixture(scope="module")
def ahead(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningProxy, Needles]]:
    """The proxy in front of brokers of the future, and what must not pass."""
    with serving_as(FutureCluster, 2, _DEAD) as served:
        rules = [f"{served.cluster.advertised[node]}={at}" for node, at in served.reachable.items()]
        servers = ",".join(map(str, served.reachable.values()))
        lines = ["clusters:", "  hq:", f"    bootstrap_servers: {servers}", "    address_map:"]
        config = tmp_path_factory.mktemp("future") / "brokernat.yaml"
        config.write_text("\n".join([*lines, *(f"      - {quoted(rule)}" for rule in rules), ""]))
        with proxy(config, somewhere()) as running:
            yield running, Needles.of(served.cluster.advertised.values(), [running.bootstrap.host])


class Client:
    """Requests as bytes, and everything that came back."""

    def __init__(self, at: Endpoint) -> None:
        self._socket = socket.create_connection((at.host, at.port), timeout=_PATIENCE)
        self.stream = Stream(at.port)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, api: int, version: int, body: bytes, *, flexible: bool) -> bytes | None:
        """The response behind its correlation id; None when the proxy closed the connection."""
        head = struct.pack(">hhih", api, version, 7, 4) + b"test" + (b"\0" if flexible else b"")
        request = struct.pack(">i", len(head + body)) + head + body
        self.stream.sent += request
        # Reset in the middle of what was sent is an end as good as any.
        with suppress(ConnectionError):
            self._socket.sendall(request)
            head = self._exactly(4)
            return self._exactly(struct.unpack(">i", head)[0])[4:] if head else None
        return None

    def _exactly(self, size: int) -> bytes:
        begin = len(self.stream.received)
        while len(self.stream.received) - begin < size:
            data = self._socket.recv(size - len(self.stream.received) + begin)
            if not data:
                return b""
            self.stream.received += data
        return bytes(self.stream.received[begin:])


def _versions_body(version: int) -> bytes:
    """Software name and version, then (v5) no cluster id and no node id."""
    names = b"\x05test\x021\x00" if version >= 3 else b""
    return names if version < 5 else names[:-1] + b"\x00" + struct.pack(">i", -1) + b"\x00"


def _offered(answer: bytes, version: int) -> Any:
    schema = import_module(f"kio.schema.api_versions.v{version}.response")
    read, _ = entity_reader(schema.ApiVersionsResponse)(answer, 0)
    return read


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_what_a_client_is_offered(version: int, ahead: tuple[RunningProxy, Needles]) -> None:
    running, needles = ahead
    with Client(running.bootstrap) as client:
        answer = client.ask(API_VERSIONS, version, _versions_body(version), flexible=version >= 3)
        assert answer is not None
        offered = {int(each.api_key): int(each.max_version) for each in _offered(answer, version).api_keys}
    for key, cap in CAPS.items():
        assert offered[key] == cap
    assert not set(HIDDEN.values()) & set(offered)
    assert not set(UNKNOWN_KEYS) & set(offered)
    for key, newest in offered.items():
        assert newest <= _newest_known(key), f"key {key} is offered up to version {newest}"
    assert scanned([client.stream], needles).leaks == ()


def test_a_newer_api_versions_request_is_answered_as_a_broker_does(ahead: tuple[RunningProxy, Needles]) -> None:
    """UNSUPPORTED_VERSION in the form of version 0, with the versions of ApiVersions."""
    running, needles = ahead
    with Client(running.bootstrap) as client:
        answer = client.ask(API_VERSIONS, 98, _versions_body(3), flexible=True)
        assert answer is not None
        refused = _offered(answer, 0)
        assert refused.error_code is ErrorCode.unsupported_version
        assert {int(each.api_key) for each in refused.api_keys} >= {API_VERSIONS}
        # The same connection goes on with a version that both know.
        assert client.ask(API_VERSIONS, 3, _versions_body(3), flexible=True)
    assert scanned([client.stream], needles).leaks == ()


@pytest.mark.parametrize(
    ("api", "version"),
    [
        (PRODUCE, 10),
        (FETCH, 16),
        (FETCH, 99),
        (METADATA, 99),
        (DESCRIBE_QUORUM, 2),
        (10, 99),
        (60, 99),
        *((key, 0) for key in HIDDEN.values()),
        *((key, 0) for key in UNKNOWN_KEYS),
    ],
)
def test_a_client_that_does_not_care(api: int, version: int, ahead: tuple[RunningProxy, Needles]) -> None:
    """It sends what it was not offered: the connection ends, and no byte of the broker's answer passes."""
    running, needles = ahead
    with Client(running.bootstrap) as client:
        assert client.ask(api, version, b"", flexible=True) is None
        assert not client.stream.received
    assert scanned([client.stream], needles).leaks == ()
    wait_until(lambda: f" v{version}: " in running.log.read_text(), f"version {version} in the log", timeout=_PATIENCE)


def test_brokers_are_named_by_the_proxys_own_endpoints(ahead: tuple[RunningProxy, Needles]) -> None:
    running, needles = ahead
    schema = import_module("kio.schema.metadata.v8.response")
    with Client(running.bootstrap) as client:
        answer = client.ask(METADATA, 8, struct.pack(">i", -1) + b"\0\0\0", flexible=False)
        assert answer is not None
        read, _ = entity_reader(schema.MetadataResponse)(answer, 0)
    at = running.bootstrap
    assert {int(each.node_id): (each.host, int(each.port)) for each in read.brokers} == {
        1: (at.host, at.port + 2),
        2: (at.host, at.port + 3),
    }
    assert scanned([client.stream], needles).leaks == ()


def _newest_known(key: int) -> int:
    """The newest version of a key that kio has a schema for; of ApiVersions the one of KIP-1242 as well."""
    if key == API_VERSIONS:
        return 5
    return max(schema_name_map[api_key_map[key]]) if key in api_key_map else -1
