"""A pipeline against the job that a good engineer writes by hand: `python -m bench.pipelines.against_hand`.

Both drain the same topic of orders into tags and dead letters, in turns and in warm JVMs: hand, product, hand. The job
by hand has from_json, a broadcast join, the topic by row and the client settings of the product, and dials the brokers
directly; it neither names what is wrong with a record nor counts.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from bench.pipelines.job import DEAD_LETTERS, ORDERS, TAGS, Work
from bench.pipelines.sides import BROKERS, servers, source_of_pipeline, write_files
from bench.ratios import interval_of_forks
from bench.report import describe_machine, keep_files_in_memory, say, verdict

from brokernat.config import Cluster
from brokernat.testbed import LoopbackWorld, Record

_BATCH_RECORDS = 1_000
"""Of each partition in one write of orders."""
_BROKEN_EVERY = 200
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Drain:
    """Seconds, and CPU seconds of all processes of the application."""

    seconds: float
    cpu: float


class Application:
    """A job.py that runs and drains when it is told to."""

    def __init__(self, side: str, work: Work) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("job.py")), side, json.dumps(asdict(work))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=Path(work.folder, f"{side}.log").open("ab"),  # noqa: SIM115 - the process has it as long as it runs
            text=True,
        )
        self._side = side

    def drain(self, name: str, records: int) -> Drain:
        """Everything that the topic holds."""
        assert self._process.stdin
        assert self._process.stdout
        before = self._cpu()
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._side} has ended with {self._process.wait()}; see its log")
        answer = json.loads(line)
        assert answer["rows"] == records, answer
        return Drain(float(answer["seconds"]), self._cpu() - before)

    def memory(self) -> float:
        """The peak of all its processes so far, MiB."""
        return sum(_status(process, "VmHWM") for process in self._processes()) / 1024

    def end(self) -> None:
        """Let it end by itself."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def _cpu(self) -> float:
        return sum(_cpu_seconds(process) for process in self._processes())

    def _processes(self) -> list[int]:
        found = [self._process.pid]
        for process in found:
            children = Path(f"/proc/{process}/task").glob("*/children")
            with contextlib.suppress(OSError):
                found += [int(child) for file in children for child in file.read_text().split()]
        return found


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.pipelines.against_hand", description=__doc__)
    parser.add_argument("--records", type=int, default=4_000_000, help="of one drain; default %(default)s")
    parser.add_argument("--forks", type=int, default=3, help="times the applications start; default %(default)s")
    parser.add_argument("--pairs", type=int, default=3, help="rounds of each fork; default %(default)s")
    parser.add_argument("--batch", type=int, default=500_000, help="records of one batch; default %(default)s")
    parser.add_argument("--partitions", type=int, default=4, help="of the source; default %(default)s")
    parser.add_argument("--reference", type=int, default=100_000, help="rows of the reference; default %(default)s")
    parser.add_argument("--executors", type=int, default=0, help="of one core each; default: local[2]")
    parser.add_argument("--transform", action="store_true", help="with the demo's transform; default: without")
    parser.add_argument("--through-gateway", action="store_true", help="the pipeline reads through map and nginx")
    wanted = parser.parse_args()
    describe_machine("Spark")
    keep_files_in_memory()
    with (
        LoopbackWorld(hq=BROKERS, local=BROKERS) as world,
        tempfile.TemporaryDirectory(prefix="brokernat-bench-") as place,
        source_of_pipeline(world, Path(place), through_nginx=wanted.through_gateway) as source,
    ):
        work = prepare(world, source, Path(place), wanted)
        forks, memory = [], []
        for fork in range(wanted.forks):
            with _applications(work) as (hand, product):
                rounds = list(_rounds(hand, product, fork, wanted.pairs, wanted.records))
                forks.append(rounds)
                memory.append((hand.memory(), product.memory()))
    return 0 if _report(forks, memory, wanted) else 1


def prepare(world: LoopbackWorld, source: Cluster, folder: Path, wanted: argparse.Namespace) -> Work:
    """Topics, records and files."""
    small = {"retention.bytes": str(64 << 20), "segment.bytes": str(32 << 20)}
    world.hq.create_topic(ORDERS, partitions=wanted.partitions, replicas=1)
    world.local.create_topic(TAGS, partitions=4, replicas=1, configs=small)
    world.local.create_topic(DEAD_LETTERS, partitions=4, replicas=1, configs=small)
    piece = [_order(number, wanted.reference) for number in range(_BATCH_RECORDS * wanted.partitions)]
    for first in range(0, wanted.records, len(piece)):
        world.hq.write(ORDERS, piece[: wanted.records - first])
    changes = {"transform": "my_tags:tag"} if wanted.transform else {}
    (folder / "my_tags.py").write_text(_TRANSFORM)
    write_files(folder, source, world.local.direct, wanted.reference, wanted.batch, changes)
    master = f"local-cluster[{wanted.executors},1,2048]" if wanted.executors else "local[2]"
    return Work(
        str(folder), master, servers(world.hq.direct), servers(world.local.direct), wanted.batch, wanted.transform
    )


