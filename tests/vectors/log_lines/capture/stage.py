"""The real brokers and sockets that clients are sent to, and the situations: what a client is told, and where.

One world serves them all. What differs between *phases* is what listens at the endpoints that headquarters' brokers
advertise: nobody, other brokers than named, another cluster, all but one broker.
"""

from __future__ import annotations

import socket
import socketserver
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tests.support.odd_certificates import MUTUAL, demanding_certificates, make_odd_stores

from brokernat.address import Endpoint
from brokernat.testbed import ClusterOptions, Listener, LoopbackWorld, Protocol, Record
from brokernat.testbed.key_stores import TRUST_P12, TRUST_PEM

VERSION = "4.4.0"
TOPIC = "orders"
FORWARDER = Path(__file__).parents[4] / "src" / "brokernat" / "testbed" / "forwarder.py"


@dataclass(frozen=True)
class Situation:
    """One configuration of a client. `how` says in words how its lines were provoked."""

    name: str
    how: str
    servers: str
    protocol: str = "PLAINTEXT"
    mechanism: str = ""
    user: str = ""
    password: str = ""
    p12: str = ""
    ca: str = ""
    topic: str = TOPIC
    size: int = 10
    refresh: str = ""
    """Milliseconds between two questions for metadata."""
    debug: str = ""
    """What librdkafka shall tell of itself."""
    elsewhere: str = ""
    """The bootstrap servers of the cluster where the same job goes on."""
    map: str = ""
    plugin: str = ""
    verify: bool = True
    """Whether the certificate must have the name that was dialled."""
    alone: bool = False
    """Has a JVM of its own: because it takes that down, or because nothing else may be in its log."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Stage:
    world: LoopbackWorld
    sockets: Mapping[str, int]
    folder: Path

    def situations(self, phase: str) -> list[Situation]:
        """What there is to provoke while this phase is on."""
        return list(getattr(self, f"_{phase}")())

    def visit(self) -> None:
        """What comes to a broker's port and is no client of Kafka's: a health check by HTTP, a TLS alert."""
        for greeting in (b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n", b"\x15\x03\x03\x00\x02\x02\x28"):
            with socket.create_connection((self.world.local.bound[1].host, self.world.local.bound[1].port)) as visitor:
                visitor.sendall(greeting)
                visitor.settimeout(5)
                with suppress(OSError):
                    visitor.recv(1)

    def forwards(self, phase: str) -> dict[Endpoint, Endpoint]:
        """What stands at headquarters' advertised endpoints in a phase."""
        hq, local = self.world.hq, self.world.local
        one, two, three = (hq.bound[node] for node in (1, 2, 3))
        leads = {
            "dead": {},
            "swapped": {1: two, 2: three, 3: one},
            "foreign": {1: local.bound[1], 2: local.bound[1], 3: three},
            "partly": {1: one, 2: two},
            "ends": {1: one, 2: two, 3: three},
            "sticks": {1: one, 2: two, 3: three},
            "spark": {1: one, 2: two, 3: three},
        }[phase]
        return {hq.advertised[node]: target for node, target in leads.items()}

    def _dead(self) -> Iterator[Situation]:
        hq, local = self.world.hq, self.world.local
        gateway = ",".join(map(str, hq.reachable.values()))
        plain = str(local.bound[1])
        p12, ca = str(local.folder / TRUST_P12), str(local.folder / TRUST_PEM)
        yield Situation("healthy", "nothing is wrong", plain, alone=True)
        yield Situation("advertised-dead", "the brokers advertise endpoints where nobody listens", gateway)
        yield Situation("advertised-name", "the broker advertises a name that does not resolve", self._at("NAMES"))
        yield Situation("bootstrap-refused", "nobody listens at the bootstrap server", "127.0.0.1:1")
        yield Situation("bootstrap-name", "the bootstrap server's name does not resolve", "kafka.invalid:9092")
        yield Situation("two-addresses", "nobody listens at any address of the bootstrap server's name", "localhost:1")
        yield Situation("bootstrap-mixed", "one of two names does not resolve", f"kafka.invalid:9092,{plain}")
        yield Situation("bootstrap-url", "a bootstrap server without a port", "kafka-1")
        yield Situation("tls-to-plain", "TLS to a PLAINTEXT listener", plain, "SSL", p12=p12, ca=ca)
        yield Situation("plain-to-tls", "PLAINTEXT to a TLS listener", self._at("TLS"), alone=True)
        yield Situation("login-to-plain", "SASL to a PLAINTEXT listener", plain, "SASL_PLAINTEXT", "PLAIN", "app", "x")
        yield Situation("login-to-tls", "SASL_PLAINTEXT to a TLS listener", self._at("TLS"), "SASL_PLAINTEXT", "PLAIN",
                        "app", "x", alone=True)  # fmt: skip
        login = Situation("", "", self._at("LOGIN"), "SASL_PLAINTEXT", "PLAIN", "app", "app-secret")
        yield replace(login, name="wrong-password", how="a wrong password", password="wrong")
        yield replace(login, name="wrong-mechanism", how="SCRAM at a listener with PLAIN", mechanism="SCRAM-SHA-256")
        yield replace(login, name="no-right", how="a login without any ACL")
        yield replace(login, name="no-login", how="SASL_PLAINTEXT without a login", mechanism="")
        yield Situation("plain-to-login", "PLAINTEXT to a SASL listener", self._at("LOGIN"))
        tls = Situation("", "", self._at("TLS"), "SSL")
        yield replace(tls, name="untrusted", how="a certificate that no CA of the client has signed")
        mutual = replace(tls, servers=self._at(MUTUAL), verify=False, p12=p12, ca=ca)
        yield replace(mutual, name="no-certificate", how="a listener that demands a certificate of the client")
        expired = replace(tls, p12=str(self.folder / "ca.p12"), ca=str(self.folder / "ca.pem"))
        yield replace(expired, name="expired", how="an expired certificate", servers=self._port("expired"))
        yield replace(expired, name="wrong-name", how="a certificate of another name", servers=self._port("misnamed"))
        plain_text = "TLS to a server that greets in plain text"
        yield Situation("tls-to-ssh", plain_text, self._port("ssh"), "SSL", p12=p12, ca=ca)
        yield replace(expired, name="no-cipher", how="a server without a common cipher", servers=self._port("psk"))
        yield Situation("http", "an HTTP server", self._port("http"), alone=True)
        yield Situation("ssh", "a server that greets as SSH does", self._port("ssh"), alone=True)
        yield Situation("silent", "a server that never answers", self._port("silent"))
        yield Situation("closing", "a server that closes at once, as a gateway without upstream", self._port("closing"))
        yield Situation(
            "tls-closed", "a port that closes when TLS starts", self._port("closing"), "SSL", p12=p12, ca=ca
        )
        yield Situation("black-hole", "a full backlog: packets are dropped", self._port("full"))
        yield Situation("controller", "a controller's listener", str(local.plan.broker(1).controller))
        yield Situation("no-topic", "a topic that is not there", plain, topic="missing-topic")
        yield Situation("too-large", "a record of 2 MiB", plain, size=2 * 1024 * 1024)
        yield Situation("larger-than-topic", "a record larger than the topic's limit", plain, topic="narrow", size=5000)
        gaps = str(next(iter(hq.endpoints("GAPS").values())))
        yield Situation("listener-missing", "a listener that the leader's broker lacks", gaps)

    def _swapped(self) -> Iterator[Situation]:
        yield Situation("swapped", "each advertised endpoint leads to another broker", self._gateway())
        how = "each advertised endpoint leads to another broker; with `debug=msg`"
        yield Situation("swapped-debug", how, self._gateway(), debug="msg")

    def _foreign(self) -> Iterator[Situation]:
        how = "two advertised endpoints lead to another cluster"
        yield Situation("foreign", how, self._gateway())
        yield Situation("renewed", how + ", and metadata is asked for often", self._gateway(), refresh="300")
        both = f"{self.world.hq.reachable[1]},{self.world.local.bound[1]}"
        yield Situation("two-clusters", "bootstrap servers of two clusters", both)

    def _partly(self) -> Iterator[Situation]:
        for number in range(4):
            how = "the endpoint of one of three brokers is dead, the coordinator's among them"
            yield Situation(f"partly-{number}", how, self._gateway())

    def _ends(self) -> Iterator[Situation]:
        yield Situation("ends", "connections end after three seconds", self._gateway(), refresh="700")

    def _sticks(self) -> Iterator[Situation]:
        how = "nothing comes any more on a connection after three seconds"
        yield Situation("sticks", how, self._gateway(), refresh="700")

    def _spark(self) -> Iterator[Situation]:
        gateway, plain = self._gateway(), str(self.world.local.bound[1])
        how = "the job goes on at another cluster, where the topic ends earlier"
        yield Situation("elsewhere", how, plain, topic="kept", elsewhere=gateway)
        yield Situation("deleted", "records are deleted that the checkpoint wants", plain, topic="aged")
        how = "a leader that is slower than `kafkaConsumer.pollTimeoutMs`"
        yield Situation("impatient", how, plain, topic="kept")

    def _gateway(self) -> str:
        return ",".join(map(str, self.world.hq.reachable.values()))

    def _at(self, listener: str) -> str:
        return str(self.world.local.endpoints(listener)[1])

    def _port(self, name: str) -> str:
        return f"127.0.0.1:{self.sockets[name]}"


