"""Checkpoints of older versions, as they were written: this version goes on from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.integration.pipelines.conftest import Workplace, order
from tests.integration.pipelines.stored_checkpoints import BROKEN, ORDERS, STORED, restore

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.mark.parametrize("stored", sorted(STORED.iterdir()), ids=lambda stored: stored.name)
def test_a_checkpoint_of_an_older_version_is_gone_on_with(workplace: Workplace, stored: Path) -> None:
    restore(stored, workplace)
    _, committed = workplace.offsets()
    ends = json.loads((workplace.checkpoint / "offsets" / str(committed)).read_text().splitlines()[2])
    read = {int(number): end for number, end in ends[workplace.topic].items()}
    assert sum(read.values()) == ORDERS + BROKEN
    for partition, end in read.items():
        workplace.write([order(number) for number in range(end)], partition=partition)
    # Behind them one record in each partition.
    for partition in read:
        workplace.write([order(100 + partition)], partition=partition)
    workplace.pipeline["decode"]["schema"] = "order_id STRING, customer_id STRING"

    ended = workplace.run("run", "--once", "--format", "json")
    batches = [json.loads(line) for line in ended.stdout.splitlines()]
    assert sum(batch["tags"] for batch in batches) == sum(batch["received"] for batch in batches) == len(read)
    assert [batch["batch"] for batch in batches] == [*range(committed + 1, committed + 1 + len(batches))]
    tags = [json.loads(tag.value or b"") for tag in workplace.read_tags()]
    assert {tag["order_id"] for tag in tags} == {f"o{100 + partition}" for partition in read}
    assert {tag["segment"] for tag in tags} == {"retail"}
    changed = "`decode`, or the file or the subject of its schema has changed since the last start: it applies"
    assert changed in ended.stderr
    assert json.loads((workplace.checkpoint / "_brokernat" / "starts").read_text()) == 2
