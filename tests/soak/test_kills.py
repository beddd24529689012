"""Rounds of kills for as long as there is time, on the loopback world: no root. The seed repeats a run."""

from collections.abc import Iterator

import pytest
from tests.conftest import Soak
from tests.netns.spark.spark_place import spark_place
from tests.soak.kills import ON_STANDALONE, Round, Stage, Victim, new_round

from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol

pytestmark = pytest.mark.soak

FIRST = (Victim.DRIVER, Victim.DRIVER)
"""Played even where the time is short: with less nothing is shown."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("kills")
    with (
        LoopbackWorld(hq=ClusterOptions(protocol=Protocol.SASL_PLAINTEXT)) as world,
        spark_place(world.client, folder / "spark") as spark,
    ):
        yield Stage(world.hq, world.local, world.gateway, spark, folder / "jobs")


@pytest.mark.timeout(0)
def test_nothing_is_missing_whatever_dies(stage: Stage, soak: Soak, capsys: pytest.CaptureFixture[str]) -> None:
    """The driver first, then anything at random, each round with one to three strokes."""
    rounds: list[Round] = []
    for number in soak.rounds():
        dice = soak.random("kills", number)
        victims = [dice.choice(ON_STANDALONE) for _ in range(dice.randint(1, 3))] if number else FIRST
        played = new_round(stage, dice, sink=dice.choice([stage.hq, stage.local]))
        delivery = played.play(victims)
        delivery.assert_complete()
        played.assert_duplicates_are_of_open_batches(delivery)
        rounds.append(played)
        with capsys.disabled():
            print(f"\nround {len(rounds)}: {', '.join(victims)}; {played.summary(delivery)}", end="")  # noqa: T201
    assert sum(played.landed_between for played in rounds)
