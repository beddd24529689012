"""What brokers would say, pure: as much of Kafka's protocol as a doctor asks for, a request in and its answer out.

It is what brokers send: ApiVersions with KIP-1242 or without, Metadata, the settings of a broker and the error that
names it, offsets from leaders alone, and the mechanisms of a login, which goes no further. A fuzz can bend what a right
broker would say. Served, each broker has a port of its own on 127.0.0.1, and hundreds of them are one thread.

As a program (`python -m tests.support.simulated_brokers COUNT`) it prints `ADVERTISED=REACHABLE` for each node, in the
order of node ids, and serves until its standard input ends.
"""

from __future__ import annotations

import asyncio
import io
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, fields
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import Any

from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId, TopicName
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i8, i32, i32Timedelta, i64

from brokernat.address import Endpoint

_HERE = "127.0.0.1"
_DEAD = "127.0.77"
_START_TIMEOUT = 30
CLUSTER_ID = "simulated-cluster-0001"
_LIST_OFFSETS, _METADATA, _OFFSET_FETCH, _SASL_HANDSHAKE, _API_VERSIONS, _DESCRIBE_CONFIGS = 2, 3, 9, 17, 18, 32
_SASL_AUTHENTICATE = 36
_SCHEMAS = {
    _LIST_OFFSETS: ("list_offsets", "ListOffsetsRequest"),
    _METADATA: ("metadata", "MetadataRequest"),
    _DESCRIBE_CONFIGS: ("describe_configs", "DescribeConfigsRequest"),
}
_UNSUPPORTED_VERSION, _REBOOTSTRAP_REQUIRED, _WITH_IDENTITY = 35, 129, 5
_TOPIC = TopicName("orders")
_NOW = i32Timedelta.parse(timedelta())


