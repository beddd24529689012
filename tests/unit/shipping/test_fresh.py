from __future__ import annotations

from brokernat.shipping.block import Block
from brokernat.shipping.fresh import MAX_BYTES, FreshBlocks


def block(block_id: int, size: int = 10) -> Block:
    return Block(block_id, "app.1", block_id, (b"x",), size)


def test_blocks_come_in_order_and_once() -> None:
    fresh = FreshBlocks()
    for number in (1, 2, 3):
        fresh.offer(block(number))
    assert fresh.take(1) == block(1)
    assert fresh.take(1) is None
    assert fresh.take(3) == block(3)
    assert fresh.held == 0


def test_what_does_not_fit_is_not_here_and_what_follows_may_be() -> None:
    fresh = FreshBlocks()
    fresh.offer(block(1, MAX_BYTES))
    fresh.offer(block(2))
    assert fresh.held == MAX_BYTES
    assert fresh.take(1) is not None
    fresh.offer(block(3))
    assert fresh.take(2) is None
    assert fresh.take(3) == block(3)