@contextmanager
def stage(folder: Path) -> Iterator[Stage]:
    """Everything up, with the topics."""

    local = ClusterOptions(
        brokers=1,
        version=VERSION,
        authorize=True,
        listeners=(
            Listener("NAMES", Protocol.PLAINTEXT, advertised="kafka-1.hq.invalid"),
            Listener("TLS", Protocol.SSL, advertised="kafka-1.hq.invalid"),
            Listener(MUTUAL, Protocol.SSL, advertised="kafka-1.hq.invalid"),
            Listener("LOGIN", Protocol.SASL_PLAINTEXT),
        ),
        broker_properties=demanding_certificates("local"),
        make_stores=make_odd_stores,
    )
    hq = ClusterOptions(version=VERSION, listeners=(Listener("GAPS", Protocol.PLAINTEXT, nodes=(1, 3)),))
    with ExitStack() as stack:
        world = stack.enter_context(LoopbackWorld(hq=hq, local=local))
        world.hq.create_topic(TOPIC, partitions=6)
        world.local.create_topic(TOPIC, partitions=3)
        world.local.create_topic("narrow", partitions=1, configs={"max.message.bytes": "1000"})
        for cluster, records in ((world.local, 20), (world.hq, 5)):
            cluster.create_topic("kept", partitions=1)
            cluster.write("kept", [Record(b"x")] * records)
        world.local.create_topic("aged", partitions=1)
        world.local.write("aged", [Record(b"x")] * 10)
        make_certificates(folder)
        sockets = stack.enter_context(_sockets(folder))
        yield Stage(world, sockets, folder)


