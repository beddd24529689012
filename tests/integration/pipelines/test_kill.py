"""`kill -9` at random moments: nothing is missing, and what came twice is of the batch that was cut, and says so."""

from __future__ import annotations

import json
import operator
import os
import random
import shutil
import signal
import subprocess
from collections import Counter
from contextlib import suppress
from enum import Enum

import pytest
from tests.conftest import Soak
from tests.integration.pipelines.conftest import TIMEOUT, Running, Workplace, order, sources

from brokernat.testbed.place import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ORDERS, BATCH = 3000, 60


class Kill(Enum):
    """Who dies by itself; the rest must notice."""

    GROUP = "Python and its JVM at once"
    PYTHON = "Python alone: its JVM must notice, and end"


class Killer:
    """Starts the pipeline and kills it; remembers what the cut batches were."""

    def __init__(self, place: Workplace, draw: random.Random) -> None:
        self.place = place
        self.draw = draw
        self.cut: set[str] = set()
        self.between = 0
        self.kills = 0
        place.pipeline["source"]["max_offsets_per_trigger"] = BATCH

    def round(self, kind: Kill, *, between: bool = False) -> bool:
        """One start and one kill, in the middle of a batch if `between`; False when there was nothing left to do."""
        before = self.place.offsets()
        with self.place.running() as run:
            run.until(lambda: self.place.offsets()[0] > before[0] or self.place.offsets()[1] > before[1], "a batch")
            if between:
                run.until(lambda: operator.gt(*self.place.offsets()), "a batch that is begun and not committed")
            else:
                self._wait_for_a_random_moment(run)
            if kind is Kill.GROUP:
                run.signal_group(signal.SIGKILL)
            else:
                os.kill(run.process.pid, signal.SIGKILL)
            self.kills += 1
            run.process.wait()
            wait_until(lambda: not group_is_there(run.process.pid), "the JVM's end", timeout=TIMEOUT)
        begun, committed = self.place.offsets()
        if begun > committed:
            self.between += 1
            self.cut |= self._coordinates(begun)
        return sum(self._ends(committed).values()) < ORDERS

    def _wait_for_a_random_moment(self, run: Running) -> None:
        begun = self.place.offsets()[0] + self.draw.randint(0, 2)
        run.until(lambda: self.place.offsets()[0] >= begun, "the batch to cut")
        with suppress(subprocess.TimeoutExpired):
            run.process.wait(self.draw.uniform(0, 1))

    def _ends(self, batch: int) -> dict[str, int]:
        if batch < 0:
            return {}
        lines = (self.place.checkpoint / "offsets" / str(batch)).read_text().splitlines()
        found: dict[str, int] = json.loads(lines[2])[self.place.topic]
        return found

    def _coordinates(self, batch: int) -> set[str]:
        start, cluster = self._ends(batch - 1), self.place.world.hq.cluster_id
        return {
            f"{cluster}/{self.place.topic}/{partition}/{offset}"
            for partition, end in self._ends(batch).items()
            for offset in range(start.get(partition, 0), end)
        }


def group_is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def check_delivery(place: Workplace, killer: Killer) -> int:
    """Every record is there; copies come from batches that were cut. Returns how many copies there are."""
    # What is left needs no kills, so no small batches.
    place.pipeline["source"]["max_offsets_per_trigger"] = ORDERS
    place.drain()
    found = Counter(sources([*place.read_tags(), *place.read_dead()]))
    assert len(found) == ORDERS
    twice = {source for source, times in found.items() if times > 1}
    assert twice <= killer.cut
    return len(twice)


def start(place: Workplace, draw: random.Random) -> Killer:
    place.write([order(n) if n % 50 else b"{" for n in range(ORDERS)])
    return Killer(place, draw)


def test_killed_until_a_kill_has_hurt(workplace: Workplace) -> None:
    killer = start(workplace, random.Random(4))
    killer.round(Kill.PYTHON)
    killer.round(Kill.GROUP, between=True)
    # A batch may be committed while the kill is on its way: go on until one has hurt.
    while not killer.between:
        assert killer.round(Kill.GROUP, between=True), "drained, and no kill landed between offset log and commit log"
    # What a kill has hurt is healed without the checkpoint, too: a run begins at the first gap of each partition.
    shutil.rmtree(workplace.checkpoint)
    workplace.run("reconcile", "--propose-offsets", "--write")
    check_delivery(workplace, killer)
    partitions = json.loads(workplace.run("reconcile", "--format", "json").stdout)["partitions"]
    assert sum(partition["missing"] for partition in partitions) == 0


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_killed_again_and_again(workplace: Workplace, soak: Soak, capsys: pytest.CaptureFixture[str]) -> None:
    killer = start(workplace, dice := soak.random("kill"))
    for _ in soak.rounds():
        if not killer.round(dice.choice(list(Kill))):
            break
    copies = check_delivery(workplace, killer)
    with capsys.disabled():
        print(f"\n{killer.between} of {killer.kills} kills between the logs, {copies} records twice", end="")  # noqa: T201