_TRANSFORM = """\
from pyspark.sql import functions as F


def tag(orders):
    big = F.when(F.col("amount") >= 500, "big").otherwise("small")
    return orders.withColumn("tag", F.concat_ws("-", "segment", "region", big))
"""


def _order(number: int, customers: int) -> Record:
    customer = f"c{number * 7919 % customers}"
    fields = {
        "order_id": f"o{number:08d}",
        "customer_id": customer,
        "amount": number % 90_000 / 100,
        "at": f"2026-01-05T08:{number // 60 % 60:02d}:{number % 60:02d}Z",
        "comment": "as agreed with the customer on the telephone; please deliver in the morning, first floor",
    }
    text = json.dumps(fields)
    return Record(key=customer.encode(), value=text[: -9 if number % _BROKEN_EVERY == 0 else None].encode())


@contextlib.contextmanager
def _applications(work: Work) -> Iterator[tuple[Application, Application]]:
    from pyspark.sql import SparkSession  # noqa: F401 - fails here and not in a log where it is not installed

    with contextlib.ExitStack() as stack:
        product, hand = (Application(side, work) for side in ("product", "hand"))
        stack.callback(product.end)
        stack.callback(hand.end)
        yield hand, product


def _rounds(
    hand: Application, product: Application, fork: int, pairs: int, records: int
) -> Iterator[tuple[Drain, Drain, Drain]]:
    """hand, product, hand again; the first round warms both up, each by two drains, and is left out."""
    product.drain(f"{fork}-warm", records)
    for number in range(pairs + 1):
        first, middle, last = (
            side.drain(f"{fork}-{number}-{turn}", records) for turn, side in enumerate((hand, product, hand))
        )
        say(
            f"     fork {fork} round {number}: hand {first.seconds:.1f} s {first.cpu:.1f} CPU s, product "
            f"{middle.seconds:.1f} s {middle.cpu:.1f} CPU s, hand {last.seconds:.1f} s {last.cpu:.1f} CPU s"
        )
        if number:
            yield first, middle, last


def _report(
    forks: Sequence[Sequence[tuple[Drain, Drain, Drain]]],
    memory: Sequence[tuple[float, float]],
    wanted: argparse.Namespace,
) -> bool:
    speed = [[fmean((a.seconds, b.seconds)) / own.seconds for a, own, b in rounds] for rounds in forks]
    cpu = [[own.cpu / fmean((a.cpu, b.cpu)) for a, own, b in rounds] for rounds in forks]
    control = [[a.seconds / b.seconds for a, _, b in rounds] for rounds in forks]
    say(f"hand / hand (A/A)  {interval_of_forks(control).show(3)}")
    for name, place in (("hand", 0), ("product", 1)):
        drains = [drain for rounds in forks for each in rounds for drain in (each[0], each[1])[place : place + 1]]
        rate, used = fmean(wanted.records / d.seconds for d in drains), fmean(d.cpu for d in drains)
        peak = max(pair[place] for pair in memory)
        say(
            f"{name:8} {rate:,.0f} records/s, {used / wanted.records * 1e6:.2f} CPU s per million records, "
            f"{peak:,.0f} MiB at most"
        )
    goal = 1.0 if wanted.transform else 1.2
    goal *= 0.95 if wanted.through_gateway else 1
    faster, used_cpu = interval_of_forks(speed), interval_of_forks(cpu)
    met = verdict("drain, rate against the job by hand", faster.show(3), f">= {goal:.2f}", faster.mean >= goal)
    if wanted.transform:
        say(f"     CPU seconds against the job by hand: {used_cpu.show(3)}")
        return met
    return (
        verdict("drain, CPU seconds against the job by hand", used_cpu.show(3), "<= 0.90", used_cpu.mean <= 0.9) and met
    )


def _cpu_seconds(process: int) -> float:
    """Of a process and of those of its children that have ended; 0 when it has ended itself."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / _TICK
    return 0.0


def _status(process: int, name: str) -> int:
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith(name)), 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
