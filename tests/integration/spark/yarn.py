"""A YARN on this machine: Hadoop's resource manager and node managers, and containers that are processes of their own.

Hadoop's MiniYARNCluster has them in one JVM; what it starts, localizes and ends is what a cluster does: each container
has a folder of its own, and in it the files that the application names. Programs find the cluster by `HADOOP_CONF_DIR`.
The default file system is `file:`, as all hosts are one.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.integration.spark.standalone import SPARK_HOME, wait_for

from brokernat.jvm import find_java, resolve

HADOOP = "3.4.2"
PROGRAM = Path(__file__).with_name("MiniYarn.java")
# Its pom leaves out what logs, what the web proxy's certificates are made with, and what Java 8 still brought along.
_JARS = (
    f"org.apache.hadoop:hadoop-client-minicluster:{HADOOP}",
    "org.bouncycastle:bcpkix-jdk18on:1.78.1",
    "org.slf4j:slf4j-reload4j:1.7.36",
    "javax.xml.bind:jaxb-api:2.3.1",
    "org.glassfish.jaxb:jaxb-runtime:2.3.9",
)
_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m", "--add-opens=java.base/java.lang=ALL-UNNAMED")


@dataclass(frozen=True)
class YarnCluster:
    """A running cluster; `directory` has the folders of its containers."""

    directory: Path
    url: str = "yarn"

    @property
    def settings(self) -> Mapping[str, str]:
        """Spark's own jars are on every host, and nothing is left in anybody's home."""
        staging = self.directory / "staging"
        return {"spark.yarn.jars": f"local:{SPARK_HOME}/jars/*", "spark.yarn.stagingDir": staging.as_uri(),
                "spark.yarn.am.memory": "512m",
                # In cluster mode Spark forgets the host that was set for the driver.
                "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1"}  # fmt: skip

    @property
    def client_environ(self) -> Mapping[str, str]:
        """What a driver finds the cluster by."""
        return {"HADOOP_CONF_DIR": str(self.directory / "conf")}


@contextmanager
def yarn_cluster(directory: Path, *, nodes: int = 2, prefix: Sequence[str] = ()) -> Iterator[YarnCluster]:
    """A resource manager and `nodes` node managers on loopback.

    Args:
        directory: configuration, log and the folders of the containers.
        prefix: words in front of the command, such as `ip netns exec NAME`.
    """
    cluster = YarnCluster(directory)
    conf = directory / "conf"
    conf.mkdir(parents=True)
    java = find_java(17)
    command = [*prefix, str(java.binary), *_JVM, "-cp", os.pathsep.join(map(str, resolve(_JARS))), str(PROGRAM),
               str(nodes), str(conf)]  # fmt: skip
    log = directory / "yarn.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=directory, env={**os.environ, "JAVA_HOME": str(java.home)},
            stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        wait_for(lambda: (conf / "yarn-site.xml").exists() or process.poll() is not None, "YARN", log)
        assert process.poll() is None, log.read_text()[-4000:]
        yield cluster
    finally:
        assert process.stdin
        process.stdin.close()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
