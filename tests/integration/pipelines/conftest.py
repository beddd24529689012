"""A pipeline as its user has it: a file, a folder, the command line in a process of its own, real brokers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.integration.spark.standalone import SMALL, StandaloneCluster, standalone_cluster
from tests.support.warm_cli import WarmCli

from brokernat.config import Cluster, Secret
from brokernat.testbed import LoopbackWorld, Record
from brokernat.testbed.place import wait_until

CUSTOMERS = "customer_id,name,segment\n" + "".join(f"c{n},Name {n},retail\n" for n in range(10))
ORDERS_PER_WRITE = 200
TIMEOUT = 420
PROGRAM = (sys.executable, "-m", "brokernat")


def order(number: int, **more: object) -> bytes:
    fields = {"order_id": f"o{number}", "customer_id": f"c{number % 10}", "amount": 1.5, "at": "2026-01-05T08:00:00Z"}
    return json.dumps(fields | more).encode()


def cluster_section(cluster: Cluster) -> dict[str, Any]:
    section: dict[str, Any] = {"bootstrap_servers": ",".join(map(str, cluster.bootstrap_servers))}
    if cluster.address_map is not None:
        section["address_map"] = [str(rule) for rule in cluster.address_map.rules]
    section["client"] = {
        name: value.reveal() if isinstance(value, Secret) else value for name, value in cluster.client.items()
    }
    return section


@dataclass
class Workplace:
    """One pipeline with topics of its own."""

    world: LoopbackWorld
    folder: Path
    topic: str
    warm_cli: WarmCli
    pipeline: dict[str, Any] = field(default_factory=dict)
    client: dict[str, dict[str, str]] = field(default_factory=dict)
    """More properties of Kafka's client, by cluster."""
    rules: dict[str, list[str]] = field(default_factory=dict)
    """An address map in place of the right one, by cluster."""

    def __post_init__(self) -> None:
        self.pipeline = {
            "source": {"cluster": "hq", "topics": [self.topic]},
            "decode": {
                "format": "json",
                "schema": "order_id STRING, customer_id STRING, amount DOUBLE, at TIMESTAMP",
            },
            "enrich": [{"reference": "customers", "key": "customer_id"}],
            "references": {"customers": {"format": "csv", "path": "customers.csv"}},
            "sink": {"cluster": "local", "topic": self.tags, "key": "customer_id", "dead_letters": self.dead},
            "checkpoint": "state",
        }
        self.customers(CUSTOMERS)

    @property
    def tags(self) -> str:
        return f"{self.topic}-tags"

    @property
    def dead(self) -> str:
        return f"{self.topic}-dead"

    @property
    def checkpoint(self) -> Path:
        return self.folder / "state"

    def create_topics(self) -> None:
        self.world.hq.create_topic(self.topic)
        self.world.local.create_topic(self.tags)
        self.world.local.create_topic(self.dead)

    def customers(self, text: str) -> None:
        """Replaces the reference in one step, as a careful writer does."""
        new = self.folder / "customers.new"
        new.write_text(text)
        new.replace(self.folder / "customers.csv")

    def write(self, values: Sequence[bytes | None], **more: Any) -> int:
        return self.world.hq.write(self.topic, [Record(value=value, **{"key": b"k"} | more) for value in values])

    def write_in_transactions(self, values: Sequence[bytes], *, commit: bool = True) -> None:
        """Each value in a transaction of its own: behind it stands a marker, which takes an offset and is no record."""
        from confluent_kafka import Producer

        servers = ",".join(map(str, self.world.hq.direct.bootstrap_servers))
        producer = Producer({"bootstrap.servers": servers, "transactional.id": self.topic})
        producer.init_transactions(60)
        for number, value in enumerate(values):
            producer.begin_transaction()
            producer.produce(self.topic, value, partition=number % 3)
            # Written before it is taken back: what was never sent would leave nothing behind.
            assert producer.flush(60) == 0
            if commit:
                producer.commit_transaction(60)
            else:
                producer.abort_transaction(60)

    def read_tags(self) -> list[Record]:
        return self.world.local.read(self.tags)

    def read_dead(self) -> list[Record]:
        return self.world.local.read(self.dead)

    def words(self, command: str, *more: str) -> list[str]:
        """The command line; the file is written anew before each."""
        clusters = {name: cluster_section(c.cluster) for name, c in self.world.clusters.items()}
        for name, properties in self.client.items():
            clusters[name]["client"] |= properties
        for name, rules in self.rules.items():
            clusters[name]["address_map"] = rules
        file = self.folder / "brokernat.yaml"
        file.write_text(json.dumps({"clusters": clusters, "pipelines": {"tags": self.pipeline}}))
        small = ["--master", "local[2,4]", *(word for item in SMALL.items() for word in ("--conf", "=".join(item)))]
        return ["pipeline", command, "tags", "--config", str(file), *small, *more]

    def run(self, command: str, *more: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """A command on the JVM that all tests share."""
        ended = self.warm_cli.run(self.words(command, *more))
        assert ended.returncode == code, ended.stdout + ended.stderr
        return ended

    def run_alone(self, command: str, *more: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """A command in a process of its own."""
        words = [*PROGRAM, *self.words(command, *more)]
        ended = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        assert ended.returncode == code, ended.stdout + ended.stderr
        return ended

    def drain(self) -> list[dict[str, Any]]:
        """`run --once`: the batches."""
        lines = self.run("run", "--once", "--format", "json").stdout.splitlines()
        return [json.loads(line) for line in lines]

    @contextmanager
    def running(self, *more: str, environ: Mapping[str, str] | None = None) -> Iterator[Running]:
        """`run`, in a process group of its own, killed at the end if it is still there."""
        log = self.folder / "run.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [*PROGRAM, *self.words("run", *more)],
                stdout=output,
                stderr=output,
                start_new_session=True,
                env={**os.environ, **(environ or {})},
            )
        try:
            yield Running(process, log)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def offsets(self) -> tuple[int, int]:
        """The last batch that was begun, and the last that was committed; -1 for none."""

        def last(name: str) -> int:
            folder = self.checkpoint / name
            return max((int(p.name) for p in folder.glob("*") if p.name.isdigit()), default=-1)

        return last("offsets"), last("commits")


@dataclass
class Running:
    """A process of `pipeline run` and all that it says."""

    process: subprocess.Popen[bytes]
    log: Path

    def until(self, condition: Any, what: str) -> None:
        def ended() -> str | None:
            return f"it ended: {self.log.read_text()}" if self.process.poll() is not None else None

        wait_until(condition, what, timeout=TIMEOUT, abort=ended)

    def signal_group(self, number: signal.Signals) -> None:
        os.killpg(self.process.pid, number)


def sources(records: Sequence[Record]) -> list[str]:
    return [(record.header("brokernat-src") or b"").decode() for record in records]


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    """A master and one worker with one core."""
    with standalone_cluster(tmp_path_factory.mktemp("standalone"), workers=1) as running:
        yield running


@pytest.fixture
def workplace(loopback_world: LoopbackWorld, tmp_path: Path, topic_name: str, warm_cli: WarmCli) -> Workplace:
    place = Workplace(loopback_world, tmp_path, topic_name, warm_cli)
    place.create_topics()
    return place
