"""What the proxy makes of Kafka's messages, held against kio: decoded, translated and encoded, fed in any chunking."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.index import load_entity_schema, load_payload_module
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static._phantom import Phantom
from kio.static.constants import EntityType

from brokernat.address import Endpoint
from brokernat.wire import Session, WireError
from brokernat.wire.api import API_VERSIONS, APIS, DESCRIBE_CLUSTER, FIND_COORDINATOR, HIDDEN_FEATURES, METADATA
from brokernat.wire.rewriting import REWRITERS

pytestmark = pytest.mark.property

PORT = 20000
LEFT_OUT = 13
"""The node that has no port of the proxy's."""
MOST = 1 << 20

VERSIONS = [
    (key, version)
    for key in (METADATA, FIND_COORDINATOR, API_VERSIONS, DESCRIBE_CLUSTER)
    for version in sorted(schema_name_map[api_key_map[key]])
]


def translate(node_id: int, host: str, port: int) -> Endpoint | None:
    assert host
    assert port > 0
    return None if node_id == LEFT_OUT else Endpoint("proxy", PORT + node_id % 1000)


def written(entity: Any) -> bytes:
    out = io.BytesIO()
    entity_writer(type(entity))(out, entity)
    return out.getvalue()


def request(key: int, version: int, correlation: int, body: bytes = b"\0" * 8) -> bytes:
    flexible = load_payload_module(key, min(version, max(schema_name_map[api_key_map[key]])), EntityType.request)
    tags = b"\0" if next(v for v in vars(flexible).values() if hasattr(v, "__flexible__")).__flexible__ else b""
    packet = struct.pack(">hhih", key, version, correlation, 2) + b"me" + tags + body
    return struct.pack(">i", len(packet)) + packet


def response(key: int, entity: Any, correlation: int, more: bytes = b"") -> bytes:
    packet = struct.pack(">i", correlation) + header_tags(key, entity) + written(entity) + more
    return struct.pack(">i", len(packet)) + packet


def header_tags(key: int, entity: Any) -> bytes:
    return b"\0" if entity.__flexible__ and key != API_VERSIONS else b""


def fed(feed: Any, data: bytes, cuts: Sequence[int]) -> bytes:
    """All that comes out when the data is cut there; the buffer is used again, as the proxy does."""
    out = bytearray()
    buffer = bytearray(len(data))
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, end in pairwise(places):
        chunk = data[start:end]
        buffer[: len(chunk)] = chunk
        for each in feed(memoryview(buffer)[: len(chunk)]):
            out += each
    return bytes(out)


# A plain reading of what the proxy promises, on kio's values.


def translated(key: int, entity: Any) -> Any:
    if key == API_VERSIONS:
        return clamped(entity)
    if key == FIND_COORDINATOR:
        if hasattr(entity, "coordinators"):
            return replace(entity, coordinators=tuple(map(coordinator, entity.coordinators)))
        return coordinator(entity)
    controllers = key == DESCRIBE_CLUSTER and getattr(entity, "endpoint_type", 1) == 2
    brokers = entity.brokers and tuple(
        node for broker in entity.brokers for node in [there(broker)] if node and (not controllers or node is broker)
    )
    return replace(entity, brokers=brokers)


def there(broker: Any) -> Any:
    node_id = getattr(broker, "node_id", getattr(broker, "broker_id", None))
    if node_id is None or node_id < 0 or not broker.host or broker.port <= 0:
        return broker
    endpoint = translate(node_id, broker.host, broker.port)
    return endpoint and replace(broker, host=endpoint.host, port=endpoint.port)


def coordinator(found: Any) -> Any:
    return there(found) or replace(found, node_id=-1, host="", port=-1, error_code=ErrorCode(15))


def clamped(entity: Any) -> Any:
    keys = tuple(
        replace(each, max_version=newest)
        for each in entity.api_keys
        for newest in [min(each.max_version, APIS[each.api_key].highest if each.api_key in APIS else -1)]
        if each.min_version <= newest
    )
    found = replace(entity, api_keys=keys)
    for name in ("supported_features", "finalized_features"):
        if hasattr(entity, name):
            shown = tuple(each for each in getattr(entity, name) if each.name.encode() not in HIDDEN_FEATURES)
            found = replace(found, **{name: shown})
    return found


@cache
def schema(key: int, version: int) -> type:
    """A response's class. Its types are made known to hypothesis: brokernat may have imported kio without it."""
    found: type = load_entity_schema(api_key_map[key], version, EntityType.response)
    types: list[Any] = [Phantom]
    for each in types:
        types += each.__subclasses__()
        each.__hypothesis_hook__()
    return found


@st.composite
def entities(draw: st.DrawFn, key: int, version: int) -> Any:
    entity: Any = draw(st.from_type(schema(key, version)))
    if key == API_VERSIONS:
        # Keys and versions near those that there are, and features that are hidden.
        entity = replace(entity, api_keys=tuple(map(near, entity.api_keys)))
        if entity.error_code is ErrorCode.unsupported_version:
            entity = replace(entity, error_code=ErrorCode.none)
        for name in ("supported_features", "finalized_features"):
            if getattr(entity, name, ()) and draw(st.booleans()):
                first, *others = getattr(entity, name)
                entity = replace(entity, **{name: (replace(first, name="transaction.version"), *others)})
    return entity


