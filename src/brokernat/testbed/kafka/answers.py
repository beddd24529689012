"""What brokers answer, read: one function for each request of the testbed.

An error is `(what, code, detail)` or `(code, value)`, with Kafka's number of it; 0 is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from brokernat.testbed.kafka.primitives import Reader


@dataclass(frozen=True, slots=True)
class Metadata:
    """What one broker knows of its cluster. `leaders` is partition -> node id, -1 without one, for each topic."""

    cluster_id: str
    controller: int
    nodes: frozenset[int]
    leaders: Mapping[str, Mapping[int, int]]


def metadata(answer: Reader) -> Metadata:
    nodes = frozenset(answer.array(_node))
    cluster_id, controller = answer.name(), answer.int32()
    return Metadata(cluster_id, controller, nodes, dict(answer.array(_topic)))


def _node(answer: Reader) -> int:
    node = answer.int32()
    answer.string()
    answer.int32()
    answer.string()
    return node


def _topic(answer: Reader) -> tuple[str, Mapping[int, int]]:
    answer.int16()
    name = answer.name()
    answer.int8()
    return name, dict(answer.array(_partition))


def _partition(answer: Reader) -> tuple[int, int]:
    answer.int16()
    partition, leader = answer.int32(), answer.int32()
    answer.array(Reader.int32)
    answer.array(Reader.int32)
    return partition, leader


def creation_errors(answer: Reader) -> list[tuple[str, int, str | None]]:
    answer.int32()
    return answer.array(lambda one: (one.name(), one.int16(), one.string()))


def deletion_errors(answer: Reader) -> list[tuple[str, int, str | None]]:
    answer.int32()
    return answer.array(lambda one: (one.name(), one.int16(), None))


def acl_errors(answer: Reader) -> list[tuple[str, int, str | None]]:
    answer.int32()
    return answer.array(lambda one: ("", one.int16(), one.string()))


def has_acls(answer: Reader) -> bool:
    """Whether a DescribeAcls found anything."""
    answer.int32()
    if answer.int16():
        raise ValueError(f"rights cannot be asked for: {answer.string()}")
    answer.string()
    return answer.int32() > 0


def _single(answer: Reader, read: Callable[[Reader], tuple[int, int]]) -> tuple[int, int]:
    """The one partition of the one topic that was asked about."""
    answer.int32()
    answer.string()
    answer.int32()
    answer.int32()
    return read(answer)


def produce_error(answer: Reader) -> tuple[int, int]:
    return _single(answer, lambda one: (one.int16(), one.int64()))


def listed_offset(answer: Reader) -> tuple[int, int]:
    def offset(one: Reader) -> tuple[int, int]:
        code = one.int16()
        one.int64()
        return code, one.int64()

    return _single(answer, offset)


def fetched(answer: Reader, pieces: list[bytes]) -> tuple[int, int]:
    answer.int32()

    def piece(one: Reader) -> tuple[int, int]:
        code = one.int16()
        one.int64()
        one.int64()
        one.array(lambda aborted: (aborted.int64(), aborted.int64()))
        pieces.append(one.sized())
        return code, 0

    return _single(answer, piece)
