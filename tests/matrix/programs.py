"""The Java programs of `java/`: compiled once, run on any Java, with any kafka-clients and any way to load the agent.

A program gets ordinary client properties in a file and knows nothing of maps; how the map gets in is a `Loader`, so
that one test body serves all of them. `Loader.NONE` is the control: the same program, the same properties, no agent.
"""

import enum
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.versions import KAFKA_CLIENTS

from brokernat.address import AddressMap, Unmapped
from brokernat.jvm.agent import agent_jar, javaagent_option
from brokernat.jvm.artifacts import resolve

SOURCES = Path(__file__).parent / "java"
STREAMS = "4.3.1"
OWN_MAP = ("brokernat.map", "brokernat.unmapped")
REPORTER = "io.brokernat.agent.ReporterLoader"
_LOGGER = "org.slf4j:slf4j-simple:1.7.36"
_JARJAR = "org.pantsbuild:jarjar:1.7.2"
# Small JVMs that live for seconds: the second compiler would cost more than it gives.
_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=info")
_TIMEOUT = 420


class Loader(enum.Enum):
    """How a JVM gets agent and map."""

    NONE = "no agent; the map stays in the client's properties, where nobody reads it"
    JVM_MAP = "-javaagent with the map as its argument; the client's properties know nothing"
    CLIENT_MAP = "-javaagent without a map; the client's own properties carry it"
    REPORTER = "agent jar on the class path, metric.reporters loads it; the client's own properties carry the map"


@dataclass(frozen=True)
class Client:
    """One of the clients in a JVM: its properties as the user would write them, a map among them or not."""

    properties: Mapping[str, str]
    topic: str
    roles: tuple[str, ...]
    name: str = "client"


@dataclass(frozen=True)
class Outcome:
    """What a program printed: its JSON lines, and the log of the client and the agent."""

    lines: tuple[dict[str, Any], ...]
    log: str
    returncode: int

    def of(self, role: str, client: str = "client") -> dict[str, Any]:
        """The line of one role; fails with the log when there is none."""
        for line in self.lines:
            if line["role"] == role and line.get("client", client) == client:
                return line
        raise AssertionError(f"no line of {role} for {client}, exit {self.returncode}:\n{self.log[-4000:]}")


