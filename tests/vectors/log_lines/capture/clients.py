"""How each client is started in a situation, and which situation a line of its output belongs to."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.integration.python_clients.libraries import LOCK, installed
from tests.matrix.programs import kafka_clients
from tests.vectors.log_lines.capture.stage import Situation

from brokernat import __version__
from brokernat.jvm import agent_jar, resolve

HERE = Path(__file__).parent
SECONDS = 9
# Whose wheels are for no Python of today.
OLD_PYTHONS = {("confluent-kafka", "1.6.0"): "3.9", ("kafka-python", "2.0.2"): "3.9", ("kafka-python", "1.4.7"): "3.7"}
_TIMEOUT, _SPARK_TIMEOUT = 90, 240
# Patience as in nobody's production: what a client says after a minute it says after seconds, too.
_IMPATIENT = {
    "default.api.timeout.ms": "6000",
    "request.timeout.ms": "2500",
    "max.block.ms": "4000",
    "delivery.timeout.ms": "4000",
    "linger.ms": "0",
    "enable.idempotence": "false",
    "socket.connection.setup.timeout.ms": "1500",
    "reconnect.backoff.max.ms": "500",
    "auto.offset.reset": "earliest",
}
_LOGGER = "org.slf4j:slf4j-simple:1.7.36"
_WORKER = """\
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
listeners=HTTP://127.0.0.1:0
request.timeout.ms=2000
default.api.timeout.ms=4000
"""
_LOG4J = """\
log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
_JVM = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xmx200m",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss,SSS",
)
_BELONGS = re.compile(r"(?<=[=\[ ])([a-z][a-z0-9-]*)-(?:admin|producer|consumer|transactional)\b")


@dataclass(frozen=True)
class Line:
    """One line as it was written."""

    client: str
    version: str
    situation: str
    text: str


def compile_java(work: Path) -> None:
    """`Provoke` against the oldest client, into `work/classes`."""
    jars = ":".join(map(str, kafka_clients("2.4.1")))
    subprocess.run(["javac", "--release", "11", "-cp", jars, "-d", work / "classes", HERE / "Provoke.java"], check=True)


@dataclass(frozen=True)
class Java:
    """kafka-clients of a version in a JVM, all situations at once."""

    version: str
    java: str = "java"
    name: str = "kafka-clients"
    agent: bool = False

    def run(self, situations: Sequence[Situation], work: Path) -> Iterator[Line]:
        together = [each for each in situations if not each.alone]
        for group in [together, *([each] for each in situations if each.alone)]:
            if group:
                yield from self._run(group, work)

    def _run(self, situations: Sequence[Situation], work: Path) -> Iterator[Line]:
        folder = work / f"java-{self.version}-{situations[0].name}"
        folder.mkdir(exist_ok=True)
        files = [self._file(each, folder) for each in situations]
        options = [*_JVM]
        if self.agent:
            options.append(f"-javaagent:{agent_jar()}")
        path = ":".join(map(str, [work / "classes", *kafka_clients(self.version)]))
        output = _output([self.java, *options, "-cp", path, "Provoke", str(SECONDS), *files])
        known = {each.name for each in situations}
        current = situations[0].name if len(situations) == 1 else ""
        for text in output.splitlines():
            names = [text[3:]] if text.startswith("<<<") else _BELONGS.findall(text)
            current = next((name for name in names if name in known), current)
            if current and not text.startswith(("<<<", ">>>")):
                yield Line(self.name, self.version, current, text)

    def _file(self, situation: Situation, folder: Path) -> str:
        properties = {
            **_IMPATIENT,
            "situation": situation.name,
            "topic": situation.topic,
            "record.size": str(situation.size),
            "bootstrap.servers": situation.servers,
            "security.protocol": situation.protocol,
            "brokernat.map": situation.map,
            "metadata.max.age.ms": situation.refresh,
        }
        if situation.mechanism:
            kind = "plain.Plain" if situation.mechanism == "PLAIN" else "scram.Scram"
            module = f"org.apache.kafka.common.security.{kind}LoginModule"
            properties["sasl.mechanism"] = situation.mechanism
            properties["sasl.jaas.config"] = (
                f'{module} required username="{situation.user}" password="{situation.password}";'
            )
        if situation.p12:
            properties |= {
                "ssl.truststore.location": situation.p12,
                "ssl.truststore.password": "testbed",
                "ssl.truststore.type": "PKCS12",
            }
        if not situation.verify:
            properties["ssl.endpoint.identification.algorithm"] = ""
        file = folder / f"{situation.name}.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in properties.items() if value or "ident" in name))
        return str(file)


