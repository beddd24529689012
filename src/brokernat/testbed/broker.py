"""One broker as a separate process, so that a test can kill it alone and at any moment (`kill -9`).

Three brokers on two cores are ready in 7 s (JDK 17, `-XX:TieredStopAtLevel=1`), and in half of that with a class data
archive. Several brokers in one JVM would save little time and be less realistic. Brokers before 3.3 get a ZooKeeper
from the same jars.
"""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from brokernat.address import Endpoint
from brokernat.errors import WorldError
from brokernat.jvm import Java, resolve
from brokernat.jvm.java import class_data_archive, reading_class_data
from brokernat.testbed.place import Launcher, Place, wait_until
from brokernat.testbed.server_properties import scram_argument, server_properties, zookeeper_properties
from brokernat.testbed.topology import BrokerPlan, ClusterPlan, Mechanism

_STOP_TIMEOUT = 30
_FORMAT_TIMEOUT = 120
_ZOOKEEPER_TIMEOUT = 180
_LOGGING = "org.slf4j:slf4j-simple:1.7.36"
# A broker runs without the tools, which depend on the Connect runtime (50 more jars).
_TOOLS = ("org.apache.kafka:kafka-tools", "org.apache.kafka:kafka-tools-api")
_TOOLS_NEEDED_UNTIL = (4, 4)