@dataclass(frozen=True)
class Programs:
    """Compiled programs and where to run them."""

    classes: Path
    streams_classes: Path
    relocated: Path
    work: Path
    java: Path = field(default=Path("java"))

    @classmethod
    def compile(cls, work: Path) -> "Programs":
        """Compile against the OLDEST client, for Java 11: what runs on the newest runs by Kafka's own compatibility."""
        classes, streams, relocated = (work / name for name in ("classes", "streams-classes", "relocated"))
        portable = [SOURCES / f"{name}.java" for name in ("Exerciser", "Traffic", "Json")]
        _javac(portable, kafka_clients(KAFKA_CLIENTS[0]), classes)
        _javac([*portable, SOURCES / "StreamsApp.java"], kafka_streams(), streams)
        return cls(classes, streams, relocated, work)

    def exercise(
        self,
        version: str,
        *clients: Client,
        loader: Loader = Loader.JVM_MAP,
        java: Path | None = None,
        class_path: Sequence[Path] | None = None,
        argument: str = "",
        main: str = "Exerciser",
    ) -> Outcome:
        """Run `Exerciser` for all `clients` at the same time in one JVM with kafka-clients `version`; `argument` is the
        agent's, beside the clients' own maps; `main` another class that calls `Exerciser`."""
        class_path = class_path or [self.classes, *kafka_clients(version)]
        arguments: list[str] = []
        for client in clients:
            arguments += ["+"] if arguments else []
            arguments += [str(self.write(client.properties, loader, client.name)), client.topic, *client.roles]
        command = self.command(main, class_path, clients[0].properties, loader, java=java, argument=argument)
        return run([*command, *arguments])

    def command(
        self,
        main: str,
        class_path: Sequence[Path],
        properties: Mapping[str, str],
        loader: Loader,
        *,
        java: Path | None = None,
        argument: str = "",
    ) -> list[str]:
        """The command line up to the main class."""
        jars = [*class_path, *([agent_jar()] if loader is Loader.REPORTER else [])]
        agent = {
            Loader.JVM_MAP: lambda: [javaagent_option(own_map(properties))],
            Loader.CLIENT_MAP: lambda: [javaagent_option(None) + (argument and f"={argument}")],
        }.get(loader, list)()
        return [str(java or self.java), *_JVM, *agent, "-cp", ":".join(map(str, jars)), main]

    def write(self, properties: Mapping[str, str], loader: Loader, name: str) -> Path:
        """The properties file of a client, as `loader` wants it."""
        chosen = dict(properties)
        if loader is Loader.JVM_MAP:
            chosen = {key: value for key, value in chosen.items() if key not in OWN_MAP}
        if loader is Loader.REPORTER:
            chosen["metric.reporters"] = f"org.apache.kafka.common.metrics.JmxReporter,{REPORTER}"
        file = self.work / name
        file.write_text("".join(f"{key}={_escaped(value)}\n" for key, value in chosen.items()))
        return file

    def relocate(self, version: str, package: str) -> list[Path]:
        """Programs and kafka-clients moved from `org.apache.kafka` to `package`, strings in the code included, as
        shading does."""
        client, *rest = kafka_clients(version, first=f"kafka-clients-{version}.jar")
        folder = self.relocated / f"{package}-{version}"
        program, rules = folder / "program.jar", folder / "rules"
        moved = [folder / f"relocated-{jar.name}" for jar in (program, client)]
        if not all(jar.exists() for jar in moved):
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run(["jar", "cf", program, "-C", self.classes, "."], check=True, timeout=_TIMEOUT)
            rules.write_text(f"rule org.apache.kafka.** {package}.@1\n")
            for jar, target in zip((program, client), moved, strict=True):
                self._jarjar("process", rules, jar, target)
        return [*moved, *rest]

    def compiled(self, name: str, source: str) -> Path:
        """The folder with one more class."""
        folder = self.work / name
        file = folder / "src" / f"{name.rpartition('.')[2]}.java"
        if not file.exists():
            file.parent.mkdir(parents=True)
            file.write_text(source)
            _javac([file], [], folder)
        return folder

    def _jarjar(self, *arguments: str | Path) -> None:
        tool = ":".join(map(str, resolve([_JARJAR])))
        command = [self.java, *_JVM, "-cp", tool, "org.pantsbuild.jarjar.Main", *arguments]
        subprocess.run(command, check=True, timeout=_TIMEOUT, capture_output=True)


def kafka_clients(version: str, first: str = "") -> list[Path]:
    """The jars of one client version with a logger; the one named `first` in front."""
    jars = resolve([f"org.apache.kafka:kafka-clients:{version}", _LOGGER])
    return sorted(jars, key=lambda jar: (jar.name != first, jar.name))


def kafka_streams() -> list[Path]:
    """The jars of Kafka Streams with a logger."""
    return list(resolve([f"org.apache.kafka:kafka-streams:{STREAMS}", _LOGGER]))


def own_map(properties: Mapping[str, str]) -> AddressMap | None:
    """The map that a client's properties carry."""
    if not properties.get("brokernat.map"):
        return None
    return AddressMap.parse(properties["brokernat.map"], Unmapped(properties.get("brokernat.unmapped", "fail")))


def run(command: Sequence[str]) -> Outcome:
    """Run a program to its end; lines that are JSON are its words, all else is log."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    noise = [line for line in done.stdout.splitlines() if not line.startswith("{")]
    return Outcome(tuple(lines), "\n".join([*noise, done.stderr]), done.returncode)


def _javac(sources: Sequence[Path], class_path: Sequence[Path], target: Path) -> None:
    jars = ":".join(map(str, class_path))
    options = ["-Xlint:all,-options", "-Werror", "--release", "11", "-cp", jars, "-d", str(target)]
    done = subprocess.run(["javac", *options, *sources], capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr


def _escaped(value: str) -> str:
    # java.util.Properties: a backslash starts an escape, blanks in front would be eaten.
    return value.replace("\\", "\\\\").replace("\n", "\\n")
