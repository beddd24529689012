"""Java's own Properties and Kafka's own KafkaConfig read the same files, and say the same.

What stops a broker here stops it there, and what it would advertise is the same, for the last versions with ZooKeeper
and of KRaft. Where versions differ, the case says so.
"""

from __future__ import annotations

import base64
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from brokernat.address import Endpoint
from brokernat.config.java_properties import parse_properties
from brokernat.doctor.broker_files.listeners import broker_listeners, parse_server_properties
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import BrokerFile, Evidence
from brokernat.doctor.finding import Severity
from brokernat.errors import ConfigError
from brokernat.jvm import find_java
from brokernat.render import Forward
from brokernat.render.broker_files import listeners
from brokernat.render.listeners_plan import Quorum, Wanted, plan_behind_nat, plan_listeners
from brokernat.testbed.broker import BrokerVersion

pytestmark = pytest.mark.integration

PROGRAM = Path(__file__).with_name("KafkaSays.java")
STOPS = {"BN811", "BN812", "BN813", "BN814", "BN815", "BN817", "BN819", "BN823"}
TIMEOUT = 180

BASE = "log.dirs=/tmp/none\n"
ZOOKEEPER = f"{BASE}zookeeper.connect=h:2181\nbroker.id=1\n"
KRAFT = f"{BASE}node.id=1\nprocess.roles=broker,controller\ncontroller.quorum.voters=1@h:9093\n"
COMBINED = f"{KRAFT}controller.listener.names=CONTROLLER\n"
BROKER = COMBINED.replace("broker,controller", "broker").replace("1@h", "9@h")
CONTROLLER = COMBINED.replace("broker,controller", "controller")
MAP = "listener.security.protocol.map=A:PLAINTEXT,B:SSL,C:SASL_SSL,CONTROLLER:PLAINTEXT\n"
OWN_IS_A = f"{MAP}inter.broker.listener.name=A\n"