@dataclass(frozen=True, slots=True)
class BrokerVersion:
    """A version of `org.apache.kafka:kafka_2.13`."""

    text: str

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version as numbers: (4, 3, 1) for `4.3.1`."""
        return tuple(int(part) for part in self.text.split("."))

    @property
    def zookeeper(self) -> bool:
        """Whether this version uses ZooKeeper: all before 3.3, the first with KRaft for production."""
        return self.numbers < (3, 3)

    @property
    def minimum_java(self) -> int:
        """The oldest Java that runs its brokers: 17 from 4.0 on (KIP-1013)."""
        return 17 if self.numbers >= (4, 0) else 11

    def jars(self) -> tuple[Path, ...]:
        """The jars of the broker, and of ZooKeeper if this version uses it.

        Raises:
            MissingToolError: they cannot be resolved.
        """
        exclude = _TOOLS if self.numbers >= _TOOLS_NEEDED_UNTIL else _TOOLS[:1]
        return resolve([f"org.apache.kafka:kafka_2.13:{self.text}", _LOGGING], exclude=exclude)


@dataclass(frozen=True)
class Runtime:
    """The Java, the folder of jars and the JVM options of one cluster's brokers."""

    java: Java
    jars: Path
    options: tuple[str, ...] = ()

    def command(self, main: str, *arguments: str) -> list[str]:
        """The command that runs the class `main`."""
        jvm = ["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        jvm += reading_class_data(class_data_archive(self.java, self.jars))
        logging = ["-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss,SSS"]
        return [str(self.java.binary), *jvm, *logging, *self.options, "-cp", f"{self.jars}/*", main, *arguments]


class BrokerProcess:
    """Starts, stops and kills one broker in its place."""

    def __init__(
        self,
        cluster: ClusterPlan,
        plan: BrokerPlan,
        *,
        folder: Path,
        runtime: Runtime,
        launcher: Launcher,
        place: Place,
    ) -> None:
        self.plan = plan
        self._cluster = cluster
        self._folder = folder
        self._runtime = runtime
        self._launcher = launcher
        self._place = place
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        """The file with the broker's output."""
        return self._folder / f"node-{self.plan.node_id}.log"

    @property
    def data(self) -> Path:
        """The log directory of the broker."""
        return self._folder / f"node-{self.plan.node_id}.data"

    @property
    def kind(self) -> tuple[object, ...]:
        """What the formatted log directory depends on, besides ids."""
        return self._runtime.jars, self._scram_user, *sorted(self._cluster.options.broker_properties.items())

    def write_properties(self, zookeeper: Endpoint | None) -> None:
        """Write `server.properties`. Only this user can read it, because it may contain passwords."""
        text = server_properties(self._cluster, self.plan, data=self.data, stores=self._folder, zookeeper=zookeeper)
        self._properties.touch(mode=0o600)
        self._properties.write_text(text)

    def format(self, cluster_id: str) -> subprocess.Popen[bytes]:
        """Start Kafka's tool that formats the log directory of a KRaft broker."""
        arguments = ["format", "-t", cluster_id, "-c", str(self._properties)]
        if self._scram_user is not None:
            arguments += ["--add-scram", scram_argument(*self._scram_user)]
        return self._run("kafka.tools.StorageTool", arguments)

    def start(self) -> None:
        """Start the broker, without waiting until it is ready."""
        if not self.running():
            self._process = self._run("kafka.Kafka", [str(self._properties)])

    def stop(self) -> None:
        """Stop the broker with SIGTERM, so its leaders move first. The last broker of a quorum is killed after 30 s."""
        self._signal(signal.SIGTERM)
        if self._process is not None:
            try:
                self._process.wait(_STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """Kill the broker (`kill -9`)."""
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait(_STOP_TIMEOUT)

    def running(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def last_words(self) -> str:
        """The end of the log, for an error message."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-8:]) if self.log.is_file() else ""

    @property
    def _scram_user(self) -> tuple[Mechanism, str, str] | None:
        options = self._cluster.options
        if not options.protocol.sasl or options.mechanism is Mechanism.PLAIN:
            return None
        return options.mechanism, options.username, options.password

    @property
    def _properties(self) -> Path:
        return self._folder / f"node-{self.plan.node_id}.properties"

    def _run(self, main: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        return self._launcher.start(self._runtime.command(main, *arguments), place=self._place, log=self.log)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self.running():
            os.kill(self._process.pid, number)


def start_zookeeper(
    endpoint: Endpoint, *, folder: Path, runtime: Runtime, launcher: Launcher, place: Place
) -> subprocess.Popen[bytes]:
    """Start ZooKeeper and wait until it accepts connections.

    Raises:
        NothingReachableError: it does not accept connections in time, or has ended.
    """
    file, log = folder / "zookeeper.properties", folder / "zookeeper.log"
    file.write_text(zookeeper_properties(endpoint, folder / "zookeeper.data"))
    command = runtime.command("org.apache.zookeeper.server.quorum.QuorumPeerMain", str(file))
    process = launcher.start(command, place=place, log=log)

    def accepts() -> bool:
        try:
            place.dial(endpoint, timeout=2).close()
        except OSError:
            return False
        return True

    def ended() -> str | None:
        return None if process.poll() is None else f"it ended, see {log}"

    wait_until(accepts, f"ZooKeeper at {endpoint}", timeout=_ZOOKEEPER_TIMEOUT, abort=ended)
    return process


def format_all(brokers: Sequence[BrokerProcess], cluster_id: str) -> None:
    """Format the log directories of a cluster's brokers.

    Kafka's tool costs a second of a JVM and writes the same for each cluster, except for ids: a process runs it once
    for clusters of one kind.

    Raises:
        WorldError: the tool failed; the message has its output.
    """
    first = brokers[0]
    if first.kind not in _formatted:
        if first.format(cluster_id).wait(_FORMAT_TIMEOUT) != 0:
            raise WorldError(f"cannot format node {first.plan.node_id}: {first.last_words()}")
        files = (file for file in first.data.rglob("*") if file.is_file())
        _formatted[first.kind] = {file.relative_to(first.data): file.read_bytes() for file in files}
    for broker in brokers:
        for name, content in _formatted[first.kind].items():
            (broker.data / name).parent.mkdir(parents=True, exist_ok=True)
            (broker.data / name).write_bytes(content)
        meta = broker.data / "meta.properties"
        meta.write_text(of_node(meta.read_text(), cluster_id, broker.plan.node_id))


_formatted: dict[tuple[object, ...], dict[Path, bytes]] = {}
"""By the kind of a cluster: the files that the tool writes."""


def of_node(identity: str, cluster_id: str, node_id: int) -> str:
    """A `meta.properties` as the format tool would write it for another node; pure except for a random id.

    From 3.7 on the file also has an id of the directory (KIP-858).
    """
    replaced = {"cluster.id": cluster_id, "node.id": str(node_id), "directory.id": new_id()}
    pairs = (line.partition("=") for line in identity.splitlines())
    return "".join(f"{name}{equals}{replaced.get(name, value)}\n" for name, equals, value in pairs)


def new_id() -> str:
    """A random id in Kafka's form: 22 characters of URL-safe base 64, of which the first is not a dash."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        continue
    return text
