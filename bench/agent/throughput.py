"""Consuming and producing with agent and map against direct without agent; beside it direct against direct.

The brokers have two listeners. One advertises addresses that are dead here; it is used with a map to the address where
it is bound, so that no gateway stands between. The other advertises what it binds and is used without an agent. Same
brokers, same topic; three warm JVMs take turns, and are started anew several times.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from bench.agent.jvms import WarmJvm, write_properties
from bench.ratios import in_turns
from bench.report import RECORD_BYTES, compare

from brokernat.address import AddressMap
from brokernat.jvm import find_java, javaagent_option
from brokernat.testbed import LoopbackWorld, RunningCluster

Run = Callable[[WarmJvm], float]


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    forks: int
    """Times that all JVMs are started anew."""
    pairs: int
    """Of one fork, in each direction."""
    consume: int
    """Records of one run."""
    produce: int
    """Records of one run."""


def measure(work: Path, size: Size) -> Iterator[bool]:
    """Both directions; the figure of each is the lower end of its interval."""
    with LoopbackWorld(local=None) as world:
        with _three_jvms(work, world.hq) as (first, *_):
            first.ask("create consumed")
            first.ask(f"produce consumed {size.consume}")
        runs: dict[str, Run] = {"consume": _consume(size.consume), "produce": _produce(size.produce)}
        taken: dict[str, list[list[list[float]]]] = {direction: [] for direction in runs}
        for _ in range(size.forks):
            with _three_jvms(work, world.hq) as jvms:
                for direction, run in runs.items():
                    turns = [partial(run, jvm) for jvm in jvms]
                    _, *rounds = in_turns(turns, size.pairs + 1)
                    taken[direction].append(rounds)
    yield compare("consume", "agent", size.consume, taken["consume"])
    yield compare("produce", "agent", size.produce, taken["produce"])


@contextmanager
def _three_jvms(work: Path, hq: RunningCluster) -> Iterator[tuple[WarmJvm, WarmJvm, WarmJvm]]:
    """Direct, agent, direct."""
    bound = AddressMap.parse(",".join(f"{hq.advertised[node]}={hq.bound[node]}" for node in hq.nodes))
    direct = write_properties(work / "direct", _properties(map(str, hq.direct.bootstrap_servers)))
    mapped = write_properties(work / "mapped", _properties(map(str, hq.bound.values())))
    java = find_java().binary
    with (
        WarmJvm(java, work, [], ["Throughput", direct, RECORD_BYTES]) as first,
        WarmJvm(java, work, [javaagent_option(bound)], ["Throughput", mapped, RECORD_BYTES]) as agent,
        WarmJvm(java, work, [], ["Throughput", direct, RECORD_BYTES]) as again,
    ):
        yield first, agent, again


def _properties(bootstrap: Iterable[str]) -> dict[str, str]:
    # Kafka's defaults but for the batches: with linger 0 a run measures requests, not records.
    return {"bootstrap.servers": ",".join(bootstrap), "acks": "all", "linger.ms": "5", "batch.size": "65536"}


def _consume(records: int) -> Run:
    return lambda jvm: jvm.ask(f"consume consumed {records}")


def _produce(records: int) -> Run:
    # Each run has a topic of its own: brokers delete in the background, and a name that comes back at once meets that.
    names = (f"produced-{number}" for number in count())

    def run(jvm: WarmJvm) -> float:
        topic = next(names)
        jvm.ask(f"create {topic}")
        seconds = jvm.ask(f"produce {topic} {records}")
        jvm.ask(f"delete {topic}")
        return seconds

    return run
