"""New blocks, kept in memory for a sender that keeps up: it reads no disk.

The writer offers, the sender takes, without a lock: each end of the deque belongs to one thread, and so does each
counter. What does not fit is left out, and the sender finds it in the file.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from brokernat.shipping.block import Block

MAX_BYTES: Final = 8 << 20


class FreshBlocks:
    """Some of the newest blocks of a spool, in order."""

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
