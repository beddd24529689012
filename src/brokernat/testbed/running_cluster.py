"""A running cluster: start and stop nodes, create topics, read and write records."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from brokernat.address import AddressMap, Endpoint, parse_rule
from brokernat.config import Cluster, Secret
from brokernat.jvm import find_java
from brokernat.testbed.broker import BrokerProcess, BrokerVersion, Runtime, format_all, new_id, start_zookeeper
from brokernat.testbed.kafka import Connection, Operations, Topic
from brokernat.testbed.key_stores import TRUST_P12, TRUST_PEM, make_stores
from brokernat.testbed.place import Launcher, Place, wait_until
from brokernat.testbed.record_batches import Record
from brokernat.testbed.server_properties import STORE_PASSWORD
from brokernat.testbed.topology import ClusterPlan, Protocol

_READY_TIMEOUT = 180
_ZOOKEEPER_PORT = 2181


class RunningCluster:
    """The brokers of one plan. Nodes are named by their Kafka node id, from 1 on."""

    def __init__(self, plan: ClusterPlan, *, folder: Path, launcher: Launcher, place: Place) -> None:
        """Starts nothing.

        Args:
            plan: the plan of the cluster.
            folder: the folder for configuration, data and logs; it is created here.
            launcher: starts the processes of this world.
            place: the place where the nodes run, and from which the testbed connects to them.
        """
        self.plan = plan
        self.folder = folder
        self._launcher = launcher
        self._place = place
        self._version = BrokerVersion(plan.options.version)
        self._brokers: dict[int, BrokerProcess] = {}
        self._zookeeper: subprocess.Popen[bytes] | None = None
        self._cluster_id = ""
        self.operations = Operations(self.nodes, self._connect)
        folder.mkdir(mode=0o700)

    # Description

    @property
    def name(self) -> str:
        """`hq`, `hq2` or `local`."""
        return self.plan.name

    @property
    def cluster_id(self) -> str:
        """Kafka's cluster id."""
        return self._cluster_id

    @property
    def nodes(self) -> tuple[int, ...]:
        """All node ids of the plan, running or not."""
        return tuple(broker.node_id for broker in self.plan.brokers)

    @property
    def advertised(self) -> dict[int, Endpoint]:
        """The advertised endpoint of each node."""
        return {broker.node_id: broker.advertised for broker in self.plan.brokers}

    @property
    def reachable(self) -> dict[int, Endpoint]:
        """The endpoint that a client dials for each node."""
        return {broker.node_id: broker.reachable for broker in self.plan.brokers}

    @property
    def bound(self) -> dict[int, Endpoint]:
        """The bound endpoint of each node's CLIENT listener; a map to these bypasses the gateway."""
        return {broker.node_id: broker.bound for broker in self.plan.brokers}

    @property
    def cluster(self) -> Cluster:
        """The configuration of a client in the client's network: reachable bootstrap servers, map, login."""
        properties = client_properties(self.plan, self.folder, self.plan.options.protocol)
        return Cluster(self.name, self.plan.bootstrap, self.plan.address_map(), properties)

    @property
    def direct(self) -> Cluster:
        """The same brokers without a map or a login, for comparison: their PEER listeners (loopback only)."""
        return Cluster(self.name, tuple(broker.peer for broker in self.plan.brokers))

    def endpoints(self, listener: str) -> dict[int, Endpoint]:
        """The bound endpoints of a listener of this name (`ClusterOptions.listeners`)."""
        return {
            broker.node_id: each.bound for broker in self.plan.brokers for each in broker.more if each.name == listener
        }

    def through(self, listener: str) -> Cluster:
        """The configuration of a client of such a listener, with its advertised endpoints as bootstrap servers."""
        (wanted,) = (each for each in self.plan.options.listeners if each.name == listener)
        planned = [each for broker in self.plan.brokers for each in broker.more if each.name == listener]
        rules = tuple(
            parse_rule(f"{each.advertised}={each.bound}") for each in planned if each.advertised != each.bound
        )
        return Cluster(
            self.name,
            tuple(each.advertised for each in planned),
            AddressMap(rules) if rules else None,
            client_properties(self.plan, self.folder, wanted.protocol),
        )

    def log(self, node: int) -> Path:
        """The file with the broker's output."""
        return self._brokers[node].log

    # Nodes

    def launch(self) -> None:
        """Start all nodes without waiting; `wait_ready` waits for them.

        Raises:
            MissingToolError: there is no Java, or the jars cannot be resolved.
            WorldError: the log directories cannot be formatted.
        """
        java = find_java(self._version.minimum_java)
        runtime = Runtime(java, self._version.jars()[0].parent, self.plan.options.jvm_options)
        if any(protocol.tls for protocol in self.plan.protocols):
            (self.plan.options.make_stores or make_stores)(self.plan, self.folder, java)
        zookeeper = self._start_zookeeper(runtime) if self._version.zookeeper else None
        for broker in self.plan.brokers:
            process = BrokerProcess(
                self.plan,
                broker,
                folder=self.folder,
                runtime=runtime,
                launcher=self._launcher,
                place=self._place,
            )
            process.write_properties(zookeeper)
            self._brokers[broker.node_id] = process
        if zookeeper is None:
            self._cluster_id = new_id()
            format_all(list(self._brokers.values()), self._cluster_id)
        for process in self._brokers.values():
            process.start()

    def wait_ready(self) -> None:
        """Return when every node knows every other.

        Raises:
            NothingReachableError: a node is not ready in time, or has ended; the message has the end of its log.
        """
        for node in self.nodes:
            self.wait_for(node)
        self._cluster_id = self.operations.metadata(self.nodes[0]).cluster_id

    def wait_for(self, node: int) -> None:
        """Return when `node` answers and knows every running node.

        Raises:
            NothingReachableError: the node is not ready in time, or has ended; the message has the end of its log.
        """
        broker = self._brokers[node]

        def ready() -> bool:
            try:
                known = self.operations.metadata(node).nodes
            except OSError:
                return False
            return known >= {other for other, process in self._brokers.items() if process.running()}

        def ended() -> str | None:
            return None if broker.running() else f"it ended: {broker.last_words()}"

        wait_until(ready, f"{self.name} node {node}", timeout=_READY_TIMEOUT, abort=ended)

    def start(self, node: int) -> None:
        """Start a stopped node and wait until it is ready."""
        self._brokers[node].start()
        self.wait_for(node)

    def stop(self, node: int) -> None:
        """Stop a node with SIGTERM, so its leaders move first."""
        self._brokers[node].stop()

    def kill(self, node: int) -> None:
        """Kill a node (`kill -9`)."""
        self._brokers[node].kill()

    def running(self, node: int) -> bool:
        """Whether the process of a node runs."""
        return self._brokers[node].running()

    # Topics and records, written and read without the code under test

    def create_topic(
        self, name: str, *, partitions: int = 3, replicas: int | None = None, configs: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic unless it exists, and wait for its leaders; replicas default to up to three."""
        self.create_topics([Topic(name, partitions, replicas or min(3, len(self.nodes)), configs or {})])

    def create_topics(self, topics: Sequence[Topic]) -> None:
        """Create several topics at once."""
        self.operations.create_topics(topics)

    def leaders(self, topic: str) -> Mapping[int, int]:
        """The leader of each partition."""
        return self.operations.leaders(topic)

    def write(self, topic: str, records: Sequence[Record]) -> int:
        """Write records; returns their number."""
        return self.operations.write(topic, records)

    def read(self, topic: str) -> list[Record]:
        """All current records, by partition and offset."""
        return self.operations.read(topic)

    def end_offsets(self, topic: str) -> dict[int, int]:
        """The offset after the last record of each partition."""
        return self.operations.end_offsets(topic)

    def _connect(self, node: int) -> Connection:
        return Connection(self._place.dial(self.plan.broker(node).peer))

    def _start_zookeeper(self, runtime: Runtime) -> Endpoint:
        first = self.plan.brokers[0]
        endpoint = Endpoint(first.peer.host, _ZOOKEEPER_PORT)
        self._zookeeper = start_zookeeper(
            endpoint,
            folder=self.folder,
            runtime=runtime,
            launcher=self._launcher,
            place=self._place,
        )
        return endpoint


def launch_all(clusters: Sequence[RunningCluster]) -> None:
    """Start several clusters in parallel and wait for all.

    Raises:
        WorldError: a cluster does not start.
    """
    for cluster in clusters:
        cluster.launch()
    for cluster in clusters:
        cluster.wait_ready()


def client_properties(plan: ClusterPlan, folder: Path, protocol: Protocol) -> dict[str, str | Secret]:
    """The `client` section of `brokernat.yaml` for a listener with this protocol; empty for PLAINTEXT."""
    options = plan.options
    properties: dict[str, str | Secret] = {}
    if protocol.tls or protocol.sasl:
        properties["security.protocol"] = protocol.value
    if protocol.sasl:
        properties |= {
            "sasl.mechanism": options.mechanism.value,
            "sasl.username": options.username,
            "sasl.password": Secret(options.password),
        }
    if protocol.tls:
        properties |= key_store_properties("ssl.truststore", folder / TRUST_P12)
    return properties


def key_store_properties(prefix: str, file: Path) -> dict[str, str | Secret]:
    """Kafka's properties for a key store or a trust store of the testbed."""
    return {f"{prefix}.location": str(file), f"{prefix}.password": STORE_PASSWORD, f"{prefix}.type": "PKCS12"}


def config_text(clusters: Iterable[RunningCluster]) -> str:
    """The text of `brokernat.yaml`; passwords are written to files in the clusters' folders, see `${file:}`."""
    lines = ["clusters:"]
    for running in clusters:
        cluster = _for_every_client(running)
        lines.append(f"  {cluster.name}:")
        lines.append(f"    bootstrap_servers: {quoted(','.join(map(str, cluster.bootstrap_servers)))}")
        if cluster.address_map is not None:
            lines.append("    address_map:")
            lines += [f"      - {quoted(str(rule))}" for rule in cluster.address_map.rules]
        if cluster.client:
            lines.append("    client:")
            for name, value in cluster.client.items():
                lines.append(f"      {name}: {quoted(_without_secret(running, name, value))}")
    return "\n".join(lines) + "\n"


def _for_every_client(running: RunningCluster) -> Cluster:
    """The configuration with a trust store that all clients read, and bootstrap servers that the certificates name."""
    cluster = running.cluster
    if not running.plan.options.protocol.tls:
        return cluster
    prefix = "ssl.truststore"
    others = {name: value for name, value in cluster.client.items() if not name.startswith(prefix)}
    trust = {f"{prefix}.type": "PEM", f"{prefix}.location": str(running.folder / TRUST_PEM)}
    return replace(cluster, bootstrap_servers=tuple(running.advertised.values()), client={**others, **trust})


def quoted(text: str) -> str:
    """A YAML scalar in single quotes."""
    return "'" + text.replace("'", "''") + "'"


def _without_secret(running: RunningCluster, name: str, value: str | Secret) -> str:
    if not isinstance(value, Secret):
        return value.replace("${", "$${")
    file = running.folder / f"{name}.secret"
    file.touch(mode=0o600)
    file.write_text(value.reveal())
    return f"${{file:{file}}}"
