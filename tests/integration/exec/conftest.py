"""`brokernat exec` as a user runs it, in a folder with a brokernat.yaml of a world."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from brokernat.jvm import find_java, resolve
from brokernat.testbed import LoopbackWorld, Record
from brokernat.testbed.running_cluster import config_text

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
KAFKA_BIN = HERE / "kafka-bin"
COUNT = 12
VALUES = sorted(f"order {number}" for number in range(COUNT))

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Exec:
    """Runs commands with and without `brokernat exec`."""

    folder: Path
    environ: Mapping[str, str]

    def words(self, command: Sequence[str], *options: str, cluster: str = "hq") -> list[str]:
        """The command line of the exec."""
        exec_words = ["exec", "--cluster", cluster, *options, "--"]
        return [sys.executable, "-m", "brokernat", *exec_words, *command]

    def run(self, command: Sequence[str], *options: str, cluster: str = "hq", stdin: str = "", **environ: str) -> Done:
        """What the command printed, with the map."""
        return self.bare(self.words(command, *options, cluster=cluster), stdin=stdin, **environ)

    def bare(self, command: Sequence[str], *, stdin: str = "", **environ: str) -> Done:
        """What the command printed, as it is."""
        return subprocess.run(
            command, cwd=self.folder, env={**self.environ, **environ}, input=stdin, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip


@pytest.fixture
def exec_in(tmp_path: Path) -> Callable[[LoopbackWorld], Exec]:
    """A folder with the brokernat.yaml of a world."""

    def make(world: LoopbackWorld) -> Exec:
        (tmp_path / "brokernat.yaml").write_text(config_text(world.clusters.values()))
        return Exec(tmp_path, {**os.environ, "PYTHONUNBUFFERED": "1", "SPARK_LOCAL_IP": "127.0.0.1"})

    return make


@pytest.fixture
def orders(loopback_world: LoopbackWorld, topic_name: str) -> str:
    """A topic of headquarters with COUNT records in it."""
    loopback_world.hq.create_topic(topic_name)
    loopback_world.hq.write(topic_name, [Record(value=value.encode()) for value in VALUES])
    return topic_name


def distribution() -> dict[str, str]:
    """What Kafka's scripts find in a distribution: its jars, and a Java."""
    jars = resolve(["org.apache.kafka:kafka-tools:4.3.1", "org.slf4j:slf4j-simple:1.7.36"])
    return {"CLASSPATH": os.pathsep.join(map(str, jars)), "JAVA": str(find_java().binary)}


@pytest.fixture(scope="session")
def kafka_environ() -> dict[str, str]:
    """The variables of `distribution`."""
    return distribution()


def bootstrap(world: LoopbackWorld) -> str:
    """What a user who knows the gateway writes."""
    return ",".join(map(str, world.hq.cluster.bootstrap_servers))