@dataclass(frozen=True)
class Simulated:
    """A cluster. Its one topic has a partition for each broker, which leads it.

    `newest_api_versions` below 5 is a Kafka before 4.4; without `describes_configs` the client lacks that right.
    `renumbered` is what a proxy in front adds to the ids that clients are told. With `mechanisms` a login is demanded.
    """

    advertised: Mapping[int, Endpoint]
    newest_api_versions: int = 5
    newest_metadata: int = 6
    describes_configs: bool = True
    renumbered: int = 0
    mechanisms: tuple[str, ...] = ()
    cluster_id: str = CLUSTER_ID

    def answer(self, node_id: int, request: bytes) -> bytes | None:
        """What a node answers to a request without its length, with its length; None where it would hang up."""
        api, version, correlation, client_id = struct.unpack_from(">hhih", request)
        body = request[10 + max(0, client_id) :]
        if api == _API_VERSIONS:
            said = self._versions(node_id, version, body)
        elif api == _OFFSET_FETCH and not self.mechanisms:
            said = _nothing_committed(body)
        elif api == _SASL_HANDSHAKE:
            said = self._handshake(body)
        elif api in _SCHEMAS and not self.mechanisms:
            said = self._said(node_id, api, version, body)
        else:
            return None
        return struct.pack(">ii", len(said) + 4, correlation) + said

    def _versions(self, node_id: int, version: int, body: bytes) -> bytes:
        if _WITH_IDENTITY <= version <= self.newest_api_versions:
            # Behind the header's tags: two compact strings, then a compact cluster id and the node id (KIP-1242).
            wanted = struct.unpack(">i", body[-5:-1])[0]
            same = self.cluster_id.encode() in body and wanted == node_id
            return struct.pack(">h", 0 if same else _REBOOTSTRAP_REQUIRED) + b"\x01" + struct.pack(">i", 0) + b"\0"
        newest = {
            _LIST_OFFSETS: 1,
            _METADATA: self.newest_metadata,
            _OFFSET_FETCH: 1,
            _SASL_HANDSHAKE: 1,
            _API_VERSIONS: self.newest_api_versions,
            _DESCRIBE_CONFIGS: 1,
            _SASL_AUTHENTICATE: 1,
        }
        if version > self.newest_api_versions:
            # As version 0 (KIP-511).
            return struct.pack(">hihhh", _UNSUPPORTED_VERSION, 1, _API_VERSIONS, 0, self.newest_api_versions)
        if version:
            return b"\0\0\x01" + struct.pack(">i", 0) + b"\0"
        return struct.pack(">hi", 0, len(newest)) + b"".join(
            struct.pack(">hhh", api, 0, version) for api, version in newest.items()
        )

    def _handshake(self, body: bytes) -> bytes:
        wanted = body[2:].decode()
        error = ErrorCode.none if wanted in self.mechanisms else ErrorCode.unsupported_sasl_mechanism
        if not self.mechanisms:
            error = ErrorCode.illegal_sasl_state
        names = b"".join(struct.pack(">h", len(name)) + name.encode() for name in self.mechanisms)
        return struct.pack(">hi", int(error), len(self.mechanisms)) + names

    def _said(self, node_id: int, api: int, version: int, body: bytes) -> bytes:
        package, name = _SCHEMAS[api]
        schema = import_module(f"kio.schema.{package}.v{version}.response")
        request_type = getattr(import_module(f"kio.schema.{package}.v{version}.request"), name)
        request = entity_reader(request_type)(body, 0)[0]
        if api == _METADATA:
            said = self._metadata(schema, request.topics)
        elif api == _LIST_OFFSETS:
            said = _offsets(schema, request, node_id)
        else:
            said = self._settings(schema, request, node_id)
        buffer = io.BytesIO()
        entity_writer(type(said))(buffer, said)
        return buffer.getvalue()

    def _metadata(self, schema: Any, topics: object) -> Any:
        told = {BrokerId(node_id + self.renumbered): end for node_id, end in self.advertised.items()}
        partitions = tuple(
            schema.MetadataResponsePartition(
                error_code=ErrorCode.none,
                partition_index=i32(index),
                leader_id=node_id,
                replica_nodes=(node_id,),
                isr_nodes=(node_id,),
            )
            for index, node_id in enumerate(told)
        )
        topic = schema.MetadataResponseTopic(error_code=ErrorCode.none, name=_TOPIC, partitions=partitions)
        answer = {
            "throttle_time": _NOW,
            "brokers": tuple(
                schema.MetadataResponseBroker(node_id=node_id, host=end.host, port=i32(end.port))
                for node_id, end in told.items()
            ),
            "cluster_id": self.cluster_id,
            "controller_id": next(iter(told)),
            "topics": (topic,) if topics is None else (),
        }
        known = {each.name for each in fields(schema.MetadataResponse)}
        return schema.MetadataResponse(**{name: value for name, value in answer.items() if name in known})

    def _settings(self, schema: Any, request: Any, node_id: int) -> Any:
        named = request.resources[0].resource_name
        settings = {"advertised.listeners": f"CLIENT://{self.advertised[node_id]}"}
        error, words, told = ErrorCode.none, None, settings
        if not self.describes_configs:
            error, words, told = ErrorCode.cluster_authorization_failed, None, {}
        elif named != str(node_id):
            words = f"Unexpected broker id, expected {node_id} or empty string, but received {named}"
            error, told = ErrorCode.invalid_request, {}
        configs = tuple(
            schema.DescribeConfigsResourceResult(
                name=name, value=value, read_only=True, config_source=i8(4), is_sensitive=False, synonyms=()
            )
            for name, value in told.items()
        )
        result = schema.DescribeConfigsResult(
            error_code=error, error_message=words, resource_type=i8(4), resource_name=named, configs=configs
        )
        return schema.DescribeConfigsResponse(throttle_time=_NOW, results=(result,))


def _nothing_committed(body: bytes) -> bytes:
    """OffsetFetch v1 of one topic: each of its partitions has the offset -1."""
    group = struct.unpack_from(">h", body)[0]
    name = struct.unpack_from(">h", body, 6 + group)[0]
    at = 8 + group + name
    (count,) = struct.unpack_from(">i", body, at)
    numbers = struct.unpack_from(f">{count}i", body, at + 4)
    each = b"".join(struct.pack(">iqhh", number, -1, 0, 0) for number in numbers)
    return struct.pack(">i", 1) + body[6 + group : at] + struct.pack(">i", count) + each


