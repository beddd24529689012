"""Provoke what clients log: `.venv/bin/python -m tests.vectors.log_lines.capture WORK [PHASE...]`.

Every line goes to `WORK/<phase>-<process>.jsonl` with its client, version and situation. `pick.py` makes the vectors of
them.
Needs Java, node with kafkajs in `WORK/node_modules` (`npm install kafkajs --prefix WORK`), and kcat.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.vectors.log_lines.capture.clients import (
    Java,
    Kcat,
    Line,
    Spark,
    Spring,
    compile_java,
    kafka_python_2,
    kafkajs,
    python,
)
from tests.vectors.log_lines.capture.stage import VERSION, Situation, Stage, forwarding, stage

from brokernat.clients.librdkafka import plugin_library

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSIONS = ("2.4.1", "2.8.2", "3.0.2", "3.4.1", "3.9.2", "4.0.2", "4.4.0")
EDGES = ("2.4.1", "4.4.0")
_AT_ONCE = 4
PHASES = ("dead", "swapped", "foreign", "partly")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("phases", nargs="*", default=PHASES)
    parser.add_argument("--clients", nargs="*", default=[])
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    compile_java(options.work)
    with TemporaryDirectory() as stores, stage(Path(stores)) as it:
        for phase in options.phases:
            with forwarding(it.forwards(phase)):
                _write(options.work / f"{phase}-{os.getpid()}.jsonl", it, phase, set(options.clients))


def _write(file: Path, it: Stage, phase: str, chosen: set[str]) -> None:
    plan = [
        (client, situations)
        for client, situations in _plan(it, phase, file.parent)
        if not chosen or client.name in chosen
    ]
    # Most of them wait for time-outs most of the time.
    with file.open("w") as output, ThreadPoolExecutor(_AT_ONCE) as pool:
        running = {pool.submit(_lines, *each, file.parent): each for each in plan}
        for done in as_completed(running):
            client, situations = running[done]
            hows = {each.name: each.how for each in situations}
            for line in done.result():
                output.write(json.dumps(asdict(line) | {"how": hows[line.situation]}) + "\n")
            sys.stderr.write(f"{phase}: {client.name} {client.version}\n")
        it.visit()
        for cluster in (it.world.hq, it.world.local):
            for node in cluster.nodes:
                for text in cluster.log(node).read_text().splitlines():
                    line = Line("broker", VERSION, phase, text)
                    output.write(json.dumps(asdict(line) | {"how": "what the clients tried"}) + "\n")


def _lines(client: Any, situations: list[Situation], work: Path) -> list[Line]:
    return list(client.run(situations, work))


def _plan(it: Stage, phase: str, work: Path) -> Iterator[tuple[Any, list[Situation]]]:
    situations = it.situations(phase)
    versions = VERSIONS if phase == "dead" else EDGES
    for version in versions:
        yield (
            Java(version),
            [each for each in situations if not each.alone or each.name == "healthy" or version in EDGES],
        )
    if phase == "dead":
        logins = [each for each in situations if each.name == "no-right"]
        for version in ("2.4.1", "3.4.1"):
            old = [replace(each, name="java-25", how="SASL on Java 25") for each in logins]
            yield Java(version, "/usr/lib/jvm/temurin-25-jdk-amd64/bin/java"), old
        for version in EDGES:
            yield Java(version, agent=True), _mapped(it)
        yield python("confluent-kafka", "2.16.1"), [replace(each, plugin=str(plugin_library())) for each in _mapped(it)]
        yield python("kafka-python", "3.0.12"), _mapped(it)[:1]
        yield python("aiokafka", "0.14.0"), _mapped(it)[:1]
    chosen = {"advertised-dead", "no-topic", "bootstrap-refused", "too-large", "tls-to-plain", "partly-0", "swapped"}
    yield Spark("4.3.0"), [each for each in situations if each.name in chosen]
    if phase == "dead":
        yield Spring("2.8.11"), [each for each in situations if each.name == "bootstrap-refused"]
        yield Spark("4.3.0", connector=False), [replace(situations[0], name="no-connector", how="no connector")]
    alive = [each for each in situations if each.name != "bootstrap-url"]
    yield python("confluent-kafka", "2.16.1"), alive
    yield Kcat("1.7.1"), alive
    yield python("kafka-python", "3.0.12"), alive
    yield kafka_python_2(), alive
    yield python("aiokafka", "0.14.0"), alive
    yield kafkajs("2.2.4", str(work / "node_modules")), alive


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
