"""What has become of records, written down or not yet.

The sender says what became of a block (`settled`); the writer takes these outcomes along in its next transaction and
says so (`written`). Every counter only grows, and what is pending is a difference, so none can wrap below zero.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from brokernat.shipping.block import Block


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record that the brokers will never take: kept in the spool, counted, and not acknowledged."""

    source: str
    sequence: int
    reason: str
    record: bytes


class Outcome(NamedTuple):
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


@dataclass(frozen=True, slots=True)
class Account:
    """Records since the spool was made."""

    accepted: int
    acknowledged: int
    rejected: int

    @property
    def pending(self) -> int:
        """Those without an answer."""
        return self.accepted - self.acknowledged - self.rejected


class Ledger:
    """Of one spool. `settled` is the sender's, `outcomes` and `written` are the writer's, `account` is anybody's."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        """Goes on from what is in the file: the counters by name, none of them in a new spool."""
        self.counts = {"accepted": 0, "acknowledged": 0, "rejected": 0, "refused": 0, **counts}
        """As they are written down."""
        self._outcomes: deque[Outcome] = deque()
        self._writing = threading.Lock()

    def settled(self, block: Block, rejections: Sequence[Rejection]) -> None:
        """Every record of the block has its answer."""
        self._outcomes.append(Outcome(block, tuple(rejections)))

    def outcomes(self) -> list[Outcome]:
        """Those that are not written down yet, in order."""
        return list(self._outcomes)

    def written(self, outcomes: Sequence[Outcome], counts: dict[str, int]) -> None:
        """The first outcomes are in the file, and so are the counters."""
        with self._writing:
            for _ in outcomes:
                self._outcomes.popleft()
            self.counts = counts

    def account(self) -> Account:
        """Of all records, as far as it is known, written down or not."""
        with self._writing:
            outcomes, counts = list(self._outcomes), self.counts
        return Account(
            counts["accepted"],
            counts["acknowledged"] + sum(outcome.acknowledged for outcome in outcomes),
            counts["rejected"] + sum(len(outcome.rejections) for outcome in outcomes),
        )
