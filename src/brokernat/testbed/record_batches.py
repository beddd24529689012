"""Encodes and decodes record batches (message format v2, KIP-98).

kio has record batches, too, but its reader truncates timestamps to seconds and does not decompress. Here records are
written uncompressed in one batch; batches of other writers can be read, with gzip or uncompressed.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from crc32c import crc32c

_LENGTH = struct.Struct(">qi")
"""The start of a batch: its first offset and the number of bytes after this field."""
_CHECKED = struct.Struct(">iBI")
"""The leader epoch, the format, and the checksum of the rest."""
_HEAD = struct.Struct(">hiqqqhii")
"""Attributes, delta of the last offset, first and newest timestamp, producer (id, epoch, sequence), record count."""
_MAGIC = 2
_COMPRESSION, _CONTROL = 0x07, 0x20
_GZIP = 1


@dataclass(frozen=True, slots=True)
class Record:
    """One record. To write it, a partition of None is chosen in turn, and a timestamp of None is the current time.

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
    """One batch; `now` is the timestamp of records without one."""
    stamps = [now if record.timestamp is None else record.timestamp for record in records]
    count = len(records)
    checked = bytearray(_HEAD.pack(0, count - 1, stamps[0], max(stamps), -1, -1, -1, count))
    for index, (record, stamp) in enumerate(zip(records, stamps, strict=True)):
        encoded = _encode(record, index, stamp - stamps[0])
        checked += _varint(len(encoded)) + encoded
    return _LENGTH.pack(0, _CHECKED.size + len(checked)) + _CHECKED.pack(-1, _MAGIC, crc32c(bytes(checked))) + checked


def decode_batches(data: bytes, partition: int) -> Iterator[tuple[int, list[Record]]]:
    """For each complete batch of a fetch response, the offset after it and its records; control batches have none.

    Raises:
        ValueError: the compression is not supported.
    """
    position = 0
    while position + _LENGTH.size <= len(data):
        base, length = _LENGTH.unpack_from(data, position)
        start, position = position + _LENGTH.size, position + _LENGTH.size + length
        if position > len(data):
            return
        attributes, last_delta, first, *_, count = _HEAD.unpack_from(data, start + _CHECKED.size)
        body = _Reader(_plain(data[start + _CHECKED.size + _HEAD.size : position], attributes & _COMPRESSION))
        records = [_decode(body, partition, base, first) for _ in range(count)]
        yield base + last_delta + 1, [] if attributes & _CONTROL else records


def placed(records: Sequence[Record], partitions: int) -> dict[int, list[Record]]:
    """Records by partition; records without one go to the partitions in turn."""
    by_partition: dict[int, list[Record]] = {}
    for index, record in enumerate(records):
        partition = index % partitions if record.partition is None else record.partition
        by_partition.setdefault(partition, []).append(replace(record, partition=partition))
    return by_partition


def _encode(record: Record, index: int, delta: int) -> bytes:
    headers = b"".join(_sized(name.encode()) + _sized(value) for name, value in record.headers)
    return (
        b"\0" + _varint(delta) + _varint(index) + _sized(record.key) + _sized(record.value)
        + _varint(len(record.headers)) + headers
    )  # fmt: skip


def _decode(reader: _Reader, partition: int, base: int, first: int) -> Record:
    reader.varint()
    reader.position += 1
    timestamp, offset = first + reader.varint(), base + reader.varint()
    key, value = reader.sized(), reader.sized()
    headers = tuple(((reader.sized() or b"").decode(), reader.sized()) for _ in range(reader.varint()))
    return Record(value, key, headers, partition, timestamp, offset)


def _varint(value: int) -> bytes:
    """A varint in zigzag encoding, for lengths and deltas in a record."""
    remaining = (value << 1) ^ (value >> 63)
    out = bytearray()
    while remaining & ~0x7F:
        out.append((remaining & 0x7F) | 0x80)
        remaining >>= 7
    out.append(remaining)
    return bytes(out)


def _sized(value: bytes | None) -> bytes:
    return _varint(-1) if value is None else _varint(len(value)) + value


@dataclass
class _Reader:
    """Reads the fields of records from a batch."""

    data: bytes
    position: int = 0

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)

    def sized(self) -> bytes | None:
        length = self.varint()
        if length < 0:
            return None
        start, self.position = self.position, self.position + length
        return self.data[start : self.position]


def _plain(data: bytes, compression: int) -> bytes:
    if compression == 0:
        return data
    if compression == _GZIP:
        return gzip.decompress(data)
    raise ValueError(f"compression {compression} is not read here (only none and gzip)")
