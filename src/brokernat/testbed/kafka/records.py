"""Record batches (message format v2, KIP-98): records in, bytes out, and back.

Written uncompressed in one batch; read whoever wrote them, gzip included. The broker checks a batch by CRC-32C, which
Python has not, so it is computed here by table: some 10 MB/s, enough for what a test writes.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from brokernat.testbed.kafka.primitives import Reader, int8, int16, int32, int64, varint

_OVERHEAD = 12
_MAGIC = 2
_COMPRESSION, _CONTROL = 0x07, 0x20
_GZIP = 1
_NO_PRODUCER = int64(-1) + int16(-1) + int32(-1)


@dataclass(frozen=True, slots=True)
class Record:
    """One record. To write: partition None is chosen in turn, timestamp None is the time of writing.

    Headers are (name, value) in order; timestamps are milliseconds since 1970.
    """

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int | None = None
    timestamp: int | None = None
    offset: int = -1

    def header(self, name: str) -> bytes | None:
        """The value of the last header of that name, None without one."""
        return dict(self.headers).get(name)


def encode_batch(records: Sequence[Record], now: int) -> bytes:
    """One batch; `now` is the timestamp of records that have none."""
    stamps = [now if record.timestamp is None else record.timestamp for record in records]
    body = b"".join(_encode(record, index, stamps[index] - stamps[0]) for index, record in enumerate(records))
    checked = (
        int16(0)
        + int32(len(records) - 1)
        + int64(stamps[0])
        + int64(max(stamps))
        + _NO_PRODUCER
        + int32(len(records))
        + body
    )
    after_length = int32(-1) + int8(_MAGIC) + struct.pack(">I", crc32c(checked)) + checked
    return int64(0) + int32(len(after_length)) + after_length


def decode_batches(data: bytes, partition: int) -> Iterator[tuple[int, list[Record]]]:
    """For each whole batch of a fetched piece the offset behind it and its records; control batches have none.

    Raises:
        ValueError: a compression that is not read here.
    """
    reader = Reader(data)
    while reader.left() >= _OVERHEAD:
        base, length = reader.int64(), reader.int32()
        if reader.left() < length:
            return
        batch = Reader(reader.raw(length))
        batch.raw(4 + 1 + 4)
        attributes, last_delta, first = batch.int16(), batch.int32(), batch.int64()
        batch.raw(8 + 8 + 2 + 4)
        count = batch.int32()
        body = Reader(_plain(batch.raw(batch.left()), attributes & _COMPRESSION))
        records = [_decode(body, partition, base, first) for _ in range(count)]
        yield base + last_delta + 1, [] if attributes & _CONTROL else records


def crc32c(data: bytes) -> int:
    """Castagnoli's CRC."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def _encode(record: Record, index: int, delta: int) -> bytes:
    headers = b"".join(_bytes(name.encode()) + _bytes(value) for name, value in record.headers)
    body = (
        int8(0)
        + varint(delta)
        + varint(index)
        + _bytes(record.key)
        + _bytes(record.value)
        + varint(len(record.headers))
        + headers
    )
    return varint(len(body)) + body


def _decode(reader: Reader, partition: int, base: int, first: int) -> Record:
    reader.varint()
    reader.int8()
    timestamp, offset = first + reader.varint(), base + reader.varint()
    key, value = _read_bytes(reader), _read_bytes(reader)
    headers = tuple(((_read_bytes(reader) or b"").decode(), _read_bytes(reader)) for _ in range(reader.varint()))
    return Record(value, key, headers, partition, timestamp, offset)


def _bytes(value: bytes | None) -> bytes:
    return varint(-1) if value is None else varint(len(value)) + value


def _read_bytes(reader: Reader) -> bytes | None:
    length = reader.varint()
    return None if length < 0 else reader.raw(length)


def _plain(data: bytes, compression: int) -> bytes:
    if compression == 0:
        return data
    if compression == _GZIP:
        return gzip.decompress(data)
    raise ValueError(f"compression {compression} is not read here (only none and gzip)")


def _table() -> tuple[int, ...]:
    entries = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        entries.append(value)
    return tuple(entries)


_TABLE = _table()


def placed(records: Sequence[Record], partitions: int) -> dict[int, list[Record]]:
    """Records by partition; those without one in turn."""
    by_partition: dict[int, list[Record]] = {}
    for index, record in enumerate(records):
        partition = index % partitions if record.partition is None else record.partition
        by_partition.setdefault(partition, []).append(replace(record, partition=partition))
    return by_partition
