"""One world for all of librdkafka: two headquarters that advertise the SAME names, which nobody resolves. `hq` wants
SASL_PLAINTEXT, `hq2` TLS with a login, its certificates for those names alone."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, Any

import pytest
from tests.integration.librdkafka.releases import ROOT, environment

from brokernat.config import Cluster, Secret
from brokernat.testbed import Advertise, ClusterOptions, LoopbackWorld, Protocol, RunningCluster
from brokernat.testbed.place import Here, Place

TIMEOUT = 400


@pytest.fixture(scope="package")
def twins() -> Iterator[LoopbackWorld]:
    sasl = ClusterOptions(protocol=Protocol.SASL_PLAINTEXT, advertise=Advertise.NAME)
    tls = ClusterOptions(brokers=2, protocol=Protocol.SASL_SSL, advertise=Advertise.NAME)
    with LoopbackWorld(hq=sasl, second_hq=tls, local=None) as world:
        yield world


def client_cluster(running: RunningCluster, *, by_name: bool | None = None) -> Cluster:
    """A cluster as a user of librdkafka writes it: PEM certificates, and with TLS (unless told otherwise) the brokers'
    own names as bootstrap servers, for that is what their certificates say."""
    cluster = running.cluster
    tls = "ssl.truststore.location" in cluster.client
    client = {name: value for name, value in cluster.client.items() if not name.startswith("ssl.truststore.")}
    if tls:
        client |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(running.folder / "trust.pem")}
    bootstrap = tuple(running.advertised.values()) if (tls if by_name is None else by_name) else None
    return replace(cluster, client=client, bootstrap_servers=bootstrap or cluster.bootstrap_servers)


def order(running: RunningCluster, topic: str, **changes: Any) -> dict[str, Any]:
    """What `program.py` is told of a cluster."""
    cluster = client_cluster(running)
    assert cluster.address_map is not None
    return {
        "name": cluster.name,
        "bootstrap": [str(server) for server in cluster.bootstrap_servers],
        "map": str(cluster.address_map),
        "unmapped": cluster.address_map.unmapped.value,
        "client": {n: v.reveal() if isinstance(v, Secret) else v for n, v in cluster.client.items()},
        "topic": topic,
        "partitions": 2 * len(running.nodes),
        "replicas": len(running.nodes),
    } | changes


@dataclass
class Program:
    """`program.py` at work."""

    process: subprocess.Popen[str]
    log: IO[str]
    """A file: what fills a pipe that nobody reads waits for ever, and a client without brokers says much."""

    @classmethod
    def start(cls, release: str, do: str, orders: list[dict[str, Any]], place: Place | None = None) -> Program:
        """`release` as in releases.py; the place is this network unless given."""
        log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by `end`
        process = subprocess.Popen(
            (place or Here()).command([sys.executable, "-m", "tests.integration.librdkafka.program"]),
            cwd=ROOT,
            env=environment(release),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        program = cls(process, log)
        program.tell(json.dumps({"do": do, "orders": orders}))
        return program

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """To a line that `traffic` was told."""
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def end(self) -> tuple[dict[str, Any], str]:
        """The last answer, and all that was logged."""
        try:
            out, _ = self.process.communicate(timeout=TIMEOUT)
        finally:
            self.process.kill()
        with self.log:
            self.log.seek(0)
            log = self.log.read()
        assert self.process.returncode == 0, log[-5000:]
        answer: dict[str, Any] = json.loads(out.splitlines()[-1])
        return answer, log
