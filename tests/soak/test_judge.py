"""The judge of the kill tests sees each kind of harm: a judge that passes everything would make them worthless."""

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.netns.spark.checkpoint import Checkpoint
from tests.netns.spark.orders import Delivery
from tests.soak.kills import Round

from brokernat.testbed import Record

SENT: Any = SimpleNamespace(tags=4, dead_letters=1, source=SimpleNamespace(cluster_id="id"))
EXPECTED = frozenset(f"id/orders/0/{offset}" for offset in range(5))


def record(offset: int, value: bytes = b"tag") -> Record:
    return Record(value, headers=(("brokernat-src", f"id/orders/0/{offset}".encode()),))


TAGS = (record(0), record(1), record(2), record(3))
DEAD = (record(4),)


@pytest.fixture
def played(tmp_path: Path) -> Round:
    """Two batches, offsets 0-1 and 2-4; the second was open when something died."""
    for kind, batch, end in (("offsets", 0, 2), ("offsets", 1, 5), ("commits", 0, 0)):
        (tmp_path / kind).mkdir(exist_ok=True)
        (tmp_path / kind / str(batch)).write_text("v1\n{}\n" + json.dumps({"orders": {"0": end}}))
    file = SimpleNamespace(checkpoint=lambda _: Checkpoint(tmp_path))
    found = Round(cast("Any", None), random.Random(0), SENT, cast("Any", file))
    found.open_batches |= found.checkpoint.open_batches()
    return found


def judge(played: Round, tags: tuple[Record, ...], dead: tuple[Record, ...]) -> None:
    delivery = Delivery(SENT, EXPECTED, tags, dead)
    delivery.assert_complete()
    played.assert_duplicates_are_of_open_batches(delivery)


@pytest.mark.parametrize("more", [(), (record(3),), (record(2), record(2))])
def test_complete_and_twice_only_what_was_open(played: Round, more: tuple[Record, ...]) -> None:
    judge(played, TAGS + more, DEAD)


@pytest.mark.parametrize(
    ("tags", "dead"),
    [
        pytest.param(TAGS[:3], DEAD, id="missing"),
        pytest.param((*TAGS, record(1)), DEAD, id="twice, of a batch that was committed"),
        pytest.param((*TAGS, record(3, b"other")), DEAD, id="twice, and different"),
        pytest.param(TAGS, (*DEAD, record(3)), id="tag and dead letter"),
        pytest.param((*TAGS, record(9)), DEAD, id="of no source record"),
        pytest.param((*TAGS, Record(b"tag")), DEAD, id="without coordinates"),
    ],
)
def test_harm_is_seen(played: Round, tags: tuple[Record, ...], dead: tuple[Record, ...]) -> None:
    with pytest.raises(AssertionError):
        judge(played, tags, dead)
