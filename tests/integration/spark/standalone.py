"""A Spark standalone cluster on this machine: one master, any number of workers, each a JVM of its own.

Started from the jars inside PySpark by the main classes, because the wheel has no start scripts that stay in the
foreground. Ports are chosen by the system and read from the log; what was started is ended by its own process, and
its executors with it.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pyspark

from brokernat.jvm.java import reading_class_data

SPARK_HOME = Path(pyspark.__file__).parent
CLASS_DATA = Path(sys.prefix) / "class-data" / f"spark-{pyspark.__version__}.jsa"
"""Made by tests/class_data.py, for Sparks of this environment alone: an archive holds the jars' absolute paths."""
C1 = " ".join(("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *reading_class_data(CLASS_DATA)))
SHORT_LIVED = {"spark.driver.extraJavaOptions": C1, "spark.executor.extraJavaOptions": C1}
"""For JVMs that live for seconds: without the second compiler a start with a small query takes 11 s of CPU, not 23, and
from an archive of class data 6 s."""
SMALL = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", **SHORT_LIVED}
_MASTER_URL = re.compile(r"Starting Spark master at (spark://\S+)")


@dataclass(frozen=True)
class StandaloneCluster:
    """A running master with its workers."""

    settings: ClassVar[Mapping[str, str]] = {}
    """What Spark needs beside the master."""
    client_environ: ClassVar[Mapping[str, str]] = {}
    """What a driver finds the cluster by, beside the master."""

    url: str
    directory: Path
    prefix: tuple[str, ...]
    environ: Mapping[str, str]
    java: str
    spark_home: Path
    stack: ExitStack
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    """Those that run, by name."""

    def add_worker(self, name: str, cores: int = 1, memory: str = "1g") -> None:
        """Start one more worker and wait until the master knows it."""
        work = self.directory / name
        words = ["--host", self.environ["SPARK_LOCAL_IP"], "--cores", str(cores), "--memory", memory]
        words += ["--work-dir", str(work), "--webui-port", "0", self.url]
        log = self.directory / f"{name}.log"
        self.workers[name] = self.stack.enter_context(self._start("org.apache.spark.deploy.worker.Worker", words, log))
        wait_for(lambda: "Successfully registered with master" in log.read_text(), f"{name} at the master", log)

    def kill_worker(self, name: str) -> None:
        """`kill -9` of a worker and of its executors, as when a machine is gone."""
        worker = self.workers.pop(name)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def executor_logs(self) -> dict[str, str]:
        """stderr of every executor, by `worker/application/executor`."""
        logs = sorted(self.directory.glob("*/app-*/*/stderr"))
        return {str(path.parent.relative_to(self.directory)): path.read_text(errors="replace") for path in logs}

    @contextmanager
    def _start(self, main: str, words: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
        options = ["-Xmx256m", *C1.split()]
        jars = self.spark_home / "jars"
        # In the order of Spark's own launcher, which is that of the archive.
        (first,) = jars.glob("slf4j-api-*.jar")
        command = [*self.prefix, self.java, *options, "-cp", f"{first}:{jars}/*", main, *words]
        with log.open("w") as file:
            process = subprocess.Popen(command, env=dict(self.environ), stdout=file, stderr=subprocess.STDOUT,
                                       start_new_session=True)  # fmt: skip
        try:
            yield process
        finally:
            # A worker ends its executors on SIGTERM; the group is the last resort for what it left.
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@contextmanager
def standalone_cluster(
    directory: Path,
    *,
    workers: int = 2,
    host: str = "127.0.0.1",
    java_home: str | None = None,
    prefix: tuple[str, ...] = (),
    spark_home: Path = SPARK_HOME,
) -> Iterator[StandaloneCluster]:
    """A master and its workers on `host`.

    Args:
        directory: logs and the executors' work directories.
        java_home: JAVA_HOME of master, workers and so of the executors; default as in this process.
        prefix: words in front of each command, such as `ip netns exec NAME`.
    """
    directory.mkdir(parents=True, exist_ok=True)
    # Spark's shell scripts find out the Scala version; without them the worker must be told, or no executor starts.
    environ = {**os.environ, "SPARK_LOCAL_IP": host, "SPARK_HOME": str(spark_home), "SPARK_SCALA_VERSION": "2.13"}
    environ |= {"JAVA_HOME": java_home} if java_home else {}
    home = environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java") or "java"
    log = directory / "master.log"
    with ExitStack() as stack:
        start = StandaloneCluster("", directory, prefix, environ, java, spark_home, stack)
        words = ["--host", host, "--port", "0", "--webui-port", "0"]
        stack.enter_context(start._start("org.apache.spark.deploy.master.Master", words, log))
        wait_for(lambda: _MASTER_URL.search(log.read_text()) is not None, "the master", log)
        url = _MASTER_URL.findall(log.read_text())[0]
        cluster = StandaloneCluster(url, directory, prefix, environ, java, spark_home, stack)
        for number in range(1, workers + 1):
            cluster.add_worker(f"worker-{number}")
        yield cluster


def defaults_in(folder: Path, settings: Mapping[str, str] = SMALL) -> dict[str, str]:
    """The environment of a job that says nothing of Spark's settings: they are the defaults of its place.

    Spark puts the folder of the defaults in front of the class path, where one that has files in it makes the JVM
    ignore its class data. The colon in this one's name makes two entries of it, of which there is neither.
    """
    place = folder / "spark:defaults"
    place.mkdir(parents=True, exist_ok=True)
    (place / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    return {"SPARK_CONF_DIR": str(place)}


def wait_for(condition: Callable[[], bool], what: str, log: Path, seconds: float = 180) -> None:
    """Poll until `condition` holds; fails with the end of `log`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not there after {seconds} s\n{log.read_text()[-2000:]}")
        time.sleep(0.1)
