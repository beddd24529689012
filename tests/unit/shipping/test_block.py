from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from brokernat.shipping.block import Block


@given(st.lists(st.text(), min_size=1), st.integers(1, 1 << 60), st.text(min_size=1))
def test_what_is_stored_comes_back(messages: list[str], first: int, source: str) -> None:
    tails = [(json.dumps({"message": message})[1:]).encode() for message in messages]
    block = Block.stamped(3, source, first, tails)
    assert Block.stored(3, source, first, block.payload) == block
    for sequence, record in block.numbered():
        found = json.loads(record)
        assert found == {"source": source, "sequence": sequence, "message": messages[sequence - first]}
