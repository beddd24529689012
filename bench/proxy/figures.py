"""Throughput, processor time, latency, memory and connections of every side, in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count
from pathlib import Path
from statistics import fmean

from bench.agent.jvms import WarmJvm, write_properties
from bench.proxy.connecting import connect
from bench.proxy.sides import Side
from bench.ratios import Interval, in_turns, interval, interval_of_forks
from bench.report import RECORD_BYTES, say, verdict

from brokernat.jvm import find_java
from brokernat.testbed import RunningCluster

CLIENT = "4.3.1"
OURS, OURS_TWICE, NGINX = "proxy, 1 worker", "proxy, 2 workers", "nginx"
_RATE = 2_000
_CONNECTIONS = 300
_GIB = 1 << 30
_MIB = 1 << 20
_LARGE_FETCH = {"max.partition.fetch.bytes": str(50 * _MIB), "fetch.max.bytes": str(50 * _MIB)}


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    forks: int
    """How often new JVMs are started for throughput."""
    rounds: int
    """Of each figure; for throughput of each fork."""
    consume: int
    """Records of one run."""
    produce: int
    """Records of one run."""


@dataclass
class Measured:
    """Of one side and one kind of work, for each fork a value for each round."""

    seconds: list[list[float]] = field(default_factory=list)
    busy: list[list[float]] = field(default_factory=list)
    """Processor seconds of what stands between."""

    def add_fork(self) -> None:
        self.seconds.append([])
        self.busy.append([])

    def ratios(self, to: Measured) -> Interval:
        """The seconds of another side / the seconds of this one, in the same rounds."""
        forks = zip(to.seconds, self.seconds, strict=True)
        return interval_of_forks([[each / own for each, own in zip(*fork, strict=True)] for fork in forks])

    def per_gib(self, records: int) -> float:
        """Processor seconds per GiB of records."""
        return fmean(chain.from_iterable(self.busy)) / (records * RECORD_BYTES / _GIB)


class Bench:
    """The sides with a warm JVM for each, and what they took."""

    def __init__(self, hq: RunningCluster, sides: Sequence[Side], work: Path, size: Size, stack: ExitStack) -> None:
        self._hq, self._sides, self._work, self._size = hq, sides, work, size
        self._java = find_java().binary
        self._files = [
            write_properties(work / f"side-{number}", _properties(side)) for number, side in enumerate(sides)
        ]
        self._topics = count()
        hq.create_topic("paced", partitions=1)
        self._pacers = [
            stack.enter_context(WarmJvm(self._java, work, [], ["Pace", file, "paced", RECORD_BYTES], CLIENT))
            for file in self._files
        ]

    def measure(self) -> Iterator[bool]:
        """Print every figure; gives whether each goal is met."""
        idle = {side.name: side.processes.resident() for side in self._sides if side.processes}
        yield from self._connections()
        yield from self._latency()
        with self._mover(self._files[0]) as jvm:
            jvm.ask("create consumed")
            jvm.ask(f"produce consumed {self._size.consume}")
        consumed = self._moved("consume", self._consume, self._size.consume)
        produced = self._moved("produce", self._produce, self._size.produce)
        yield from _throughput("consume", consumed, self._size.consume, 1.0)
        yield from _throughput("produce", produced, self._size.produce, 1.5)
        yield from self._memory(idle)

    def _mover(self, file: Path) -> WarmJvm:
        return WarmJvm(self._java, self._work, [], ["Throughput", file, RECORD_BYTES], CLIENT)

    def _moved(self, name: str, work: Callable[[WarmJvm], float], records: int) -> dict[str, Measured]:
        taken = {side.name: Measured() for side in self._sides}
        for fork in range(self._size.forks):
            with ExitStack() as stack:
                jvms = [stack.enter_context(self._mover(file)) for file in self._files]
                # This round warms the JVMs up.
                for jvm in jvms:
                    work(jvm)
                for measured in taken.values():
                    measured.add_fork()
                runs = [
                    partial(self._timed, side, jvm, work, taken[side.name])
                    for side, jvm in zip(self._sides, jvms, strict=True)
                ]
                for number, seconds in enumerate(in_turns(runs, self._size.rounds), 1):
                    shown = ", ".join(
                        f"{side.name} {took:.2f}" for side, took in zip(self._sides, seconds, strict=True)
                    )
                    say(f"     {name} fork {fork + 1} round {number}: {shown} s for {records} records")
        return taken

    def _timed(self, side: Side, jvm: WarmJvm, work: Callable[[WarmJvm], float], measured: Measured) -> float:
        before = side.processes.seconds() if side.processes else 0.0
        took = work(jvm)
        measured.seconds[-1].append(took)
        measured.busy[-1].append(side.processes.seconds() - before if side.processes else 0.0)
        return took

    def _consume(self, jvm: WarmJvm) -> float:
        return jvm.ask(f"consume consumed {self._size.consume}")

    def _produce(self, jvm: WarmJvm) -> float:
        topic = f"produced-{next(self._topics)}"
        jvm.ask(f"create {topic}")
        seconds = jvm.ask(f"produce {topic} {self._size.produce}")
        jvm.ask(f"delete {topic}")
        return seconds

    def _connections(self) -> Iterator[bool]:
        runs = [partial(connect, side.bootstrap, "paced", _CONNECTIONS) for side in self._sides]
        # A second each, so there are as many as of all forks.
        _, _, *rounds = in_turns(runs, self._size.forks * self._size.rounds + 2)
        direct = fmean(taken[0] for taken in rounds) / _CONNECTIONS
        say(f"connect, ApiVersions, Metadata: direct {direct * 1e3:.2f} ms")
        for number, side in enumerate(self._sides[1:], 1):
            ratio = interval([taken[number] / taken[0] for taken in rounds])
            if side.name.startswith("proxy"):
                yield verdict(f"{side.name} / direct", ratio.show(2), "<= 1.4", ratio.mean <= 1.4)
            else:
                say(f"     {side.name} / direct: {ratio.show(2)}")

    def _latency(self) -> Iterator[bool]:
        records = _RATE * 3
        runs = [partial(jvm.ask, f"{_RATE} {records}") for jvm in self._pacers]
        _, *rounds = in_turns(runs, self._size.rounds + 1)
        medians = {side.name: [taken[number] for taken in rounds] for number, side in enumerate(self._sides)}
        shown = ", ".join(f"{name} {fmean(values) * 1e6:.0f}" for name, values in medians.items())
        say(f"median of a produce at {_RATE} records/s, microseconds: {shown}")
        for name in (OURS, OURS_TWICE):
            added = interval([ours - theirs for ours, theirs in zip(medians[name], medians[NGINX], strict=True)])
            met = added.mean <= 60e-6
            yield verdict(f"{name} - nginx", f"{added.mean * 1e6:.0f} us", "<= 60 us", met)

    def _memory(self, idle: dict[str, int]) -> Iterator[bool]:
        after = {side.name: side.processes.resident_peak() for side in self._sides if side.processes}
        for side, file in zip(self._sides, self._files, strict=True):
            large = write_properties(file.with_suffix(".large"), _properties(side) | _LARGE_FETCH)
            with self._mover(large) as jvm:
                self._consume(jvm)
        for side in self._sides:
            if side.processes is None:
                continue
            largest = side.processes.resident_peak()
            shown = " / ".join(f"{size / _MIB:.0f}" for size in (idle[side.name], after[side.name], largest))
            name = f"{side.name}, MiB idle / at most / with 50 MB fetches"
            if side.name.startswith("proxy"):
                yield verdict(name, shown, "<= 60 MiB", largest <= 60 * _MIB)
            else:
                say(f"     {name}: {shown}")


def _throughput(name: str, taken: dict[str, Measured], records: int, bound: float) -> Iterator[bool]:
    for side, measured in taken.items():
        rate = records * RECORD_BYTES / fmean(chain.from_iterable(measured.seconds)) / 1e6
        to_direct, cost = measured.ratios(taken["direct"]).show(3), measured.per_gib(records)
        say(f"{name}, {side}: {rate:.0f} MB/s, to direct {to_direct}, processor {cost:.2f} s per GiB")
    for ours in (OURS, OURS_TWICE):
        ratio = taken[ours].ratios(taken[NGINX])
        yield verdict(f"{name}, {ours} / nginx", ratio.show(3), ">= 1", ratio.mean >= 1)
        cost = taken[ours].per_gib(records) / taken[NGINX].per_gib(records)
        yield verdict(f"{name}, processor, {ours} / nginx", f"{cost:.2f}", f"<= {bound}", cost <= bound)


def _properties(side: Side) -> dict[str, str]:
    return {"bootstrap.servers": str(side.bootstrap), "acks": "all", "linger.ms": "5", "batch.size": "65536"}
