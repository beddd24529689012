"""Provoke what clients log: `.venv/bin/python -m tests.vectors.log_lines.capture WORK [PHASE...]`.

Every line goes to `WORK/<phase>-<process>.jsonl` with its client, version and situation. `pick.py` makes the vectors of
them.
Needs Java, Go, node with kafkajs in `WORK/node_modules` (`npm install kafkajs --prefix WORK`), kcat, and for the oldest
libraries the Pythons that they are for (`clients.OLD_PYTHONS`).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from tests.vectors.log_lines.capture.clients import (
    Connect,
    Java,
    Kcat,
    Line,
    Spark,
    Spring,
    compile_java,
    go,
    kafka_python_2,
    kafkajs,
    old_python,
    proof,
    python,
)
from tests.vectors.log_lines.capture.fading import Fate, fading
from tests.vectors.log_lines.capture.small_worlds import OLD, beginning, estranged
from tests.vectors.log_lines.capture.stage import VERSION, Situation, Stage, forwarding, stage

from brokernat.clients.librdkafka import plugin_library
from brokernat.testbed import RunningCluster

VERSIONS = ("2.4.1", "2.8.2", "3.0.2", "3.4.1", "3.9.2", "4.0.2", "4.4.0")
EDGES = ("2.4.1", "4.4.0")
# Before these the words were others; they are older than what brokers of today speak to, and fail as people remember.
ANCIENT = ("0.10.1.1", "0.10.2.2", "2.0.1")
_AT_ONCE = 4
PHASES = ("dead", "swapped", "foreign", "partly", "ends", "sticks", "spark")
SMALL = ("beginning", "estranged")
_FATES = {"ends": Fate.ENDS, "sticks": Fate.STICKS}
_SPARK = {"advertised-dead", "no-topic", "bootstrap-refused", "too-large", "tls-to-plain", "partly-0", "swapped"}
_ANCIENT = {"advertised-dead", "advertised-name", "bootstrap-refused", "plain-to-tls", "untrusted", "tls-to-plain"}

Plan: TypeAlias = tuple[Any, list[Situation]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("phases", nargs="*", default=(*PHASES, *SMALL))
    parser.add_argument("--clients", nargs="*", default=[], metavar="NAME[=VERSION]")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    compile_java(options.work)
    phases = [phase for phase in options.phases if phase in PHASES]
    with TemporaryDirectory() as stores:
        if phases:
            with stage(Path(stores)) as it:
                for phase in phases:
                    pairs = it.forwards(phase)
                    with fading(pairs, _FATES[phase]) if phase in _FATES else forwarding(pairs):
                        file = options.work / f"{phase}-{os.getpid()}.jsonl"
                        _write(file, _plan(it, phase, options.work), phase, set(options.clients))
                        it.visit()
                        _write_brokers(file, phase, (it.world.hq, it.world.local))
        if "beginning" in options.phases:
            with beginning() as cluster:
                file = options.work / f"beginning-{os.getpid()}.jsonl"
                _write(file, _young(cluster, options.work), "beginning", set(options.clients))
        if "estranged" in options.phases:
            with estranged(VERSION) as cluster:
                _write_brokers(options.work / f"estranged-{os.getpid()}.jsonl", "estranged", (cluster,))


def _write(file: Path, plan: Iterable[Plan], phase: str, chosen: set[str]) -> None:
    # Most of them wait for time-outs most of the time.
    with file.open("w") as output, ThreadPoolExecutor(_AT_ONCE) as pool:
        running = {
            pool.submit(_lines, client, situations, file.parent): (client, situations)
            for client, situations in plan
            if not chosen or {client.name, f"{client.name}={client.version}"} & chosen
        }
        for done in as_completed(running):
            client, situations = running[done]
            hows = {each.name: each.how for each in situations}
            for line in done.result():
                output.write(json.dumps(asdict(line) | {"how": hows[line.situation]}) + "\n")
            sys.stderr.write(f"{phase}: {client.name} {client.version}\n")


def _write_brokers(file: Path, phase: str, clusters: Iterable[RunningCluster]) -> None:
    how = "two brokers that tell each other a name" if phase == "estranged" else "what the clients tried"
    with file.open("a") as output:
        for cluster in clusters:
            for node in cluster.nodes:
                for text in cluster.log(node).read_text().splitlines():
                    line = Line("broker", VERSION, phase, text)
                    output.write(json.dumps(asdict(line) | {"how": how}) + "\n")


def _lines(client: Any, situations: list[Situation], work: Path) -> list[Line]:
    return list(client.run(situations, work))


def _plan(it: Stage, phase: str, work: Path) -> Iterator[Plan]:
    situations = it.situations(phase)
    if phase == "spark":
        yield Spark("4.3.0"), situations
        yield proof(), _mapped(it)[:1]
        return
    versions = VERSIONS if phase == "dead" else (*EDGES, "3.4.1")
    for version in versions:
        yield (
            Java(version),
            [each for each in situations if not each.alone or each.name == "healthy" or version in EDGES],
        )
    if phase == "dead":
        yield from _once(it, situations)
    for_spark = [each for each in situations if each.name in _SPARK]
    if for_spark:
        yield Spark("4.3.0"), for_spark
    alive = [each for each in situations if each.name != "bootstrap-url"]
    yield python("confluent-kafka", "2.16.1"), alive
    yield Kcat("1.7.1"), alive
    yield python("kafka-python", "3.0.12"), alive
    yield kafka_python_2(), alive
    yield python("aiokafka", "0.14.0"), alive
    yield kafkajs("2.2.4", str(work / "node_modules")), alive
    for client in go(work):
        yield client, alive


def _once(it: Stage, situations: list[Situation]) -> Iterator[Plan]:
    """What depends on nothing but the client: old ones, mapped ones, other wrappers."""
    logins = [each for each in situations if each.name == "no-right"]
    for version in ("2.4.1", "3.4.1"):
        old = [replace(each, name="java-25", how="SASL on Java 25") for each in logins]
        yield Java(version, "/usr/lib/jvm/temurin-25-jdk-amd64/bin/java"), old
    for version in EDGES:
        yield Java(version, agent=True), _mapped(it)
    ancient = [each for each in situations if each.name in _ANCIENT]
    for version in ANCIENT:
        yield Java(version), [replace(each, alone=False) for each in ancient]
    for library, version in (("confluent-kafka", "1.6.0"), ("kafka-python", "2.0.2"), ("kafka-python", "1.4.7")):
        yield old_python(library, version), [*ancient, *(each for each in situations if each.name == "silent")]
    yield python("confluent-kafka", "2.16.1"), [replace(each, plugin=str(plugin_library())) for each in _mapped(it)]
    yield python("kafka-python", "3.0.12"), _mapped(it)[:1]
    yield python("aiokafka", "0.14.0"), _mapped(it)[:1]
    refused = [each for each in situations if each.name == "bootstrap-refused"]
    yield Spring("2.8.11"), refused
    yield Connect("3.4.1"), refused
    yield Spark("4.3.0", connector=False), [replace(situations[0], name="no-connector", how="no connector")]


def _young(cluster: RunningCluster, work: Path) -> Iterator[Plan]:
    how = f"a broker {OLD} that makes a topic when it is asked for, and lacks brokers for `__consumer_offsets`"
    begun = Situation("beginning", how, ",".join(map(str, cluster.bound.values())), debug="cgrp")
    clients = (
        *(Java(version) for version in ("2.0.1", *EDGES, "3.4.1")),
        python("confluent-kafka", "2.16.1"),
        Kcat("1.7.1"),
        python("kafka-python", "3.0.12"),
        kafka_python_2(),
        python("aiokafka", "0.14.0"),
        kafkajs("2.2.4", str(work / "node_modules")),
    )
    for number, client in enumerate(clients):
        yield client, [replace(begun, topic=f"orders-{number}")]


def _mapped(it: Stage) -> list[Situation]:
    hq = it.world.hq
    servers = ",".join(map(str, hq.reachable.values()))
    one = f"{hq.advertised[1]}={hq.reachable[1]}"
    return [
        Situation("map-incomplete", "a map with a rule for one of three brokers", servers, map=one),
        Situation("map-broken", "a map that cannot be read", servers, map="192.168.1.23=a:1"),
        Situation("map-unresolved", "a rule whose reachable side does not resolve", servers,
                  map=",".join(f"{each}=gateway.invalid:{each.port}" for each in hq.advertised.values())),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
