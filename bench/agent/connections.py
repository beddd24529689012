"""Time added to opening one connection, in Kafka's own classes: see `java/Connections.java`.

Two JVMs take turns, one without an agent that dials where it listens, one with agent and map that dials a dead address.
"""

from contextlib import ExitStack
from pathlib import Path
from statistics import fmean

from bench.agent.jvms import WarmJvm, free_port, write_properties
from bench.ratios import in_turns, interval
from bench.report import verdict

from brokernat.address import AddressMap
from brokernat.jvm import find_java, javaagent_option

GOAL_US = 50
WARM_UP = 20_000
CONNECTIONS = 2_000
ADVERTISED = "127.200.0.3"
"""Nothing listens there; it is the last of the rules, so that all of them are looked at."""


def measure(work: Path, *, rounds: int) -> bool:
    """Open `CONNECTIONS` connections in each of `rounds` rounds on both sides."""
    file = write_properties(work / "connections", {"bootstrap.servers": "127.0.0.1:1"})
    java = find_java().binary
    with ExitStack() as stack:
        here, there = free_port(), free_port()
        rules = f"127.200.0.1:9092=127.0.0.1:1,127.200.0.2:9092=127.0.0.1:1,{ADVERTISED}:9092=127.0.0.1:{there}"
        agent = [javaagent_option(AddressMap.parse(rules))]
        plain = stack.enter_context(WarmJvm(java, work, [], ["Connections", file, "127.0.0.1", here, here]))
        mapped = stack.enter_context(WarmJvm(java, work, agent, ["Connections", file, ADVERTISED, 9092, there]))
        for jvm in (plain, mapped):
            jvm.ask(str(WARM_UP))
        runs = [lambda: plain.ask(str(CONNECTIONS)), lambda: mapped.ask(str(CONNECTIONS))]
        taken = list(in_turns(runs, rounds))
    added = interval([with_map - without for without, with_map in taken])
    bare = fmean(without for without, _ in taken)
    return verdict(
        "opening a connection", f"+{added.show(1)} us on {bare:.1f} us", f"<= {GOAL_US} us", added.high <= GOAL_US
    )
