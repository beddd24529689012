"""A block: consecutive records of one source, the unit of what is stored, handed on and settled.

A record is JSON in one line, so lines are the format of a block on disk and `sqlite3` shows it to a person. The
sequence number is part of the record's text, which makes every record of a source different from every other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Self

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
    def stamped(cls, block_id: int, source: str, first: int, tails: Sequence[bytes]) -> Self:
        """A new block.

        Args:
            block_id: its number in the spool.
            source: whose records.
            first: the sequence number of the first.
            tails: for each record its JSON object without the opening brace.
        """
        start = b'{"source":%b,"sequence":' % json.dumps(source).encode()
        records = tuple([b"%b%d,%b" % (start, number, tail) for number, tail in enumerate(tails, first)])
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
