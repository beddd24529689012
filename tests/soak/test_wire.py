"""Conversations that nobody has: bent ones of a corpus that grows by each new course."""

from __future__ import annotations

import pytest
from tests.conftest import Soak
from tests.property.wire_conversations import bent, course, first_conversations, parsed, written

from brokernat.paths import cache_dir

pytestmark = pytest.mark.soak

EXAMPLES = 20_000
"""Of a round, some seconds."""
KEPT = 2_000
"""Conversations of the corpus, the shortest."""


@pytest.mark.timeout(0)
def test_a_session_keeps_its_word_whatever_is_sent(soak: Soak) -> None:
    """The corpus is kept in the cache of this machine, for the next soak."""
    dice = soak.random("wire")
    file = cache_dir() / "fuzz" / "wire_conversations.txt"
    kept = [parsed(line) for line in file.read_text().splitlines()] if file.exists() else []
    corpus = {course(steps, ()): steps for steps in (*first_conversations(), *kept)}
    pool, examples = list(corpus.values()), 0
    for _ in soak.rounds():
        for _ in range(EXAMPLES):
            steps = bent(dice.choice(pool), dice.choice(pool), dice)
            found = course(steps, [dice.randrange(1 << 10) for _ in range(dice.randrange(6))])
            if found not in corpus:
                corpus[found] = steps
                pool.append(steps)
        examples += EXAMPLES
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in sorted(map(written, pool), key=len)[:KEPT]))
    assert examples >= EXAMPLES