@dataclass(frozen=True)
class Program:
    """A client that gets its situation as JSON on standard input."""

    name: str
    version: str
    command: tuple[str, ...]
    path: str = ""
    timeout: int = 30

    def run(self, situations: Sequence[Situation], work: Path) -> Iterator[Line]:
        environment = os.environ | {"PYTHONPATH": self.path, "NODE_PATH": self.path}
        started = [(each, _start(self.command, json.dumps(each.as_json()), environment)) for each in situations]
        yield from _collected(self.name, self.version, started, self.timeout)


@dataclass(frozen=True)
class Spark:
    """PySpark with its connector, or without."""

    version: str
    connector: bool = True
    name: str = "Spark"

    def run(self, situations: Sequence[Situation], work: Path) -> Iterator[Line]:
        more = {"partitions": 6, "offsets": (0, 5)}
        order = json.dumps([each.as_json() | more for each in situations])
        command = [sys.executable, str(HERE / "spark_client.py"), *([] if self.connector else ["without-connector"])]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        done = subprocess.run(
            command, input=order, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
            timeout=_SPARK_TIMEOUT, check=False,
        )  # fmt: skip
        current = situations[0].name
        for text in done.stdout.splitlines():
            current = text[3:] if text.startswith("<<<") else current
            if not text.startswith("<<<"):
                yield Line(self.name, self.version, current, text)


@dataclass(frozen=True)
class Spring:
    """spring-kafka of a version, which brings its client."""

    version: str
    name: str = "spring-kafka"

    def run(self, situations: Sequence[Situation], work: Path) -> Iterator[Line]:
        jars = ":".join(map(str, resolve([f"org.springframework.kafka:spring-kafka:{self.version}", _LOGGER])))
        classes = work / "spring"
        subprocess.run(["javac", "-cp", jars, "-d", classes, HERE / "SpringClient.java"], check=True)
        for each in situations:
            command = ["java", *_JVM, "-cp", f"{jars}:{classes}", "SpringClient", each.servers]
            for text in _output(command).splitlines():
                yield Line(self.name, self.version, each.name, text)


@dataclass(frozen=True)
class Connect:
    """A worker of Kafka Connect, with the logger that it brings."""

    version: str
    name: str = "kafka-connect"

    def run(self, situations: Sequence[Situation], work: Path) -> Iterator[Line]:
        parts = [f"org.apache.kafka:connect-{part}:{self.version}" for part in ("runtime", "json")]
        jars = ":".join(map(str, resolve(parts)))
        logging = work / "log4j.properties"
        logging.write_text(_LOG4J)
        for each in situations:
            worker = work / "worker.properties"
            worker.write_text(
                f"bootstrap.servers={each.servers}\noffset.storage.file.filename={work}/offsets\n{_WORKER}"
            )
            main = ["-cp", jars, "org.apache.kafka.connect.cli.ConnectStandalone", str(worker)]
            for text in _output(["java", *_JVM, f"-Dlog4j.configuration=file:{logging}", *main]).splitlines():
                yield Line(self.name, self.version, each.name, text)