@contextmanager
def forwarding(pairs: Mapping[Endpoint, Endpoint]) -> Iterator[None]:
    """Forwarders at endpoints that were dead."""
    if not pairs:
        yield
        return
    words = [sys.executable, "-I", str(FORWARDER), *(f"{listen}={upstream}" for listen, upstream in pairs.items())]
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    try:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        yield
    finally:
        process.kill()
        process.communicate()


def make_certificates(folder: Path) -> None:
    """A CA of our own (`ca.p12`, `ca.pem`), and certificates of it: one that has ended, one of another name."""
    store = ["-storetype", "PKCS12", "-storepass", "testbed"]
    key = ["-keyalg", "EC", "-groupname", "secp256r1"]
    ca = ["-keystore", "ca-key.p12", *store, "-alias", "ca"]
    _keytool(folder, "-genkeypair", *ca, *key, "-dname", "CN=test CA", "-ext", "bc:c")
    _keytool(folder, "-exportcert", "-rfc", *ca, "-file", "ca.pem")
    _keytool(folder, "-importcert", "-noprompt", "-alias", "ca", "-keystore", "ca.p12", *store, "-file", "ca.pem")
    kinds = {
        "expired": ["-startdate", "-30d", "-validity", "20", "-ext", "san=ip:127.0.0.1"],
        "misnamed": ["-ext", "san=dns:kafka-1.hq.invalid"],
    }
    for name, what in kinds.items():
        mine = ["-keystore", f"{name}.p12", *store, "-alias", "broker"]
        _keytool(folder, "-genkeypair", *mine, *key, "-dname", "CN=broker")
        _keytool(folder, "-certreq", *mine, "-file", f"{name}.csr")
        _keytool(folder, "-gencert", *ca, "-infile", f"{name}.csr", "-outfile", f"{name}.crt", "-rfc", *what)
        words = ["openssl", "pkcs12", "-in", f"{name}.p12", "-nodes", "-nocerts", "-passin", "pass:testbed"]
        done = subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=60)
        (folder / f"{name}.pem").write_bytes(done.stdout + (folder / f"{name}.crt").read_bytes())


def _keytool(folder: Path, *words: str) -> None:
    subprocess.run(["keytool", *words], cwd=folder, check=True, capture_output=True, timeout=60)


@contextmanager
def _sockets(folder: Path) -> Iterator[dict[str, int]]:
    with ExitStack() as stack:
        servers: dict[str, socketserver.TCPServer] = {
            "http": _Server(("127.0.0.1", 0), _Http),
            "ssh": _Server(("127.0.0.1", 0), _Ssh),
            "silent": _Server(("127.0.0.1", 0), _Silent),
            "closing": _Server(("127.0.0.1", 0), _Closing),
            "expired": _Server(("127.0.0.1", 0), _Silent),
            "misnamed": _Server(("127.0.0.1", 0), _Silent),
            "psk": _Server(("127.0.0.1", 0), _Silent),
        }
        for name, certificate, ciphers in (
            ("expired", "expired.pem", ""),
            ("misnamed", "misnamed.pem", ""),
            ("psk", "misnamed.pem", "PSK-AES128-CBC-SHA"),
        ):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(folder / certificate)
            if ciphers:
                context.maximum_version = ssl.TLSVersion.TLSv1_2
                context.set_ciphers(ciphers)
            servers[name].socket = context.wrap_socket(servers[name].socket, server_side=True)
        ports = {}
        for name, server in servers.items():
            stack.enter_context(server)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            ports[name] = server.server_address[1]
            stack.callback(server.shutdown)
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        ports["full"] = full.getsockname()[1]
        for _ in range(4):
            # Connections that nobody accepts, until the kernel drops the next.
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", ports["full"]))
        yield ports


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


class _Http(socketserver.BaseRequestHandler):
    """Refuses what is no HTTP as soon as it comes, as nginx does."""

    def handle(self) -> None:
        with suppress(OSError):
            self.request.recv(4096)
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nServer: nginx\r\nConnection: close\r\n\r\n")


class _Ssh(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        with suppress(OSError):
            self.request.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n")
            self.request.recv(4096)


class _Silent(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        with suppress(OSError):
            while self.request.recv(4096):
                pass


class _Closing(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        pass
