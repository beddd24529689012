"""A pipeline that is left running while everything around it fails, by the choices of a seed.

Orders are produced without a pause, one in twenty of them broken, and the reference is overwritten again and again. A
supervisor starts the pipeline whenever it has ended. At last everything is whole and the pipeline drains: what a reader
that shares no code with it finds in source and sink is compared, and must be what `pipeline reconcile` finds.

A record may be there twice only if it was not committed when something failed, and was produced before all had healed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from tests.integration.spark.standalone import StandaloneCluster
from tests.netns.spark.checkpoint import Checkpoint
from tests.netns.spark.orders import SOURCE_HEADER, Topics, coordinates
from tests.netns.spark.pipeline_file import SCHEMA, PipelineFile, cluster_section, write_file
from tests.netns.spark.spark_place import Job, SparkPlace

from brokernat.address import Endpoint
from brokernat.demo.data import customer_id, order
from brokernat.errors import BrokernatError
from brokernat.testbed import Record, RunningCluster
from brokernat.testbed.gateways import Gateway
from brokernat.testbed.place import Here, connects, wait_until

CUSTOMERS = 50
RATE = 40
"""Orders in a second."""
BROKEN = 0.05
OVERWRITE_SECONDS = 15.0
RESTART_SECONDS = 2.0
GIVEN_UP = {1: "a fault of our own", 2: "examples/operating/brokernat-pipeline.service does not start it again"}
PARTITIONS = 2
"""As many as there are task slots: in real-time mode each needs one."""
IMPATIENT = {
    "delivery.timeout.ms": "10000",
    "request.timeout.ms": "5000",
    "max.block.ms": "10000",
    "linger.ms": "0",
}
"""Of the sink, so that an outage of seconds is a failure of the query and not a pause."""
PATIENCE = 300.0
ENDING = 120.0
"""Seconds that the end of a run may take."""
LONGEST_OUTAGE = 180.0
"""Seconds that a registry or a database is unavailable at most; less where there is little time."""
_FORWARDER = Path(__file__).parents[1] / "support" / "forwarder.py"
_TICK = 0.1
_NEW_WORKERS = count(100)
"""The numbers in the names of workers that replace killed ones."""

Order = dict[str, object]


class Forwarding:
    """The way to a server on this machine, which can be away."""

    def __init__(self, port: int, target: int) -> None:
        self._endpoint = Endpoint("127.0.0.1", port)
        self._words = [sys.executable, str(_FORWARDER), str(port), "127.0.0.1", str(target)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(self._words)
        wait_until(lambda: connects(self._endpoint, Here()), f"port {self._endpoint.port}", timeout=PATIENCE)

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()

    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None


@dataclass(frozen=True)
class Site:
    """What there is to fail; `services` are what a pipeline needs beside its brokers, by name.

    Where the line is `lossy`, a run may end although nothing else has failed.
    """

    source: RunningCluster
    sink: RunningCluster
    gateway: Gateway
    spark: SparkPlace
    services: Mapping[str, Gateway] = field(default_factory=dict)
    lossy: bool = False


@dataclass(frozen=True)
class Format:
    """How orders are written: the section `decode`, and what it can read.

    `broken` makes records that it cannot, beside those that every format has.
    """

    decode: Mapping[str, Any]
    encode: Callable[[Order], bytes]
    broken: Sequence[Callable[[Order], bytes]] = ()

    def breakages(self) -> Sequence[Callable[[Order], bytes]]:
        return (
            lambda made: self.encode(made)[:-1],
            lambda made: self.encode(made | {"customer_id": "C9999"}),
            lambda made: self.encode(made | {"customer_id": None}),
            *self.broken,
        )


JSON = Format({"format": "json", "schema": SCHEMA}, lambda made: json.dumps(made).encode())


class Feed:
    """Produces orders in a thread of its own; each value is another one."""

    def __init__(self, cluster: RunningCluster, topic: str, form: Format, draw: random.Random) -> None:
        self._cluster = cluster
        self._topic = topic
        self._form = form
        self._draw = draw
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.broken: set[bytes] = set()

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Returns when every order is in the source."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        numbers = count(1)
        while not self._ended.wait(0.5):
            records = [self._record(next(numbers)) for _ in range(RATE // 2)]
            while not self._written(records):
                time.sleep(0.5)

    def _record(self, number: int) -> Record:
        made = order(number, customer_id(self._draw.randint(1, CUSTOMERS)), self._draw)
        value = self._form.encode(made)
        if self._draw.random() < BROKEN:
            value = self._draw.choice(self._form.breakages())(made)
            self.broken.add(value)
        return Record(value, str(made["customer_id"]).encode())

    def _written(self, records: Sequence[Record]) -> bool:
        try:
            self._cluster.write(self._topic, records)
        except (OSError, BrokernatError):
            # The answer may be all that was lost: then the values are there twice, at two offsets.
            return False
        return True


class Supervisor:
    """Starts the pipeline whenever it has ended, as systemd does."""

    def __init__(self, spark: SparkPlace, words: Sequence[str]) -> None:
        self._spark = spark
        self._words = words
        self._resume_at: float | None = None
        self.ends: Counter[int] = Counter()
        self.job: Job = spark.start(words)

    def look(self) -> None:
        if self.job.running():
            return
        now, code = time.monotonic(), self.job.process.returncode
        if self._resume_at is None:
            assert code not in GIVEN_UP, f"exit code {code}, {GIVEN_UP[code]}:\n{self.job.tail()}"
            self.ends[code] += 1
            self._resume_at = now + RESTART_SECONDS
        elif now > self._resume_at:
            self._resume_at = None
            self.job = self._spark.start(self._words)

    def end(self) -> None:
        self.job.process.send_signal(signal.SIGTERM)
        assert self.job.wait(PATIENCE) == 143, self.job.tail()


@dataclass(frozen=True)
class Hurt:
    """Offsets by partition: committed before something failed, and in the source when all had healed."""

    committed: Mapping[int, int]
    produced: Mapping[int, int]

    def holds(self, partition: int, offset: int) -> bool:
        return self.committed.get(partition, 0) <= offset < self.produced[partition]


class Chaos:
    """One pipeline and what fails around it."""

    def __init__(
        self, site: Site, folder: Path, dice: random.Random, form: Format = JSON, *, mode: str, **more: Any
    ) -> None:
        """Makes topics and a file; nothing runs yet.

        Args:
            more: references beside `customers`, by name; their key is `customer_id`.
        """
        self._site = site
        self._dice = dice
        self._folder = folder
        self.topics = Topics.fresh()
        site.source.create_topic(self.topics.orders, partitions=PARTITIONS)
        for name in (self.topics.tags, self.topics.dead):
            site.sink.create_topic(name, partitions=PARTITIONS)
        self._file = self._write_file(form, mode, more)
        self._feed = Feed(site.source, self.topics.orders, form, random.Random(dice.random()))
        self._checkpoint = Checkpoint(folder / "state")
        self.strokes: Counter[str] = Counter()
        self.hurts: list[Hurt] = []
        self._victims: dict[str, Callable[[], bool]] = {
            "driver": self._kill_driver,
            "executor": self._kill_executor,
            "worker": self._kill_worker,
            "source broker": partial(self._kill_broker, site.source),
            "sink broker": partial(self._kill_broker, site.sink),
            "gateway": self._flap,
            **{name: partial(self._send_away, service) for name, service in site.services.items()},
        }
        self._deck: list[str] = []
        self._to_come: list[tuple[float, Callable[[], None]]] = []
        self._committed: Mapping[int, int] | None = None
        """Before the first failure of those that have not healed; None where all is whole."""
        self._whole_since: int | None = None
        """The newest commit when all was whole again."""
        self._overwrites = 0
        self._overwritten_at = 0.0
        self._longest_outage = LONGEST_OUTAGE

    def play(self, time_left: Callable[[], float]) -> None:
        """Lets things fail until the time is over, each of them once in any case, and the pipeline drain."""
        self._longest_outage = min(LONGEST_OUTAGE, max(10.0, time_left() / 4))
        self._overwrite()
        self._feed.start()
        self._supervisor = Supervisor(self._site.spark, self._file.words("run", "tags"))
        self._until(lambda: bool(self._checkpoint.committed()), "the first batch")
        while len(self.strokes) < len(self._victims) or time_left() > ENDING:
            self._strike()
            if self._dice.random() < 0.5:
                self._until(lambda: self._committed is None, "two batches after all has healed")
            self._until(partial(_is_over, time.monotonic() + self._dice.uniform(0, 10)), "the next stroke")
        self._until(lambda: self._committed is None, "two batches after all has healed")
        self._feed.end()
        ends = self._site.source.end_offsets(self.topics.orders)
        self._until(lambda: self._committed_offsets() == ends, f"the commit of {ends}")
        self._supervisor.end()

    def assert_complete(self) -> str:
        """Every record has its tag or its dead letter, copies are of what was hurt; returns a summary in a line."""
        cluster_id = self._site.source.cluster_id
        values = {
            f"{cluster_id}/{self.topics.orders}/{record.partition}/{record.offset}": record.value
            for record in self._site.source.read(self.topics.orders)
        }
        tags, dead = (self._site.sink.read(topic) for topic in (self.topics.tags, self.topics.dead))
        broken = {src for src, value in values.items() if value in self._feed.broken}
        found = set(coordinates(tags)), set(coordinates(dead))
        assert found == (values.keys() - broken, broken), [len(each) for each in (*found, values, broken)]
        copies = Counter(coordinates([*tags, *dead]))
        twice = {src for src, times in copies.items() if times > 1}
        strangers = {src for src in twice if not self._was_hurt(src)}
        assert not strangers, f"twice, and nothing had failed: {sorted(strangers)[:5]}"
        self._assert_equal_copies(tags, dead)
        reconciled = self._site.spark.run([*self._file.words("reconcile", "tags"), "--format", "json"])
        assert reconciled.process.returncode == 0, reconciled.tail()
        partitions = json.loads(reconciled.output.read_text())["partitions"]
        totals = {name: sum(each[name] for each in partitions) for name in ("records", "missing", "duplicates")}
        duplicates = copies.total() - len(copies)
        assert totals == {"records": len(values), "missing": 0, "duplicates": duplicates}
        strokes = ", ".join(f"{times} {name}" for name, times in sorted(self.strokes.items()))
        ends = ", ".join(f"{times} x {code}" for code, times in sorted(self._supervisor.ends.items()))
        return (
            f"{len(values)} records, {len(broken)} broken, {self._overwrites} references; struck: {strokes}; ended: "
            f"{ends}; {duplicates} copies of {len(twice)} records, {sum(map(self._was_hurt, values))} could have been"
        )

    def _assert_equal_copies(self, tags: Sequence[Record], dead: Sequence[Record]) -> None:
        """Copies of a tag differ at most by the version of the reference, and it is one that there was."""
        contents: dict[bytes | None, set[tuple[bytes | None, str]]] = {}
        for record in dead:
            contents.setdefault(record.header(SOURCE_HEADER), set()).add((record.key, repr(record.value)))
        for record in tags:
            tag = json.loads(record.value or b"")
            name, _, version = tag.pop("name").rpartition(" v")
            assert name == f"Customer {tag['customer_id']}"
            assert 0 < int(version) <= self._overwrites
            contents.setdefault(record.header(SOURCE_HEADER), set()).add((record.key, json.dumps(tag)))
        assert all(len(different) == 1 for different in contents.values())

    def _was_hurt(self, src: str) -> bool:
        _, _, partition, offset = src.split("/")
        return any(hurt.holds(int(partition), int(offset)) for hurt in self.hurts)

    # What fails

    def _strike(self) -> None:
        if not self._deck:
            self._deck = self._dice.sample(sorted(self._victims), len(self._victims))
        name = self._deck.pop()
        committed = self._committed_offsets()
        if not self._victims[name]():
            # It is away already: another time.
            self._deck.insert(0, name)
            return
        self.strokes[name] += 1
        self._committed = committed if self._committed is None else self._committed
        self._whole_since = None

    def _kill_driver(self) -> bool:
        if running := self._supervisor.job.running():
            self._supervisor.job.kill()
        return running

    def _kill_executor(self) -> bool:
        executors = sorted(self._site.spark.executors())
        if executors:
            os.kill(self._dice.choice(executors), signal.SIGKILL)
        return bool(executors)

    def _kill_worker(self) -> bool:
        cluster = self._site.spark.cluster
        assert isinstance(cluster, StandaloneCluster)
        if len(cluster.workers) < 2:
            return False
        cluster.kill_worker(self._dice.choice(sorted(cluster.workers)))
        self._later(self._dice.uniform(0, 20), partial(cluster.add_worker, f"worker-{next(_NEW_WORKERS)}"))
        return True

    def _kill_broker(self, cluster: RunningCluster) -> bool:
        if not all(map(cluster.running, cluster.nodes)):
            return False
        node = self._dice.choice(cluster.nodes)
        cluster.kill(node)
        self._later(self._dice.uniform(0, 20), partial(cluster.start, node))
        return True

    def _flap(self) -> bool:
        return self._send_away(self._site.gateway, times=self._dice.randint(1, 4), seconds=8)

    def _send_away(self, service: Gateway, times: int = 1, seconds: float | None = None) -> bool:
        if not service.running():
            return False
        at = 0.0
        for _ in range(times):
            self._later(at, service.stop)
            at += self._dice.uniform(0, seconds or self._longest_outage)
            self._later(at, service.start)
            at += self._dice.uniform(0, 4)
        return True

    # What goes on meanwhile

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        """Waits, and does what is due: heals, supervises, overwrites the reference."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            job = self._supervisor.job
            assert time.monotonic() < deadline, f"{what}: not within {PATIENCE:.0f} s\n{job.tail()}"
            while self._to_come and self._to_come[0][0] < time.monotonic():
                self._to_come.pop(0)[1]()
            self._supervisor.look()
            self._note_healing()
            if time.monotonic() > self._overwritten_at + OVERWRITE_SECONDS:
                self._overwrite()
            time.sleep(_TICK)

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        self._to_come.append((time.monotonic() + seconds, action))
        self._to_come.sort(key=lambda item: item[0])

    def _note_healing(self) -> None:
        """All has healed when nothing is away and two batches were committed: the first may have been cut."""
        if not self._supervisor.job.running():
            if self._committed is None:
                assert self._site.lossy, f"it ended, and nothing had failed\n{self._supervisor.job.tail()}"
                self._committed = self._committed_offsets()
            self._whole_since = None
        elif self._committed is not None and not self._to_come:
            newest = max(self._checkpoint.committed(), default=-1)
            if self._whole_since is None:
                self._whole_since = newest
            elif newest >= self._whole_since + 2:
                self.hurts.append(Hurt(self._committed, self._site.source.end_offsets(self.topics.orders)))
                self._committed = self._whole_since = None

    def _overwrite(self) -> None:
        """In one step, as a careful writer does."""
        self._overwrites += 1
        self._overwritten_at = time.monotonic()
        ids = [customer_id(number) for number in range(1, CUSTOMERS + 1)]
        rows = [f"{each},Customer {each} v{self._overwrites}\n" for each in ids]
        new = self._folder / "customers.new"
        new.write_text("".join(["customer_id,name\n", *rows]))
        new.replace(self._folder / "customers.csv")

    def _committed_offsets(self) -> Mapping[int, int]:
        committed = self._checkpoint.committed()
        return self._checkpoint.ends(max(committed))[self.topics.orders] if committed else {}

    def _write_file(self, form: Format, mode: str, references: Mapping[str, Any]) -> PipelineFile:
        site, customers = self._site, {"format": "csv", "path": "customers.csv"}
        references = {"customers": customers, **references}
        clusters = {cluster.name: cluster_section(cluster.cluster) for cluster in (site.source, site.sink)}
        clusters[site.sink.name]["client"] |= IMPATIENT
        section = {
            "source": {"cluster": site.source.name, "topics": [self.topics.orders]},
            "decode": form.decode,
            "enrich": [{"reference": name, "key": "customer_id"} for name in references],
            "references": references,
            "sink": {
                "cluster": site.sink.name,
                "topic": self.topics.tags,
                "key": "customer_id",
                "dead_letters": self.topics.dead,
            },
            "checkpoint": "state",
            "mode": mode,
        }
        if mode == "realtime":
            section["epoch"] = "5 seconds"
        return PipelineFile(write_file(self._folder, clusters, {"tags": section}))


def _is_over(moment: float) -> bool:
    return time.monotonic() > moment
