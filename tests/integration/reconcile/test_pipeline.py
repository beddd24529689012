"""`brokernat pipeline reconcile PIPELINE`: a pipeline that ran, and one whose sink has lost records."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.integration.pipelines.conftest import Workplace, order, sources
from tests.support.cluster_admin import delete_topics
from tests.support.warm_cli import WarmCli

from brokernat.testbed import LoopbackWorld

pytestmark = [pytest.mark.integration, pytest.mark.spark]

TRANSFORM = """
def tag(records):
    return records.where("order_id <> 'o7'")
"""


@pytest.fixture
def workplace(
    loopback_world: LoopbackWorld,
    tmp_path: Path,
    topic_name: str,
    warm_cli: WarmCli,
    monkeypatch: pytest.MonkeyPatch,
) -> Workplace:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    place = Workplace(loopback_world, tmp_path, topic_name, warm_cli)
    place.create_topics()
    return place


def totals(report: str) -> dict[str, int]:
    partitions: list[dict[str, Any]] = json.loads(report)["partitions"]
    names = ("records", "delivered", "duplicates", "filtered", "missing")
    return {name: sum(partition[name] for partition in partitions) for name in names}


def test_tags_dead_letters_and_filtered_are_all_and_what_the_sink_loses_is_named(workplace: Workplace) -> None:
    (workplace.folder / "my_reconciled.py").write_text(TRANSFORM)
    workplace.pipeline |= {"transform": "my_reconciled:tag"}
    workplace.write([*(order(number) for number in range(12)), b"{", order(3, customer_id="c99")])
    workplace.write_in_transactions([order(number) for number in range(12, 20)])
    workplace.write_in_transactions([order(99)], commit=False)
    workplace.drain()
    ends = workplace.world.hq.end_offsets(workplace.topic)
    # With the one that was taken back, which is no record to a pipeline.
    assert sum(ends.values()) > len(workplace.world.hq.read(workplace.topic)) == 22 + 1

    whole = workplace.run("reconcile", "--format", "json")
    assert totals(whole.stdout) == {"records": 22, "delivered": 21, "duplicates": 0, "filtered": 1, "missing": 0}

    # Not committed, so not due.
    workplace.write([order(30)])
    delete_topics(workplace.world.local, workplace.dead)
    workplace.world.local.create_topic(workplace.dead)
    again = workplace.read_tags()[:2]
    workplace.world.local.write(workplace.tags, again)
    torn = workplace.run("reconcile", "--format", "json", code=6)
    assert totals(torn.stdout) == {"records": 22, "delivered": 19, "duplicates": 2, "filtered": 1, "missing": 2}
    missing = {
        (partition["partition"], number)
        for partition in json.loads(torn.stdout)["partitions"]
        for first, last in partition["missing_ranges"]
        for number in range(first, last + 1)
    }
    faulty = {
        (record.partition, record.offset)
        for record in workplace.world.hq.read(workplace.topic)
        if record.value in (b"{", order(3, customer_id="c99"))
    }
    assert missing == faulty
    assert "error: 2 records are missing" in torn.stderr

    # Without its checkpoint: the first gap of each partition is where to go on.
    shutil.rmtree(workplace.checkpoint)
    proposed = json.loads(workplace.run("reconcile", "--propose-offsets", "--write", "--format", "json").stdout)
    assert {(p["partition"], first) for p in proposed["partitions"] for first, _ in p["missing_ranges"]} == faulty
    held = {tuple(map(int, source.split("/")[2:])) for source in sources(workplace.read_tags())}
    for partition in proposed["partitions"]:
        number, start = partition["partition"], partition["next"]
        gaps = [offset for at, offset in faulty if at == number]
        assert start == min(gaps, default=1 + max(offset for at, offset in held if at == number))
        assert partition["repeated"] == len([offset for at, offset in held if at == number and offset >= start])
        assert proposed["starting_offsets"][workplace.topic][str(number)] == start
    batches = workplace.drain()
    assert sum(batch["dead_letters"] for batch in batches) == 2
    # With the record that no run had read yet.
    everything = set(sources([*workplace.read_tags(), *workplace.read_dead()]))
    assert len(everything) == 21 + 1
    assert totals(workplace.run("reconcile", "--format", "json").stdout)["missing"] == 0
    refused = workplace.run("reconcile", "--propose-offsets", "--write", code=2)
    assert "has a checkpoint, and a run continues from it" in refused.stderr
