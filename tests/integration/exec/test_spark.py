"""An existing Spark job, not one line of it changed: in one JVM and on executors that a worker starts."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest
from tests.integration.exec.conftest import PROGRAMS, VALUES, Done, Exec, bootstrap
from tests.integration.spark.standalone import C1, StandaloneCluster, defaults_in, standalone_cluster, wait_for

from brokernat.clients.spark.connector import connector_jars
from brokernat.jvm import agent_jar, find_java, spark_java_home
from brokernat.testbed import LoopbackWorld

pytestmark = [pytest.mark.integration, pytest.mark.spark]

JOB = str(PROGRAMS / "job.py")
SUBMIT = str(Path(sys.executable).with_name("spark-submit"))
DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.instances": "2",
    "spark.executor.cores": "1",
    # Both executors are there before a task is: on a busy machine one of them could do all the work.
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "180s",
    # The job's owner has options of their own for every executor, and for every driver.
    "spark.executor.defaultJavaOptions": f"-Downer=executor {C1}",
    "spark.driver.extraJavaOptions": f"-Downer=driver {C1}",
}


@dataclass(frozen=True)
class Job:
    """The job on one pair of topics, started in the ways that people start it."""

    run: Exec
    world: LoopbackWorld
    source: str
    environ: dict[str, str]

    @property
    def target(self) -> str:
        return f"{self.source}-copy"

    def words(self, starter: str, master: str, patience: str = "30000") -> tuple[list[str], dict[str, str]]:
        """The command, and its environment: a Python program finds its master there."""
        arguments = [JOB, bootstrap(self.world), self.source, self.target, patience]
        if starter == "spark-submit":
            return [SUBMIT, "--master", master, *arguments], self.environ
        return [sys.executable, *arguments], {**self.environ, "PYSPARK_SUBMIT_ARGS": f"--master {master} pyspark-shell"}

    def with_map(self, starter: str, master: str, *options: str) -> Done:
        command, environ = self.words(starter, master)
        return self.run.run(command, *options, **environ)

    def written(self) -> list[str]:
        return sorted((record.value or b"").decode() for record in self.world.hq.read(self.target))


@pytest.fixture
def job(exec_in: Callable[[LoopbackWorld], Exec], loopback_world: LoopbackWorld, orders: str, tmp_path: Path) -> Job:
    jars = ",".join(map(str, connector_jars(pyspark.__version__).jars))
    environ = {
        "JAVA_HOME": str(spark_java_home(find_java(minimum=17))),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "PYSPARK_PYTHON": sys.executable,
        **defaults_in(tmp_path, {**DEFAULTS, "spark.jars": jars}),
    }
    loopback_world.hq.create_topic(f"{orders}-copy")
    return Job(exec_in(loopback_world), loopback_world, orders, environ)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    """A master and two workers, which know nothing of us."""
    with standalone_cluster(tmp_path_factory.mktemp("standalone")) as running:
        yield running


@pytest.mark.soak
def test_without_exec_it_fails(job: Job) -> None:
    command, environ = job.words("python", "local[2]", patience="6000")
    failed = job.run.bare(command, **environ)
    assert failed.returncode != 0
    assert "TimeoutException" in failed.stderr, failed.stderr[-4000:]
    assert job.written() == []


@pytest.mark.parametrize(
    "starter",
    [
        "python",
        # Nothing in it that the same on two workers does not show.
        pytest.param("spark-submit", marks=pytest.mark.soak),
    ],
)
def test_in_one_jvm(job: Job, starter: str) -> None:
    done = job.with_map(starter, "local[2]")
    assert done.returncode == 0, done.stderr[-4000:]
    assert job.written() == VALUES
    assert done.stdout == "copied by local[2] for driver\n", "what the launchers say goes to stderr"


@pytest.mark.parametrize(
    ("starter", "options"),
    [
        ("spark-submit", ()),
        pytest.param("python", (), marks=pytest.mark.soak),
        # In the namespaces the agent is on every host.
        pytest.param("spark-submit", ("--agent-path", str(agent_jar())), marks=pytest.mark.soak),
    ],
)
def test_on_two_workers(job: Job, cluster: StandaloneCluster, starter: str, options: tuple[str, ...]) -> None:
    before = cluster.executor_logs().keys()
    done = job.with_map(starter, cluster.url, *options)
    assert done.returncode == 0, done.stderr[-4000:]
    assert job.written() == VALUES
    logs = {name: log for name, log in cluster.executor_logs().items() if name not in before}
    assert len(logs) == 2
    assert any("translated" in log for log in logs.values()), logs
    assert all('"-Downer=executor"' in log for log in logs.values()), "what the owner set is still there"


def test_an_executor_that_lets_no_agent_in_gets_no_task(job: Job, cluster: StandaloneCluster, tmp_path: Path) -> None:
    """Its tasks would dial, and log in at, what the brokers advertise."""
    command, environ = job.words("spark-submit", cluster.url)
    with (Path(environ["SPARK_CONF_DIR"]) / "spark-defaults.conf").open("a") as defaults:
        defaults.write("spark.executor.extraJavaOptions -XX:+DisableAttachMechanism\n")
    log = tmp_path / "driver.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            job.run.words(command), cwd=job.run.folder, env={**job.run.environ, **environ}, stdout=output, stderr=output
        )
    try:
        wait_for(lambda: "this executor is refused" in log.read_text() or process.poll() is not None, "a refusal", log)
    finally:
        process.terminate()
        process.wait()
    assert "its map cannot be applied: the brokernat agent cannot be loaded into this running JVM" in log.read_text()
    assert job.written() == []