EVERYWHERE = [
    "",
    "listeners=\n",
    "listeners=PLAINTEXT://h:1\n",
    "listeners=plaintext://h:1\n",
    "listeners=PLAINTEXT://h:1,\\\n  SSL://:2\n",
    "listeners=PLAINTEXT://[::1]:1\n",
    "listeners=PLAINTEXT://h_x:1\n",
    "listeners=PLAINTEXT://h\n",
    "listeners=h:1\n",
    "listeners=A://h:1\n",
    "listeners=PLAINTEXT://h:1\nlisteners=PLAINTEXT://g:2\n",
    "listeners=PLAINTEXT://h:1,PLAINTEXT://h:2\n",
    "listeners=PLAINTEXT://h:1,SSL://h:1\n",
    "listeners=PLAINTEXT://h:1,SSL://g:1\n",
    "listeners=PLAINTEXT://10.0.0.1:1,SSL://10.0.0.2:1\n",
    "listeners=PLAINTEXT://h:0,SSL://h:0\n",
    "listeners=SSL://h:1\n",
    "listeners=SSL://h:1\nsecurity.inter.broker.protocol=SSL\n",
    "listeners=PLAINTEXT://0.0.0.0:1\n",
    "listeners=PLAINTEXT://0.0.0.0:1\nadvertised.listeners=PLAINTEXT://h:1\n",
    "listeners=PLAINTEXT://:1\nadvertised.listeners=PLAINTEXT://0.0.0.0:1\n",
    "listeners=PLAINTEXT://:1\nadvertised.listeners=PLAINTEXT://h:9,SSL://h:8\n",
    "listeners=PLAINTEXT://:1,SSL://:2\nadvertised.listeners=PLAINTEXT://h:9\n",
    "listeners=PLAINTEXT://:1,SSL://:2\nadvertised.listeners=SSL://h:9\n",
    "listeners=PLAINTEXT://:1\nadvertised.listeners=\n",
    "listeners=PLAINTEXT://:1\nadvertised.listeners=PLAINTEXT://h:9,PLAINTEXT://h:8\n",
    f"{OWN_IS_A}listeners=A://:1,B://:2\nadvertised.listeners=A://h:1,B://g:2\n",
    f"{OWN_IS_A}listeners=A://:1,B://:2,D://:3\n",
    f"{OWN_IS_A}listeners=B://:2\n",
    f"{OWN_IS_A}listeners=A://:1\nsecurity.inter.broker.protocol=PLAINTEXT\n",
    f"{MAP}listeners=PLAINTEXT://:1\n",
    "listener.security.protocol.map=PLAINTEXT:TLS\n",
    "listener.security.protocol.map=PLAINTEXT\n",
    "listener.security.protocol.map=PLAINTEXT:plaintext , SSL : SSL\nlisteners=PLAINTEXT://h:1\n",
]
# Kafka 4.3 refuses them, and older releases do not.
EMPTY_ENTRIES = [
    "listeners=PLAINTEXT://h:1,\n",
    "listeners=,PLAINTEXT://h:1\n",
    "listeners=PLAINTEXT://h:1,,PLAINTEXT2://h:2\nlistener.security.protocol.map="
    "PLAINTEXT:PLAINTEXT,PLAINTEXT2:PLAINTEXT,CONTROLLER:PLAINTEXT\n",
    "listeners=PLAINTEXT://h:1\nadvertised.listeners=PLAINTEXT://g:1,\n",
]
OF_ZOOKEEPER = ["controller.listener.names=C\n"]
BEFORE_3_0 = [
    "host.name=h\n",
    "host.name=h\nport=7\n",
    "port=7\nadvertised.host.name=g\n",
    "listeners=PLAINTEXT://h:1\nadvertised.port=8\n",
    "advertised.host.name=g\nadvertised.listeners=PLAINTEXT://x:1\n",
]
OF_KRAFT = [
    f"{KRAFT}listeners=PLAINTEXT://h:1\n",
    f"{COMBINED}listeners=PLAINTEXT://h:1\n",
    f"{COMBINED}listeners=PLAINTEXT://h:1,CONTROLLER://h:2\n",
    f"{COMBINED}listeners=SSL://h:1,CONTROLLER://h:2\nsecurity.inter.broker.protocol=SSL\n",
    f"{COMBINED}listeners=CONTROLLER://h:2\n",
    f"{COMBINED}listeners=PLAINTEXT://h:1,CONTROLLER://h:1\n",
    f"{COMBINED}listeners=PLAINTEXT://0.0.0.0:1,CONTROLLER://h:2\nadvertised.listeners=PLAINTEXT://g:1\n",
    f"{COMBINED}listeners=PLAINTEXT://h:1,CONTROLLER://h:2\nadvertised.listeners=PLAINTEXT://g:1,CONTROLLER://g:2\n",
    f"{KRAFT}controller.listener.names=controller\nlisteners=PLAINTEXT://h:1,CONTROLLER://h:2\n",
    f"{COMBINED}listeners=PLAINTEXT://10.0.0.1:1,SSL://[::1]:1,CONTROLLER://h:2\n",
    f"{COMBINED}{OWN_IS_A}listeners=A://:1,B://:3,CONTROLLER://:2\nadvertised.listeners=A://h:1,B://h:1\n",
    f"{COMBINED}process.roles=brokr\nlisteners=PLAINTEXT://h:1\n",
    f"{BROKER}process.roles=broker,\n",
    f"{BROKER}process.roles=,broker\n",
    f"{BROKER}listener.security.protocol.map=PLAINTEXT:PLAINTEXT,,CONTROLLER:PLAINTEXT\n",
    f"{BROKER}listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,\n",
    f"{BROKER}listeners=PLAINTEXT://h:1\n",
    f"{BROKER}listeners=PLAINTEXT://h:1,CONTROLLER://h:2\n",
    BROKER,
    f"{CONTROLLER}listeners=CONTROLLER://h:2\n",
    f"{CONTROLLER}listeners=CONTROLLER://h:2,PLAINTEXT://h:1\n",
    f"{CONTROLLER}listeners=PLAINTEXT://h:1\n",
    f"{BROKER}advertised.host.name=g\nadvertised.port=7\n",
    f"{BROKER}listeners=PLAINTEXT://h:1\nadvertised.host.name=g\n",
    f"{BROKER}{OWN_IS_A}listeners=A://h:1,B://h:2\nadvertised.listeners=A://h:2,B://h:1\n",
]
CASES = {
    "2.4.1": [ZOOKEEPER + case for case in (*EVERYWHERE, *BEFORE_3_0)],
    "3.9.2": [*(ZOOKEEPER + case for case in (*EVERYWHERE, *EMPTY_ENTRIES, *OF_ZOOKEEPER)), *OF_KRAFT],
    "4.3.1": [BROKER + case for case in (*EMPTY_ENTRIES, "controller.listener.names=CONTROLLER,\n")],
    "4.4.0": [*(BROKER + case for case in (*EVERYWHERE, *EMPTY_ENTRIES)), *OF_KRAFT],
}


