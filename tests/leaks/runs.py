"""One run: clients through the proxy while brokers move, and what each of them received."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.leaks.families import Family, Outcome, Target, read_so_far
from tests.leaks.proxies import RunningProxy, proxy
from tests.leaks.recorder import Recorder, recording
from tests.leaks.scan import Scan, Stream, scanned
from tests.leaks.upstream import PROXY_PORT, Upstream, coordinator, give_back_leaders, ports
from tests.matrix.traffic import State, Traffic

from brokernat.address import Endpoint
from brokernat.testbed import Advertise, ClusterOptions, RunningCluster, Topic
from brokernat.testbed.running_cluster import config_text

_AT_ONCE = 3
_MORE = 50
"""Records that a client must send and read after each move."""


@dataclass(frozen=True)
class ProxiedCluster:
    """Brokers, the proxy in front of them, the recorder in front of that."""

    upstream: Upstream
    proxy: RunningProxy
    recorder: Recorder
    folder: Path

    def target(self, family: Family) -> Target:
        """What a client of this family is told; each has topics of its own."""
        name = f"{family.name.replace(' ', '-')}-{uuid.uuid4().hex[:6]}"
        work = self.folder / name
        work.mkdir()
        brokers = self.upstream.hq.plan.options.version
        return Target(Endpoint(self.upstream.advertised_host, PROXY_PORT), name, brokers, work)

    def scans(self, families: Sequence[Family]) -> dict[str, Scan]:
        """What clients received since the last call, by family; every connection belongs to one."""
        owned: dict[str, list[Stream]] = {family.name: [] for family in families}
        for stream in self.recorder.take():
            owner = next((f.name for f in families if stream.client_id.startswith(f.client_id)), None)
            # A connection that ended before its first request got nothing that has to be anybody's.
            assert owner or not stream.received, f"whose is client id {stream.client_id!r}?"
            if owner:
                owned[owner].append(stream)
        return {name: scanned(streams, self.upstream.needles) for name, streams in owned.items()}


@dataclass(frozen=True)
class Run:
    """What became of one family's clients."""

    outcome: Outcome
    scan: Scan

    @property
    def faults(self) -> list[str]:
        """Roles that did not do their work, and leaks."""
        roles = [f"{role}: {fault}" for role, fault in self.outcome.items() if fault != "ok"]
        return roles + [f"leak: {hit}" for hit in self.scan.leaks]


@contextmanager
def proxied_cluster(version: str, folder: Path) -> Iterator[ProxiedCluster]:
    """Three brokers of a version that advertise names nobody resolves, behind the proxy."""
    options = ClusterOptions(version=version, advertise=Advertise.NAME)
    with ExitStack() as stack:
        upstream = stack.enter_context(Upstream(hq=options, local=None))
        config = folder / "brokernat.yaml"
        config.write_text(config_text([upstream.hq]))
        listen = Endpoint(upstream.proxy_host, PROXY_PORT)
        running = stack.enter_context(proxy(config, listen, "--advertise", upstream.advertised_host))
        recorder = stack.enter_context(recording(upstream.advertised_host, listen.host, ports(upstream.hq)))
        yield ProxiedCluster(upstream, running, recorder, folder)


def run_all(it: ProxiedCluster, families: Sequence[Family]) -> dict[str, Run]:
    """Every family's roles, then all of them at once while a coordinator dies, comes back, and leaders move."""
    targets = [it.target(family) for family in families]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        done = list(pool.map(lambda pair: pair[0].exercise(pair[1]), zip(families, targets, strict=True)))
    outcomes = {family.name: outcome for family, outcome in zip(families, done, strict=True)}
    moved = _while_brokers_move(it, families)
    scans = it.scans(families)
    return {name: Run({**outcome, **moved[name]}, scans[name]) for name, outcome in outcomes.items()}


def _while_brokers_move(it: ProxiedCluster, families: Sequence[Family]) -> dict[str, Outcome]:
    hq = it.upstream.hq
    targets = {family.name: it.target(family) for family in families}
    hq.create_topics([Topic(target.topic, partitions=3, replicas=3) for target in targets.values()])
    preferred = {target.topic: hq.leaders(target.topic) for target in targets.values()}
    with ExitStack() as programs:
        running = {f.name: programs.enter_context(f.traffic(targets[f.name])) for f in families}
        _progress(running)
        killed = coordinator(hq, f"traffic-{next(iter(preferred))}")
        hq.kill(killed)
        _progress(running)
        hq.start(killed)
        give_back_leaders(hq, preferred)
        _progress(running)
        ends = {name: one.ask("stop") for name, one in running.items()}
    return {name: {"traffic while brokers move": _account(hq, targets[name], end)} for name, end in ends.items()}


def _account(hq: RunningCluster, target: Target, end: State) -> str:
    """`ok`, or what was acknowledged and not read; what the topic holds tells the producer's fault from the group's."""
    if end["lost"] == 0:
        return "ok"
    held = len({record.value for record in hq.read(target.topic)})
    return f"{end['lost']} of {end['acked']} acknowledged records were not read; the topic holds {held}"


def _progress(running: dict[str, Traffic]) -> None:
    """Every client got and gave some records more than before."""
    before = {name: one.ask() for name, one in running.items()}
    for name, one in running.items():
        one.until(partial(_went_on, before[name]), f"{name}: {_MORE} records more")


def _went_on(before: State, now: State) -> bool:
    return now["acked"] >= before["acked"] + _MORE and read_so_far(now) >= read_so_far(before) + _MORE