@dataclass(frozen=True)
class Kcat:
    """kcat, once for metadata and once as a consumer."""

    version: str
    name: str = "kcat"

    def run(self, situations: Sequence[Situation], work: Path) -> Iterator[Line]:
        started = []
        for each in situations:
            settings = {
                "security.protocol": each.protocol, "sasl.mechanism": each.mechanism, "sasl.username": each.user,
                "sasl.password": each.password, "ssl.ca.location": each.ca,
                "ssl.endpoint.identification.algorithm": "" if each.verify else "none",
            }  # fmt: skip
            options = [f"-X{name}={value}" for name, value in settings.items() if value]
            for words in (
                ["-L", "-m", "4"],
                ["-C", "-t", each.topic, "-o", "beginning"],
                [*(["-d", each.debug] if each.debug else []), "-G", each.name, each.topic],
            ):
                command = ["timeout", "7", "kcat", "-b", each.servers, *options, *words]
                started.append((each, _start(command)))
        yield from _collected(self.name, self.version, started)


def python(library: str, version: str, *, path: str = "") -> Program:
    """A Python library, that of this environment or one at `path`."""
    return Program(library, version, (sys.executable, str(HERE / "python_client.py"), library), path)


def old_python(library: str, version: str) -> Program:
    """A library of a former time, on a Python of that time."""
    interpreter = subprocess.run(
        ["pyenv", "prefix", OLD_PYTHONS[library, version]], check=True, capture_output=True, text=True
    ).stdout.strip()
    python = f"{interpreter}/bin/python"
    folder = Path(tempfile.gettempdir()) / f"{library}-{version}"
    if not folder.exists():
        words = [python, "-m", "pip", "install", "-q", "--only-binary", ":all:", "--target", str(folder)]
        subprocess.run([*words, f"{library}=={version}"], check=True)
    return Program(library, version, (python, str(HERE / "python_client.py"), library), str(folder))


def proof() -> Program:
    """The proof before a Spark job."""
    words = (sys.executable, str(HERE / "proof.py"))
    return Program("brokernat", __version__, words, os.pathsep.join(sys.path), timeout=_SPARK_TIMEOUT)


def kafka_python_2() -> Program:
    """The library of the tests' lock."""
    return python("kafka-python", "2.3.3", path=str(installed(LOCK)))


def kafkajs(version: str, modules: str) -> Program:
    """Installed by npm into `modules`."""
    return Program("kafkajs", version, ("node", "--stack-trace-limit=0", str(HERE / "kafkajs_client.js")), modules)


def go(work: Path) -> tuple[Program, ...]:
    """The Go clients, built from `go/` with the versions of its `go.mod`."""
    program = work / "go-clients"
    subprocess.run(["go", "build", "-o", program, "."], cwd=HERE / "go", check=True)
    required = (HERE / "go" / "go.mod").read_text()
    modules = re.findall(r"^\t\S+/(sarama|franz-go|kafka-go) v(\S+)$", required, re.MULTILINE)
    return tuple(Program(name, version, (str(program), name), timeout=60) for name, version in modules)


@dataclass(frozen=True)
class _Started:
    """Its output goes into a file: a pipe that nobody reads yet would stop it."""

    process: subprocess.Popen[bytes]
    output: IO[bytes]


def _start(command: Sequence[str], order: str = "", environment: Mapping[str, str] = os.environ) -> _Started:
    output = tempfile.TemporaryFile()  # noqa: SIM115 - read when the process has ended
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, env=dict(environment)
    )
    assert process.stdin
    process.stdin.write(order.encode())
    process.stdin.close()
    return _Started(process, output)


def _collected(
    name: str, version: str, started: Iterable[tuple[Situation, _Started]], timeout: int = 30
) -> Iterator[Line]:
    for situation, each in started:
        try:
            each.process.wait(timeout)
        except subprocess.TimeoutExpired:
            each.process.kill()
            each.process.wait()
        each.output.seek(0)
        for text in each.output.read().decode(errors="replace").splitlines():
            yield Line(name, version, situation.name, text)


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_TIMEOUT, check=False
    )
    return done.stdout