@dataclass(frozen=True)
class Answer:
    """What was said of a file."""

    words: tuple[str, ...]

    @property
    def refused(self) -> bool:
        return self.words[:1] == ("refused",)


def ask(mode: str, texts: Sequence[bytes], folder: Path, jars: str = "") -> list[Answer]:
    """An answer for each text."""
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"{number:05d}").write_bytes(text)
    path = ["-cp", jars] if jars else []
    command = [str(find_java(17).binary), "-XX:TieredStopAtLevel=1", *path, str(PROGRAM), mode, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line[:5].isdecimal()]
    assert len(lines) == len(texts), done.stdout
    return [Answer(tuple(base64.b64decode(word[1:]).decode() for word in words)) for _, *words in lines]


def test_java_reads_the_same_properties(tmp_path: Path) -> None:
    dice = random.Random(6)
    texts = ["".join(dice.choices("ab=: \t\\\n\r#!u04é\f", k=dice.randrange(40))) for _ in range(6000)]
    for text, answer in zip(
        texts, ask("properties", [each.encode("latin-1") for each in texts], tmp_path / "x"), strict=True
    ):
        try:
            found = {each.name: each.value for each in parse_properties(text, "x")}
        except ConfigError:
            assert answer.refused, repr(text)
        else:
            assert dict(zip(answer.words[::2], answer.words[1::2], strict=True)) == found, repr(text)


@pytest.mark.parametrize("version", CASES)
def test_kafka_reads_the_same_listeners(version: str, tmp_path: Path) -> None:
    texts = CASES[version]
    jars = ":".join(map(str, BrokerVersion(version).jars()))
    wrong = []
    for text, answer in zip(texts, ask("kafka", [each.encode() for each in texts], tmp_path / "x", jars), strict=True):
        file = BrokerFile("f", parse_server_properties(text, "f"))
        findings = diagnose(Evidence.without_network("files", files=(file,))).findings
        errors = [each for each in findings if each.severity is Severity.ERROR]
        stops = sorted({each.code for each in errors} & STOPS)
        told = [f"{each.name} {each.host or 'null'} {each.port}" for each in broker_listeners(file).advertised]
        if bool(stops) != answer.refused or (not stops and file_advertises(text) and list(answer.words[1:]) != told):
            wrong.append((text, stops, told, answer.words))
    assert wrong == []


RENDERED = [
    plan_listeners(
        Wanted(
            {"BOB": "kafka{id}:29092", "FRED": "localhost:{9092+id}", "OUT": "out-{id}.example:9092"},
            {"OUT": "39092"},
            {"OUT": "SASL_SSL"},
            quorum=quorum,
        ),
        [1, 2],
    )
    for quorum in Quorum
]
RENDERED.append(
    plan_behind_nat([Forward(Endpoint("172.10.1.40", 9093 + n), Endpoint(f"192.168.1.{n}", 9092)) for n in (1, 2)])
)


@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_kafka_takes_what_is_rendered(version: str, tmp_path: Path) -> None:
    texts, planned = [], []
    for plan in RENDERED:
        if plan.quorum is Quorum.ZOOKEEPER and version >= "4":
            continue
        quorum = (
            "zookeeper.connect=h:1" if plan.quorum is Quorum.ZOOKEEPER else "controller.quorum.bootstrap.servers=h:1"
        )
        for broker in plan.brokers:
            texts.append(f"{listeners(plan, 'x', broker.node_id)}{BASE}{quorum}\n".encode())
            planned.append([f"{each.name} {each.advertised.host} {each.advertised.port}" for each in broker.listeners])
    jars = ":".join(map(str, BrokerVersion(version).jars()))
    assert [answer.words for answer in ask("kafka", texts, tmp_path / "x", jars)] == [("ok", *each) for each in planned]


def file_advertises(text: str) -> bool:
    """A mere controller serves nobody."""
    return "process.roles=controller" not in text
