"""A block: consecutive records of one source, the unit that the spool stores, the sender sends and the brokers settle.

A record is JSON in one line, so a block on disk is lines, which `sqlite3` shows to a person. The sequence number is
part of the record's text, which makes every record of a source different from every other.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self


class Destination(NamedTuple):
    """Where the records of a spool go: both names as in `brokernat.yaml`."""

    cluster: str
    topic: str

    def __str__(self) -> str:
        return f"topic `{self.topic}` of cluster `{self.cluster}`"


SEQUENCE_HEADER = "brokernat-seq"
BLOCK_RECORDS: Final = 2_000
BLOCK_BYTES: Final = 512 << 10
"""Of records as they come, without their stamps. A block has no more than both, unless it is one record alone: with the
stamps that is less than the smallest spool holds, so that no block can wait for room that will never be."""


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
            source: whose records.
            first: the sequence number of the first.
            bodies: for each record its JSON object without the opening brace.
        """
        start = b'{"source":%b,"sequence":' % json.dumps(source).encode()
        records = tuple([b"%b%d,%b" % (start, number, body) for number, body in enumerate(bodies, first)])
        return cls(block_id, source, first, records, sum(map(len, records)) + len(records))

    @classmethod
    def stored(cls, block_id: int, source: str, first: int, payload: bytes) -> Self:
        """What `payload` was made of."""
        return cls(block_id, source, first, tuple(payload.split(b"\n")), len(payload) + 1)

    def numbered(self) -> Iterator[tuple[int, bytes]]:
        """Each record with its sequence number."""
        return enumerate(self.records, self.first)

    @property
    def payload(self) -> bytes:
        """One record a line, no line end after the last."""
        return b"\n".join(self.records)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record that the brokers will never take: kept in the spool, counted, and not acknowledged."""

    source: str
    sequence: int
    reason: str
    record: bytes


class SettledBlock(NamedTuple):
    """Every record of the block is acknowledged, but for those rejected."""

    block: Block
    rejections: tuple[Rejection, ...]

    @property
    def acknowledged(self) -> int:
        """Records."""
        return len(self.block.records) - len(self.rejections)

    @property
    def freed(self) -> int:
        """Bytes of the spool: rejected records stay in it."""
        return self.block.size - sum(len(one.record) + 1 for one in self.rejections)


MAX_BYTES: Final = 8 << 20


class BlockCache:
    """Some of the newest blocks of a spool, in order, for a sender that keeps up: it reads no disk.

    The writer offers, the sender takes, without a lock: each end of the deque belongs to one thread, and so does each
    counter. What does not fit is left out, and the sender finds it in the file.
    """

    def __init__(self) -> None:
        self._blocks: deque[Block] = deque()
        self._offered = self._taken = 0

    @property
    def held(self) -> int:
        """Bytes."""
        return self._offered - self._taken

    def offer(self, block: Block) -> None:
        """By the writer: the next block of the spool."""
        if self.held + block.size <= MAX_BYTES:
            self._offered += block.size
            self._blocks.append(block)

    def take(self, block_id: int) -> Block | None:
        """By the sender: this block when it is here; earlier ones go."""
        while self._blocks and self._blocks[0].block_id < block_id:
            self._taken += self._blocks.popleft().size
        if not self._blocks or self._blocks[0].block_id != block_id:
            return None
        block = self._blocks.popleft()
        self._taken += block.size
        return block
