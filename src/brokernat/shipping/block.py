"""A block: consecutive records of one source. The spool stores and the sender sends whole blocks.

A record is one line of JSON, so `sqlite3` shows a block as text. The record contains its sequence number, so all
records of a source differ.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self


class Destination(NamedTuple):
    """The cluster and topic of a spool's records, with the names in `brokernat.yaml`."""

    cluster: str
    topic: str

    def __str__(self) -> str:
        return f"topic `{self.topic}` of cluster `{self.cluster}`"


SEQUENCE_HEADER = "brokernat-seq"
BLOCK_RECORDS: Final = 2_000
BLOCK_BYTES: Final = 512 << 10
"""Bytes of records without their sequence numbers. Both limits apply, except to a block of a single record. With its
sequence numbers, a block is smaller than the smallest spool, so every block fits into an empty spool."""


@dataclass(frozen=True, slots=True)
class Block:
    """`records[i]` has the sequence number `first + i`. Ids count blocks of one spool without a gap."""

    block_id: int
    source: str
    first: int
    records: tuple[bytes, ...]
    size: int
    """Bytes of the payload."""

    @classmethod
    def stamped(cls, block_id: int, source: str, first: int, bodies: Sequence[bytes]) -> Self:
        """A new block.

        Args:
            block_id: its number in the spool.
            source: the source of the records.
            first: the sequence number of the first record.
            bodies: for each record its JSON object without the opening brace.
        """
        start = b'{"source":%b,"sequence":' % json.dumps(source).encode()
        records = tuple([b"%b%d,%b" % (start, number, body) for number, body in enumerate(bodies, first)])
        return cls(block_id, source, first, records, sum(map(len, records)) + len(records))

    @classmethod
    def stored(cls, block_id: int, source: str, first: int, payload: bytes) -> Self:
        """The block from its stored `payload`."""
        return cls(block_id, source, first, tuple(payload.split(b"\n")), len(payload) + 1)

    def numbered(self) -> Iterator[tuple[int, bytes]]:
        """Each record with its sequence number."""
        return enumerate(self.records, self.first)

    @property
    def payload(self) -> bytes:
        """One record per line, no line end after the last."""
        return b"\n".join(self.records)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record that the brokers rejected permanently: kept in the spool and counted."""

    source: str
    sequence: int
    reason: str
    record: bytes


class SettledBlock(NamedTuple):
    """A block whose records are all acknowledged or rejected."""

    block: Block
    rejections: tuple[Rejection, ...]

    @property
    def acknowledged(self) -> int:
        """The number of acknowledged records."""
        return len(self.block.records) - len(self.rejections)

    @property
    def freed(self) -> int:
        """Bytes freed in the spool; rejected records stay in it."""
        return self.block.size - sum(len(one.record) + 1 for one in self.rejections)


MAX_BYTES: Final = 8 << 20


class BlockCache:
    """The newest blocks of a spool in memory: a sender without backlog does not read the disk.

    The writer appends and the sender takes without a lock: only one thread uses each end of the deque and each counter.
    Blocks that do not fit are only in the file.
    """

    def __init__(self) -> None:
        self._blocks: deque[Block] = deque()
        self._offered = self._taken = 0

    @property
    def held(self) -> int:
        """Bytes of the cached blocks."""
        return self._offered - self._taken

    def offer(self, block: Block) -> None:
        """Called by the writer with the next block of the spool."""
        if self.held + block.size <= MAX_BYTES:
            self._offered += block.size
            self._blocks.append(block)

    def take(self, block_id: int) -> Block | None:
        """Called by the sender: this block if it is cached; earlier ones are removed."""
        while self._blocks and self._blocks[0].block_id < block_id:
            self._taken += self._blocks.popleft().size
        if not self._blocks or self._blocks[0].block_id != block_id:
            return None
        block = self._blocks.popleft()
        self._taken += block.size
        return block
