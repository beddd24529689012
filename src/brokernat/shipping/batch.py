"""What a source of lines hands to the spool: records, and the places in files behind them, for one transaction."""

from __future__ import annotations

from dataclasses import dataclass, field

from brokernat.shipping.position import Position


@dataclass(frozen=True, slots=True)
class Batch:
    """What one block will hold, and the places in files behind it; falsy when there is nothing to store."""

    tails: list[bytes] = field(default_factory=list)
    positions: list[Position] = field(default_factory=list)
    gone: list[Position] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.tails or self.positions or self.gone)
