"""PySpark programs as processes of their own where the client stands, on a standalone cluster there, or on YARN.

The cluster's daemons, executors and driver are separate JVMs that share nothing with the test but files, so each can be
killed for itself. Every setting goes in by `spark-defaults.conf`, as on a cluster of one's own: the programs under test
are started as a user starts them.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pyspark
from tests.integration.spark.standalone import SHORT_LIVED, StandaloneCluster, defaults_in, standalone_cluster
from tests.integration.spark.yarn import YarnCluster, yarn_cluster

from brokernat.clients.spark.connector import connector_jars
from brokernat.testbed import NetnsWorld
from brokernat.testbed.place import Place

HERE = "127.0.0.1"
WORKER_MARK = 20_123
"""The group that the second worker and its executors run as, so that a packet filter can tell them from the first."""

_numbers = count()


@dataclass(frozen=True)
class Job:
    """A running program; `log` is all it prints to standard error, `output` to standard output."""

    process: subprocess.Popen[bytes]
    log: Path
    output: Path

    def wait(self, timeout: float) -> int:
        """The exit code; fails with the end of the log."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise TimeoutError(f"still running after {timeout:.0f} s\n{self.tail()}") from None

    def kill(self) -> None:
        """`kill -9` of the whole driver: Python and its JVM."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def running(self) -> bool:
        return self.process.poll() is None

    def tail(self) -> str:
        return "\n".join([*self.output.read_text().splitlines()[-20:], *self.log.read_text().splitlines()[-60:]])


@dataclass(frozen=True)
class SparkPlace:
    """Where programs run, and the cluster of their executors."""

    place: Place
    cluster: StandaloneCluster | YarnCluster
    folder: Path

    def start(
        self,
        words: Sequence[str],
        *,
        program: str = sys.executable,
        settings: Mapping[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
    ) -> Job:
        """Start a program with `words`, with `settings` of Spark beside our own."""
        work = self.folder / f"job-{next(_numbers)}"
        work.mkdir(parents=True)
        defaults = {**self._settings(), **(settings or {})}
        environ = {**os.environ, **defaults_in(work, defaults), "SPARK_LOCAL_IP": HERE, "PYTHONUNBUFFERED": "1"}
        environ |= self.cluster.client_environ
        log, output = work / "log", work / "output"
        with log.open("wb") as errors, output.open("wb") as out:
            process = subprocess.Popen(
                self.place.command([program, *words]),
                env=environ,
                cwd=Path(__file__).parents[3],
                stdin=stdin,
                stdout=out,
                stderr=errors,
                start_new_session=True,
            )
        return Job(process, log, output)

    def run(self, words: Sequence[str], *, timeout: float = 420, settings: Mapping[str, str] | None = None) -> Job:
        """Start `words` and wait for their end."""
        job = self.start(words, settings=settings)
        job.wait(timeout)
        return job

    def executors(self) -> frozenset[int]:
        """The process ids of the executors."""
        return self._jvms("CoarseGrainedExecutorBackend")

    def application_masters(self) -> frozenset[int]:
        """The process ids of YARN's application masters of drivers that run here."""
        return self._jvms("ExecutorLauncher")

    def _jvms(self, main: str) -> frozenset[int]:
        """What runs a class of Spark's in a folder of our cluster."""
        return frozenset(int(each.name) for each in Path("/proc").glob("[0-9]*") if self._runs(each, main.encode()))

    def _runs(self, process: Path, main: bytes) -> bool:
        try:
            in_our_folder = process.joinpath("cwd").readlink().is_relative_to(self.cluster.directory)
            # Not the shells that a container is started by: they have the whole line in one word.
            words = process.joinpath("cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return in_our_folder and any(word.endswith(main) for word in words)

    def _settings(self) -> dict[str, str]:
        return {
            "spark.master": self.cluster.url,
            "spark.driver.host": HERE,
            "spark.driver.bindAddress": HERE,
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            **SHORT_LIVED,
            **self.cluster.settings,
        }


@contextmanager
def spark_place(
    place: Place, folder: Path, *, workers: int = 2, mark_last_worker: bool = False
) -> Iterator[SparkPlace]:
    """A standalone cluster of a master and workers, each with one core, in `place`.

    Args:
        place: the client's.
        folder: logs, work directories, the jobs' own folders.
        mark_last_worker: run the last worker as group `WORKER_MARK`; needs root.
    """
    # Where no registry can be reached, the cache has to know everything: what there is, and what there is not.
    connector_jars(pyspark.__version__)
    prefix = tuple(place.command([]))
    marked = (*prefix, "setpriv", "--regid", str(WORKER_MARK), "--keep-groups") if mark_last_worker else prefix
    with standalone_cluster(folder / "standalone", workers=workers - 1, host=HERE, prefix=prefix) as standalone:
        replace(standalone, prefix=marked).add_worker(f"worker-{workers}")
        yield SparkPlace(place, standalone, folder)


@contextmanager
def yarn_place(place: Place, folder: Path) -> Iterator[SparkPlace]:
    """A YARN with two nodes in `place`; the arguments are those of `spark_place`."""
    connector_jars(pyspark.__version__)
    with yarn_cluster(folder / "yarn", prefix=place.command([])) as yarn:
        yield SparkPlace(place, yarn, folder)


@contextmanager
def refused_to_second_worker(world: NetnsWorld, endpoint: str) -> Iterator[None]:
    """Processes of the second worker get a reset from `endpoint`; nobody else does."""
    host, _, port = endpoint.rpartition(":")
    rule = f"meta skgid {WORKER_MARK} ip daddr {host} tcp dport {port} reject with tcp reset;"
    chain = f"type filter hook output priority filter; policy accept; {rule}"
    world.client.run("nft", "-f", "-", text=f"table inet one_executor {{ chain output {{ {chain} }}; }}\n")
    try:
        yield
    finally:
        world.client.run("nft", "delete", "table", "inet", "one_executor")