def _offsets(schema: Any, request: Any, node_id: int) -> Any:
    """Partition n is led by the node after n."""

    def partition(index: int) -> Any:
        led = index == node_id - 1
        return schema.ListOffsetsPartitionResponse(
            partition_index=i32(index),
            error_code=ErrorCode.none if led else ErrorCode.not_leader_or_follower,
            timestamp=i64(-1),
            offset=i64(0 if led else -1),
        )

    return schema.ListOffsetsResponse(
        topics=tuple(
            schema.ListOffsetsTopicResponse(
                name=topic.name, partitions=tuple(partition(int(each.partition_index)) for each in topic.partitions)
            )
            for topic in request.topics
        )
    )


@dataclass(frozen=True)
class Served:
    """A cluster that listens: where each node can be dialled. Each node has a port of its own on 127.0.0.1."""

    cluster: Simulated
    reachable: Mapping[int, Endpoint]


def serving(count: int, dead: str | None = None, **options: Any) -> AbstractContextManager[Served]:
    """Brokers that listen, in a thread of their own, until the block ends.

    Args:
        count: how many; node ids begin with 1.
        dead: the hosts that are advertised: the first three numbers of their addresses, `127.0.77` for one, or a name
            with `{id}`; what is dialled is advertised where there is none.
        options: of the cluster.
    """
    return serving_as(partial(Simulated, **options), count, dead)


@contextmanager
def serving_as(
    kind: Callable[[Mapping[int, Endpoint]], Simulated], count: int, dead: str | None = None
) -> Iterator[Served]:
    """The same with a cluster of another kind, made from its advertised endpoints."""
    ready: Future[tuple[Served, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(count, dead, kind, ready)))
    thread.start()
    served, loop, over = ready.result(_START_TIMEOUT)
    with ExitStack() as stack:
        stack.callback(thread.join)
        stack.callback(loop.call_soon_threadsafe, over.set)
        yield served


async def _serve(
    count: int,
    dead: str | None,
    kind: Callable[[Mapping[int, Endpoint]], Simulated],
    ready: Future[tuple[Served, asyncio.AbstractEventLoop, asyncio.Event]],
) -> None:
    clusters: list[Simulated] = []

    async def talk(node_id: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                (length,) = struct.unpack(">i", await reader.readexactly(4))
                said = clusters[0].answer(node_id, await reader.readexactly(length))
                if said is None:
                    break
                writer.write(said)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    servers = {node_id: await asyncio.start_server(partial(talk, node_id), _HERE, 0) for node_id in range(1, count + 1)}
    reachable = {node_id: Endpoint(_HERE, each.sockets[0].getsockname()[1]) for node_id, each in servers.items()}
    advertised = {
        node_id: Endpoint(_host(dead, node_id), end.port) if dead else end for node_id, end in reachable.items()
    }
    clusters.append(kind(advertised))
    over = asyncio.Event()
    ready.set_result((Served(clusters[0], reachable), asyncio.get_running_loop(), over))
    await over.wait()
    # First accept nobody more: a server that is closed while a connection of it is being made leaves that one open.
    for listener in (listener for each in servers.values() for listener in each.sockets):
        asyncio.get_running_loop().remove_reader(listener.fileno())
    await asyncio.sleep(0)
    for each in servers.values():
        each.close()
    # A connection whose other end is closed ends by itself; one that is being accepted begins a task of its own.
    while talking := asyncio.all_tasks() - {asyncio.current_task()}:
        _, open_ones = await asyncio.wait(talking, timeout=1)
        for task in open_ones:
            task.cancel()
    # Transports close a step of the loop later.
    await asyncio.sleep(0)


def _host(dead: str, node_id: int) -> str:
    return dead.format(id=node_id) if "{id}" in dead else f"{dead}.{node_id}"


def main(arguments: list[str]) -> None:
    """Serve as many brokers as the command line says, behind addresses that are dead."""
    with serving(int(arguments[0]), dead=_DEAD) as served:
        for node_id, end in served.reachable.items():
            sys.stdout.write(f"{served.cluster.advertised[node_id]}={end}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
