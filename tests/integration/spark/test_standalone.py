"""A standalone cluster with two workers: every executor is a JVM of its own, and every one has to show the map."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.integration.spark.drivers import VALUES, Driver, described
from tests.integration.spark.standalone import StandaloneCluster, standalone_cluster, wait_for

from brokernat.jvm import agent_jar
from brokernat.testbed import LoopbackWorld

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    """A master and two workers with one core each."""
    with standalone_cluster(tmp_path_factory.mktemp("standalone")) as running:
        yield running


def by_executor(proof: dict[str, Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in proof["rows"]:
        found.setdefault(row["executor"], set()).add(row["outcome"])
    return found


@pytest.mark.parametrize("loader", ["reporter", "javaagent"])
def test_each_executor_shows_the_map_and_the_job_runs(
    loader: str,
    cluster: StandaloneCluster,
    driver: Driver,
    loopback_world: LoopbackWorld,
    orders: str,
    written: Callable[[str], list[str]],
) -> None:
    found = driver.run(
        "whole_job",
        [described(loopback_world.hq.cluster)],
        master=cluster.url,
        # Where nothing is said about the hosts the reporter is chosen.
        agent_path=str(agent_jar()) if loader == "javaagent" else None,
        settings={"spark.executor.instances": "2"},
        topic=orders,
    )
    assert found["loader"] == loader
    assert by_executor(found["proof"]) == {"driver": {"proved"}, "0": {"proved"}, "1": {"proved"}}
    assert found["again"]
    assert found["batch"] == VALUES
    assert written(f"{orders}-batch") == VALUES
    assert written(f"{orders}-stream") == VALUES


def test_an_executor_that_cannot_attach_is_named(
    cluster: StandaloneCluster, driver: Driver, loopback_world: LoopbackWorld
) -> None:
    hq = described(loopback_world.hq.cluster)
    found = driver.run(
        "proof_only",
        [hq],
        master=cluster.url,
        settings={
            "spark.executor.instances": "2",
            "spark.executor.extraJavaOptions": "-XX:+DisableAttachMechanism",
        },
        variants={"all": [hq]},
    )["all"]
    assert by_executor(found) == {"driver": {"proved"}, "0": {"no agent"}, "1": {"no agent"}}
    assert "cannot be loaded into this running JVM" in found["error"]


def test_a_busy_executor_is_not_proved_until_it_has_answered(
    cluster: StandaloneCluster, driver: Driver, loopback_world: LoopbackWorld
) -> None:
    found = driver.run(
        "busy_executor",
        [described(loopback_world.hq.cluster)],
        master=cluster.url,
        settings={"spark.executor.instances": "2"},
    )
    assert len(found["while_busy"]["missing"]) == 1
    (busy,) = found["while_busy"]["missing"]
    assert f"no answer from executor {busy}" in found["while_busy"]["error"]
    assert by_executor(found["while_busy"]).keys() == {"driver", "0", "1"} - {busy}
    assert found["after"]["ok"], found["after"]
    assert found["one_more"]["error"] == "not proved: 1 of 3 executors did not register in time"


def test_an_executor_that_joins_later_is_proved_too(
    tmp_path_factory: pytest.TempPathFactory, driver: Driver, loopback_world: LoopbackWorld
) -> None:
    with standalone_cluster(tmp_path_factory.mktemp("growing"), workers=1) as growing:
        process = driver.start("late_executor", [described(loopback_world.hq.cluster)], master=growing.url)
        wait_for((driver.directory / "watching").exists, "the watch", driver.directory / "output")
        growing.add_worker("worker-2")
        found = driver.finish(process)
    assert found["before"] == ["0", "driver"]
    assert found["failed"] == []
    assert found["heard"] == ["executors that joined have shown the map: 1"]
