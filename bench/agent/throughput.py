"""Consuming and producing with agent and map against direct without agent; beside it direct against direct.

The brokers have two listeners. One advertises addresses that are dead here; it is used with a map to the address where
it is bound, so that no gateway stands between. The other advertises what it binds and is used without an agent. Same
brokers, same topic; three warm JVMs take turns.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from bench.agent.jvms import WarmJvm, write_properties
from bench.agent.ratios import in_turns, interval
from bench.agent.report import say, verdict

from brokernat.address import AddressMap
from brokernat.jvm import find_java, javaagent_option
from brokernat.testbed import LoopbackWorld, RunningCluster

RECORD_BYTES = 170
FLOOR, GOAL = 0.97, 0.99


@dataclass(frozen=True)
class Size:
    """How much is measured: pairs, and records of one consuming and one producing run."""

    pairs: int
    consume: int
    produce: int


def measure(work: Path, size: Size) -> Iterator[bool]:
    """Both directions; the figure of each is the lower end of its interval."""
    with LoopbackWorld(local=None) as world, ExitStack() as stack:
        jvms = [stack.enter_context(jvm) for jvm in _jvms(work, world.hq)]
        jvms[0].ask("create consumed")
        jvms[0].ask(f"produce consumed {size.consume}")
        yield _direction("consume", [partial(_consume, jvm, size.consume) for jvm in jvms], size.consume, size.pairs)
        yield _direction("produce", [partial(_produce, jvm, size.produce) for jvm in jvms], size.produce, size.pairs)


def _jvms(work: Path, hq: RunningCluster) -> Iterator[WarmJvm]:
    """Direct, agent, direct."""
    bound = AddressMap.parse(",".join(f"{hq.advertised[node]}={hq.bound[node]}" for node in hq.nodes))
    direct = write_properties(work / "direct", _properties(map(str, hq.direct.bootstrap_servers)))
    mapped = write_properties(work / "mapped", _properties(map(str, hq.bound.values())))
    java = find_java().binary
    for file, options in ((direct, []), (mapped, [javaagent_option(bound)]), (direct, [])):
        yield WarmJvm(java, work, options, ["Throughput", file, RECORD_BYTES])


def _properties(bootstrap: Iterable[str]) -> dict[str, str]:
    # Kafka's defaults but for the batches: with linger 0 a run measures requests, not records.
    return {"bootstrap.servers": ",".join(bootstrap), "acks": "all", "linger.ms": "5", "batch.size": "65536"}


def _consume(jvm: WarmJvm, records: int) -> float:
    return jvm.ask(f"consume consumed {records}")


def _produce(jvm: WarmJvm, records: int) -> float:
    jvm.ask("create produced")
    try:
        return jvm.ask(f"produce produced {records}")
    finally:
        jvm.ask("delete produced")


def _direction(name: str, runs: Sequence[Callable[[], float]], records: int, pairs: int) -> bool:
    for run in runs:
        run()
    rounds = list(in_turns(runs, pairs))
    # Seconds of the first direct run over seconds of the other: above 1 the other was faster.
    agent = [direct / other for direct, other, _ in rounds]
    control = [direct / again for direct, _, again in rounds]
    seconds = fmean(direct for direct, _, _ in rounds)
    say(f"{name}: {records} records of {RECORD_BYTES} B, direct {seconds:.1f} s, {records / seconds:,.0f} records/s")
    say(f"     agent / direct   {' '.join(f'{ratio:.3f}' for ratio in agent)}")
    say(f"     direct / direct  {' '.join(f'{ratio:.3f}' for ratio in control)}")
    say(f"     direct / direct (A/A)  {interval(control).show(4)}")
    figure = interval(agent)
    goal = f"lower end >= {GOAL}, floor {FLOOR}"
    return verdict(f"{name}, agent / direct", figure.show(4), goal, figure.low >= FLOOR)
