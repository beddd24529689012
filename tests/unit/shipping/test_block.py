from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from brokernat.shipping.block import MAX_BYTES, Block, BlockCache


@given(st.lists(st.text(), min_size=1), st.integers(1, 1 << 60), st.text(min_size=1))
def test_what_is_stored_comes_back(messages: list[str], first: int, source: str) -> None:
    bodies = [(json.dumps({"message": message})[1:]).encode() for message in messages]
    block = Block.stamped(3, source, first, bodies)
    assert Block.stored(3, source, first, block.payload) == block
    for sequence, record in block.numbered():
        found = json.loads(record)
        assert found == {"source": source, "sequence": sequence, "message": messages[sequence - first]}


def block(block_id: int, size: int = 10) -> Block:
    return Block(block_id, "app.1", block_id, (b"x",), size)


def test_blocks_come_in_order_and_once() -> None:
    fresh = BlockCache()
    for number in (1, 2, 3):
        fresh.offer(block(number))
    assert fresh.take(1) == block(1)
    assert fresh.take(1) is None
    assert fresh.take(3) == block(3)
    assert fresh.held == 0


def test_what_does_not_fit_is_not_here_and_what_follows_may_be() -> None:
    fresh = BlockCache()
    fresh.offer(block(1, MAX_BYTES))
    fresh.offer(block(2))
    assert fresh.held == MAX_BYTES
    assert fresh.take(1) is not None
    fresh.offer(block(3))
    assert fresh.take(2) is None
    assert fresh.take(3) == block(3)
