"""A line that loses every tenth packet, through real nginx, while everything else fails too. The seed repeats it."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.conftest import Soak
from tests.netns.spark.spark_place import SparkPlace
from tests.soak.chaos import Chaos, Site
from tests.support.faults import Faults

from brokernat.testbed import NetnsWorld

pytestmark = [pytest.mark.netns, pytest.mark.soak]

PERCENT = 10


@pytest.mark.timeout(0)
@pytest.mark.parametrize("mode", ["micro-batch", "realtime"])
def test_nothing_is_missing_whatever_fails_behind_a_line_that_loses_packets(
    world: NetnsWorld, spark: SparkPlace, mode: str, soak: Soak, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Home again through the same line: what is produced suffers as well as what is asked for.
    site = Site(world.hq, world.hq, world.gateway, spark, lossy=True)
    chaos = Chaos(site, tmp_path, soak.random("lossy line", mode), mode=mode)

    with ExitStack() as line:
        for endpoint in world.hq.reachable.values():
            line.enter_context(Faults(world.client).lossy(endpoint, PERCENT))
        chaos.play(soak.time_left)
        lost = Faults(world.client).packets()

    summary = chaos.assert_complete()
    assert lost > 0
    with capsys.disabled():
        print(f"\n{mode}: {lost} packets lost, {summary}", end="")  # noqa: T201
