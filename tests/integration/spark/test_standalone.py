"""A standalone cluster with two workers: every executor is a JVM of its own, and every one has to show the map."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.integration.spark.drivers import VALUES, Driver, described
from tests.integration.spark.standalone import StandaloneCluster, standalone_cluster, wait_for
from tests.matrix.javas import java_binary

from brokernat.jvm import agent_jar, find_java, spark_java_home
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


@pytest.mark.parametrize("loader", ["reporter", pytest.param("javaagent", marks=pytest.mark.soak)])
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


@pytest.mark.soak
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
    assert "not proved: 1 of 3 executors did not register in time" in found["one_more"]["error"]


def test_executors_that_join_later_are_proved_too(
    tmp_path_factory: pytest.TempPathFactory, driver: Driver, loopback_world: LoopbackWorld
) -> None:
    """One comes on the Java of the `java` extra, by its shim; one in a JVM that lets no agent in."""
    with standalone_cluster(tmp_path_factory.mktemp("growing"), workers=1) as growing:
        process = driver.start("late_executors", [described(loopback_world.hq.cluster)], master=growing.url)
        output = driver.directory / "output"
        wait_for((driver.directory / "watching").exists, "the watch", output)
        home = spark_java_home(find_java(25, {"JAVA_HOME": str(java_binary(25).parents[1])}))
        on_java_25 = replace(growing, environ={**growing.environ, "JAVA_HOME": str(home)}, java=str(home / "bin/java"))
        on_java_25.add_worker("worker-2")
        wait_for((driver.directory / "heard").exists, "the executor that is well", output)
        closed = {**growing.environ, "JAVA_TOOL_OPTIONS": "-XX:+DisableAttachMechanism"}
        replace(growing, environ=closed).add_worker("worker-3")
        found = driver.finish(process)
    assert found["before"] == ["0", "driver"]
    assert found["heard"] == ["new executors have the map: 1"]
    (failed,) = found["failed"]
    assert by_executor(failed) == {"2": {"no agent"}}
    assert "cannot be loaded into this running JVM" in failed["error"]