def near(offered: Any) -> Any:
    return replace(
        offered,
        api_key=offered.api_key % 100,
        min_version=abs(offered.min_version) % 20,
        max_version=offered.max_version % 20,
    )


CUTS = st.lists(st.integers(0, MOST), max_size=6)


@pytest.mark.parametrize(("key", "version"), VERSIONS, ids=lambda it: str(it))
@settings(max_examples=10)
@given(data=st.data())
def test_a_rewritten_response_is_what_decode_translate_encode_makes(
    key: int, version: int, data: st.DataObject
) -> None:
    entity = data.draw(entities(key, version))
    following = b"" if key == API_VERSIONS else data.draw(st.binary(max_size=4))
    session = Session(translate, MOST)
    asked = request(key, version, 7) + request(12, 0, 8)
    assert fed(session.requests, asked, data.draw(CUTS)) == asked
    heartbeat = struct.pack(">iih", 6, 8, 0)
    sent = response(key, entity, 7, following) + heartbeat
    out = fed(session.responses, sent, data.draw(CUTS) if data.draw(st.booleans()) else range(len(sent)))
    assert session.idle
    length, correlation = struct.unpack_from(">ii", out)
    assert out[length + 4 :] == heartbeat
    assert correlation == 7
    start = 8 + len(header_tags(key, entity))
    found, size = entity_reader(type(entity))(out, start)
    assert found == translated(key, entity)
    assert out[start + size : length + 4] == following


@given(noise=st.binary(max_size=200), keep=st.integers(0, 200), key=st.sampled_from(VERSIONS), data=st.data())
def test_a_bent_response_ends_in_an_error_of_the_wire(
    noise: bytes, keep: int, key: tuple[int, int], data: st.DataObject
) -> None:
    session = Session(lambda *_: Endpoint("proxy", 1), MOST)
    fed(session.requests, request(*key, 1), [])
    whole = response(key[0], data.draw(entities(*key)), 1)
    with suppress(WireError):
        fed(session.responses, whole[: 8 + keep] + noise, data.draw(CUTS))


@given(st.binary(max_size=300), CUTS)
def test_any_bytes_of_a_client_pass_by_the_table_or_end_in_an_error_of_the_wire(sent: bytes, cuts: list[int]) -> None:
    session = Session(translate, MOST)
    with suppress(WireError):
        fed(session.requests, sent, cuts)


# The table against kio.


def hosts(entity: type, path: str = "") -> set[str]:
    """The fields that are a host, and in which message."""
    found: set[str] = set()
    for each in fields(entity):
        if "host" in each.name:
            found.add(f"{path}{each.name}")
        for nested in nested_types(each.type):
            found |= hosts(nested, f"{path}{each.name}.")
    return found


def nested_types(annotation: Any) -> set[type]:
    if is_dataclass(annotation):
        return {annotation}  # type: ignore[arg-type]
    return {nested for part in getattr(annotation, "__args__", ()) for nested in nested_types(part)}


def responses_with_hosts() -> dict[tuple[int, int], set[str]]:
    found = {}
    for key, name in api_key_map.items():
        for version in schema_name_map[name]:
            names = hosts(load_entity_schema(name, version, EntityType.response))
            if names:
                found[key, version] = names
    return found


def test_every_response_with_a_host_is_rewritten_or_capped_or_no_brokers() -> None:
    """Fails when kio learns of one that nobody has decided about."""
    from brokernat.wire.api import NOT_BROKERS

    carrying = responses_with_hosts()
    assert (0, 10) in carrying
    assert (78, 1) in carrying
    undecided = {
        (key, version): names
        for (key, version), names in carrying.items()
        if version <= APIS[key].highest and key not in REWRITERS and key not in NOT_BROKERS
    }
    assert undecided == {}


def test_the_table_has_every_request_and_says_why_a_version_does_not_pass() -> None:
    newest = {key: max(schema_name_map[name]) for key, name in api_key_map.items()}
    assert set(newest) <= set(APIS)
    assert {key for key, highest in newest.items() if APIS[key].highest < highest and not APIS[key].reason} == set()
    # ApiVersions 5 is of Kafka 4.4, which kio does not know.
    assert {key for key, api in APIS.items() if api.highest > newest.get(key, api.highest)} == {API_VERSIONS}


@pytest.mark.parametrize(
    ("name", "version", "needed", "at"),
    [("EndTxn", 5, "Produce", 12), ("TxnOffsetCommit", 5, "Produce", 12), ("ShareGroupHeartbeat", 0, "ShareFetch", 0)],
)
def test_what_needs_a_version_that_does_not_pass_does_not_pass(name: str, version: int, needed: str, at: int) -> None:
    """Transactions v2 leave `AddPartitionsToTxn` to Produce (KIP-890); members of a share group fetch (KIP-932)."""
    highest = {api.name: api.highest for api in APIS.values()}
    assert highest[needed] >= at or highest[name] < version
