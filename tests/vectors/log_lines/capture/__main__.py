"""Provoke what clients log: `.venv/bin/python -m tests.vectors.log_lines.capture WORK [PHASE...]`.

Every line goes to `WORK/<phase>.jsonl` with its client, version and situation. `pick.py` makes the vectors of them.
Needs Java, node with kafkajs in `WORK/node_modules` (`npm install kafkajs --prefix WORK`), and kcat.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.vectors.log_lines.capture.clients import Java, Kcat, Line, kafka_python_2, kafkajs, python
from tests.vectors.log_lines.capture.stage import Situation, Stage, forwarding, stage

from brokernat.clients.librdkafka import plugin_library

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSIONS = ("2.4.1", "2.8.2", "3.0.2", "3.4.1", "3.9.2", "4.0.2", "4.4.0")
PHASES = ("dead", "swapped", "foreign", "partly")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("phases", nargs="*", default=PHASES)
    parser.add_argument("--clients", nargs="*", default=[])
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    with stage(options.work) as it:
        for phase in options.phases:
            with forwarding(it.forwards(phase)):
                _write(options.work / f"{phase}.jsonl", it, phase, set(options.clients))


def _write(file: Path, it: Stage, phase: str, chosen: set[str]) -> None:
    with file.open("a") as output:
        for client, situations in _plan(it, phase, file.parent):
            if chosen and client.name not in chosen and f"{client.name}-{client.version}" not in chosen:
                continue
            hows = {each.name: each.how for each in situations}
            for line in client.run(situations, file.parent):
                output.write(json.dumps(asdict(line) | {"how": hows[line.situation]}) + "\n")
            output.flush()
            sys.stderr.write(f"{phase}: {client.name} {client.version}\n")
        for cluster in (it.world.hq, it.world.local):
            for node in cluster.nodes:
                for text in cluster.log(node).read_text().splitlines():
                    line = Line("broker", "4.4.0", phase, text)
                    output.write(json.dumps(asdict(line) | {"how": "the clients' attempts"}) + "\n")


def _plan(it: Stage, phase: str, work: Path) -> Iterator[tuple[Any, list[Situation]]]:
    situations = it.situations(phase)
    versions = VERSIONS if phase == "dead" else ("2.4.1", "3.9.2", "4.4.0")
    for version in versions:
        yield Java(version), situations
    if phase == "dead":
        logins = [each for each in situations if each.name == "no-right"]
        for version in ("2.4.1", "3.4.1"):
            old = [replace(each, name="java-25", how="SASL on Java 25") for each in logins]
            yield Java(version, "/usr/lib/jvm/temurin-25-jdk-amd64/bin/java"), old
        for version in ("2.4.1", "4.4.0"):
            yield Java(version, agent=True), _mapped(it)
        yield python("confluent-kafka", "2.16.1"), [replace(each, plugin=str(plugin_library())) for each in _mapped(it)]
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
