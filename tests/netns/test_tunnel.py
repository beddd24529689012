"""Clients that reach an SSH server and nothing else: `brokernat tunnel` in front of unchanged programs.

Two headquarters with the same addresses, each behind a host with sshd; nginx is stopped, so no port of a broker is open
to the client. A third sshd stands in the brokers' network, for `-J`. The user's ssh configuration is a file of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyspark
import pytest
from tests.integration.exec.conftest import KAFKA_BIN, distribution
from tests.leaks.families import foreign_families
from tests.netns.spark.pipeline_file import cluster_section, write_file

from brokernat.address import Endpoint
from brokernat.clients.spark.connector import connector_jars
from brokernat.config import Cluster
from brokernat.testbed import ClusterOptions, NetnsWorld, Protocol, Record, RunningCluster
from brokernat.testbed.namespaces import Namespace, tool
from brokernat.testbed.place import wait_until

pytestmark = pytest.mark.netns

BASTION, SECOND, INNER = Endpoint("172.10.1.40", 22), Endpoint("172.10.1.41", 22), Endpoint("192.168.1.40", 2222)
LINES = sorted(f"order {number}" for number in range(30))
ENDS_WITHIN = 240
SPARK_JOB = str(Path(__file__).parent / "spark" / "jobs" / "existing.py")
_SSHD = """\
ListenAddress {host}
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
StrictModes no
PidFile none
{more}
"""
_CONFIG = """\
Host *
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  StrictHostKeyChecking yes
Host bastion
  HostName {bastion}
Host second
  HostName {second}
Host inner
  HostName {inner.host}
  Port {inner.port}
"""
# A line in is a record for every partition; a line out is how many were delivered.
_PROGRAM = """\
import json, sys
from confluent_kafka import Producer
properties, topic, partitions = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
producer = Producer(properties | {"message.timeout.ms": 90000, "topic.metadata.refresh.interval.ms": 2000})
for line in sys.stdin:
    failed = []
    for partition in range(partitions):
        producer.produce(topic, line.strip(), partition=partition, on_delivery=lambda e, _: e and failed.append(str(e)))
    producer.flush()
    print(failed or "delivered", flush=True)
"""


class Sshd:
    """An SSH server of a namespace; `stop` ends its sessions as well."""

    def __init__(self, place: Namespace, end: Endpoint, folder: Path, more: str = "") -> None:
        self.place, self.end, self.file = place, end, folder / f"sshd-{place.host}-{end.port}"
        self.file.write_text(_SSHD.format(host=end.host, port=end.port, folder=folder, more=more))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return when it answers."""
        words = [tool("sshd"), "-D", "-E", f"{self.file}.log", "-f", str(self.file)]
        self._process = subprocess.Popen(self.place.command(words), process_group=0)

        def answers() -> bool:
            with contextlib.suppress(OSError):
                self.place.dial(self.end).close()
                return True
            return False

        wait_until(answers, f"sshd at {self.end}", timeout=30)

    def stop(self) -> None:
        """At once, with every session, whose processes have groups and sessions of their own."""
        if self._process is None:
            return
        listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        parents = [tuple(map(int, line.split())) for line in listed.splitlines()]
        ending, found = [self._process.pid], {self._process.pid}
        while ending:
            children = [pid for pid, parent in parents if parent == ending[-1] and pid not in found]
            ending[-1:] = children
            found.update(children)
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._process = None


@pytest.fixture(scope="module")
def world() -> Iterator[NetnsWorld]:
    hq = ClusterOptions(brokers=3, protocol=Protocol.SASL_PLAINTEXT)
    with NetnsWorld(hq=hq, second_hq=ClusterOptions(brokers=1), local=None) as made:
        made.gateway.stop()
        yield made


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the keys, the ssh configuration and known_hosts."""
    folder = tmp_path_factory.mktemp("ssh")
    Path("/run/sshd").mkdir(exist_ok=True)
    for name in ("host", "user"):
        subprocess.run([tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    key = " ".join((folder / "host.pub").read_text().split()[:2])
    hosts = [BASTION.host, SECOND.host, f"[{INNER.host}]:{INNER.port}"]
    (folder / "known_hosts").write_text("".join(f"{host} {key}\n" for host in hosts))
    (folder / "config").write_text(_CONFIG.format(folder=folder, bastion=BASTION.host, second=SECOND.host, inner=INNER))
    return folder


@pytest.fixture(scope="module")
def bastion(world: NetnsWorld, keys: Path) -> Iterator[Sshd]:
    """The SSH server that every test uses."""
    servers = [
        Sshd(world.namespace("gw"), BASTION, keys),
        Sshd(world.namespace("gw2"), SECOND, keys),
        Sshd(world.namespace("gw"), INNER, keys),
    ]
    for server in servers:
        server.start()
    yield servers[0]
    for server in servers:
        server.stop()


Tunnel = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def words(bastion: Sshd, keys: Path) -> Callable[..., list[str]]:
    """The command line of a tunnel: `words("bastion", "--cluster", ...)`."""

    def line(destination: str, *more: str) -> list[str]:
        ssh = shlex.join(["-F", str(keys / "config"), *shlex.split(destination)])
        return [sys.executable, "-m", "brokernat", "tunnel", "--ssh", ssh, *more]

    return line


@pytest.fixture
def config(world: NetnsWorld, tmp_path: Path) -> Path:
    """brokernat.yaml as the far end sees the clusters: the brokers' own addresses, no map."""
    return write_file(tmp_path, {each.name: cluster_section(seen_there(each)) for each in (world.hq, world.hq2)}, {})


@pytest.fixture
def run(world: NetnsWorld, config: Path, monkeypatch: pytest.MonkeyPatch) -> Tunnel:
    """Runs a command where clients stand, to its end."""

    def run_it(command: list[str], stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            world.client.command(command), cwd=config.parent, env={**os.environ, **environ}, input=stdin,
            capture_output=True, text=True, timeout=ENDS_WITHIN, check=False, start_new_session=True,
        )  # fmt: skip

    return run_it


def seen_there(running: RunningCluster) -> Cluster:
    return Cluster(running.name, (running.advertised[1],), client=running.cluster.client)


def values(running: RunningCluster, topic: str) -> list[str]:
    return sorted((record.value or b"").decode() for record in running.read(topic))


HQ = ("--cluster", "hq", "--with-client-properties", "--")


def test_kcat_writes_and_reads(
    run: Tunnel, words: Callable[..., list[str]], world: NetnsWorld, topic_name: str
) -> None:
    world.hq.create_topic(topic_name, partitions=3)
    sent = run(words("bastion", *HQ, "kcat", "-P", "-t", topic_name), stdin="\n".join(LINES))
    assert sent.returncode == 0, sent.stderr
    assert "hq: 3 brokers through `ssh" in sent.stderr
    assert values(world.hq, topic_name) == LINES
    read = run(words("bastion", *HQ, "kcat", "-C", "-t", topic_name, "-e", "-q"))
    assert sorted(read.stdout.splitlines()) == LINES, read.stderr


def test_kafkas_console_tools_write_and_read(
    run: Tunnel, words: Callable[..., list[str]], world: NetnsWorld, topic_name: str
) -> None:
    world.hq.create_topic(topic_name, partitions=3)
    environ = distribution()
    producer, consumer = (str(KAFKA_BIN / f"kafka-console-{name}.sh") for name in ("producer", "consumer"))
    sent = run(words("bastion", *HQ, producer, "--topic", topic_name), stdin="\n".join(LINES), **environ)
    assert sent.returncode == 0, sent.stderr[-4000:]
    last = ("--from-beginning", "--max-messages", str(len(LINES)), "--timeout-ms", "120000")
    read = run(words("bastion", *HQ, consumer, "--topic", topic_name, *last), **environ)
    assert sorted(line for line in read.stdout.splitlines() if line.startswith("order ")) == LINES, read.stderr[-4000:]


def test_spark_in_local_mode_reads_and_writes(
    run: Tunnel, words: Callable[..., list[str]], world: NetnsWorld, topic_name: str, tmp_path: Path
) -> None:
    hq, target = world.hq, f"{topic_name}-copy"
    hq.create_topic(topic_name, partitions=3)
    hq.create_topic(target, partitions=3)
    hq.write(topic_name, [Record(value=line.encode()) for line in LINES])
    (tmp_path / "jaas").write_text(hq.cluster.kafka_properties()["sasl.jaas.config"])
    jars = ",".join(map(str, connector_jars(pyspark.__version__).jars))
    job = [sys.executable, SPARK_JOB, str(hq.advertised[1]), topic_name, target, str(tmp_path / "jaas")]
    settings = {"PYSPARK_SUBMIT_ARGS": f"--master local[2] --jars {jars} pyspark-shell"}
    done = run(words("bastion", "--cluster", "hq", "--", *job), **settings)
    assert done.returncode == 0, done.stderr[-4000:]
    assert values(hq, target) == LINES

    elsewhere = run(
        words("bastion", "--cluster", "hq", "--", *job),
        PYSPARK_SUBMIT_ARGS="--master spark://master:7077 pyspark-shell",
    )
    assert elsewhere.returncode == 125
    assert "the executors of spark://master:7077 run on other hosts" in elsewhere.stderr


def test_a_host_behind_another(run: Tunnel, words: Callable[..., list[str]], world: NetnsWorld) -> None:
    listed = run(words("-J bastion inner", *HQ, "kcat", "-L"))
    assert listed.returncode == 0, listed.stderr
    for advertised in world.hq.advertised.values():
        assert str(advertised) in listed.stdout


def test_two_clusters_with_the_same_addresses_at_once(
    run: Tunnel, words: Callable[..., list[str]], world: NetnsWorld, config: Path, topic_name: str
) -> None:
    """The second tunnel runs inside the first, so both are open; each program's map is its own."""
    for each in (world.hq, world.hq2):
        each.create_topic(topic_name)
    write = ["kcat", "-P", "-t", topic_name, "-b", str(world.hq2.advertised[1])]
    inner = words("second", "--cluster", "hq2", "--", *write)
    both = f"{shlex.join(inner)} <<< second && kcat -P -t {topic_name} -F $1 <<< first"
    done = run(words("bastion", "--cluster", "hq", "--", "bash", "-c", both, "bash", str(login(world, config.parent))))
    assert done.returncode == 0, done.stderr
    assert values(world.hq, topic_name) == ["first"]
    assert values(world.hq2, topic_name) == ["second"]


def login(world: NetnsWorld, folder: Path) -> Path:
    """kcat's own file for the first headquarters."""
    file = folder / "login"
    options = world.hq.plan.options
    file.write_text(
        f"bootstrap.servers={world.hq.advertised[1]}\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f"sasl.username={options.username}\nsasl.password={options.password}\n"
    )
    return file


def test_the_commands_open_the_tunnel_of_the_file(run: Tunnel, world: NetnsWorld, keys: Path, bastion: Sshd,
                                                  config: Path, topic_name: str) -> None:  # fmt: skip
    section = cluster_section(seen_there(world.hq)) | {"tunnel": {"ssh": f"-F {keys}/config bastion"}}
    write_file(config.parent, {"hq": section}, {})
    world.hq.create_topic(topic_name)
    brokernat = [sys.executable, "-m", "brokernat"]
    doctor = run([*brokernat, "doctor", "--cluster", "hq", "--format", "json"])
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    found = run([*brokernat, "discover", "--cluster", "hq", "--format", "json"])
    assert found.returncode == 0, found.stderr
    assert [each["advertised"] for each in json.loads(found.stdout)["entries"]] == [
        str(each) for each in world.hq.advertised.values()
    ]
    to = ("--cluster", "hq", "--topic", topic_name, "--spool", str(config.parent / "spool"), "--stdin", "--once")
    shipped = run([*brokernat, "ship", *to], stdin="a line\n")
    assert shipped.returncode == 0, shipped.stderr
    assert len(world.hq.read(topic_name)) == 1
    listed = run([*brokernat, "exec", "--cluster", "hq", "--with-client-properties", "--", "kcat", "-L"])
    assert listed.returncode == 0, listed.stderr
    assert str(world.hq.advertised[3]) in listed.stdout


def test_the_guides_python_runs_as_it_is_written(run: Tunnel, world: NetnsWorld, keys: Path, bastion: Sshd,
                                                 config: Path) -> None:  # fmt: skip
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "ssh-bastion.md").read_text("utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", guide, flags=re.DOTALL)
    section = cluster_section(seen_there(world.hq)) | {"tunnel": {"ssh": f"-F {keys}/config bastion"}}
    write_file(config.parent, {"hq": section}, {})
    world.hq.create_topic("orders")
    done = run([sys.executable, "-c", program])
    assert done.returncode == 0, done.stderr
    assert "FAIL" not in done.stderr, "the producer outlived the tunnel"
    assert values(world.hq, "orders") == ["through the bastion"]


def test_socat_and_ssh_as_any_command(run: Tunnel, world: NetnsWorld, keys: Path, bastion: Sshd) -> None:
    # To socat a colon ends a parameter.
    far_end = f"'EXEC:ssh -F {keys}/config -W {{host}}\\:{{port}} bastion'"
    forward = f"socat TCP-LISTEN:{{local}},bind=127.0.0.1,fork,reuseaddr {far_end}"
    listed = run([sys.executable, "-m", "brokernat", "tunnel", "--via", forward, *HQ, "kcat", "-L"])
    assert listed.returncode == 0, listed.stderr
    assert str(world.hq.advertised[3]) in listed.stdout


def test_the_guides_socat(world: NetnsWorld, config: Path) -> None:
    """As it is written, from a host that reaches the brokers."""
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "session-commands.md").read_text("utf-8")
    (forward,) = re.findall(r"`(socat [^`]*)`", guide)
    command = [sys.executable, "-m", "brokernat", "tunnel", "--via", forward, *HQ, "kcat", "-L"]
    listed = subprocess.run(
        world.namespace("gw").command(command), cwd=config.parent, capture_output=True, text=True,
        timeout=ENDS_WITHIN, check=False, start_new_session=True,
    )  # fmt: skip
    assert listed.returncode == 0, listed.stderr
    assert str(world.hq.advertised[3]) in listed.stdout


@pytest.mark.soak
@pytest.mark.parametrize("library", ["kafkajs", "franz-go"])
def test_go_and_node_go_through_the_proxy(
    run: Tunnel, words: Callable[..., list[str]], world: NetnsWorld, topic_name: str, library: str
) -> None:
    """Every role of the library, by a program that knows nothing of a tunnel."""
    (program,) = (each for each in foreign_families() if each.name.startswith(library))
    order = {
        "do": "exercise", "bootstrap": ["127.0.0.1:19092"], "topic": topic_name, "partitions": 3, "replicas": 3,
        "roles": program.roles, "brokers": world.hq.plan.options.version,
    }  # fmt: skip
    options = ("--proxy", "--login", "--cluster", "hq", "--")
    done = run(words("bastion", *options, *program.words), stdin=json.dumps(order) + "\n")
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome.pop("version") == program.name
    assert outcome == dict.fromkeys(program.roles, "ok"), done.stderr[-4000:]


def test_a_program_that_loads_no_map_goes_through_the_proxy(
    run: Tunnel, words: Callable[..., list[str]], world: NetnsWorld, topic_name: str
) -> None:
    world.hq.create_topic(topic_name, partitions=3)
    kcat = ("--proxy", "--login", "--cluster", "hq", "--", "kcat", "-b", "127.0.0.1:19092", "-t", topic_name)
    sent = run(words("bastion", *kcat, "-P"), stdin="\n".join(LINES))
    assert sent.returncode == 0, sent.stderr
    assert values(world.hq, topic_name) == LINES
    read = run(words("bastion", *kcat, "-C", "-e", "-q"))
    assert sorted(read.stdout.splitlines()) == LINES, read.stderr


@pytest.mark.parametrize(
    ("known", "options", "message", "hint"),
    [
        ("other", "", "the host's key differs from known_hosts", "ssh-keygen -R"),
        ("", "", "the host's key is not in known_hosts, and there is no terminal", "compare the fingerprint"),
        ("same", "-i /dev/null -o IdentitiesOnly=yes", "the login was refused", "ssh-add"),
    ],
    ids=["another key", "unknown key", "a prompt without a terminal"],
)
def test_a_login_that_fails_is_named(run: Tunnel, words: Callable[..., list[str]], keys: Path, tmp_path: Path,
                                     known: str, options: str, message: str, hint: str) -> None:  # fmt: skip
    written = {
        "same": (keys / "known_hosts").read_text(),
        "other": f"{BASTION.host} {' '.join((keys / 'user.pub').read_text().split()[:2])}\n",
    }
    (tmp_path / "known_hosts").write_text(written.get(known, ""))
    if options:
        options = f"-F none -o UserKnownHostsFile={keys}/known_hosts {options} root@{BASTION.host}"
        line = [sys.executable, "-m", "brokernat", "tunnel", "--ssh", options]
    else:
        line = words(f"-o UserKnownHostsFile={tmp_path}/known_hosts bastion")
    done = run([*line, "--cluster", "hq"])
    assert done.returncode == 3
    assert message in done.stderr
    assert hint in done.stderr


def test_a_server_that_allows_no_forwarding_is_named(
    run: Tunnel, words: Callable[..., list[str]], world: NetnsWorld, keys: Path
) -> None:
    strict = Sshd(world.namespace("gw"), Endpoint(BASTION.host, 2200), keys, "AllowTcpForwarding no")
    strict.start()
    try:
        done = run(words("-o StrictHostKeyChecking=no -p 2200 bastion", "--cluster", "hq"))
    finally:
        strict.stop()
    assert done.returncode == 3
    assert "no bootstrap server answers" in done.stderr
    assert "sshd does not allow forwarding (AllowTcpForwarding" in done.stderr


class Running:
    """A program behind a tunnel that stays open; its lines and the tunnel's."""

    def __init__(self, process: subprocess.Popen[str], events: Path) -> None:
        self.process, self.events = process, events

    def write(self, text: str) -> str:
        """A record for every partition; the result is what became of them."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def wait(self, event: str) -> None:
        def ended() -> str | None:
            return None if self.process.poll() is None else self.events.read_text()

        wait_until(lambda: event in self.events.read_text(), event, timeout=120, abort=ended)


@contextlib.contextmanager
def running(world: NetnsWorld, line: list[str], folder: Path, topic: str) -> Iterator[Running]:
    properties = dict(entry.split("=", 1) for entry in login(world, folder).read_text().splitlines())
    program = [sys.executable, "-c", _PROGRAM, json.dumps(properties), topic, "3"]
    events = folder / "events"
    with events.open("w") as output, subprocess.Popen(
        world.client.command([*line, "--cluster", "hq", "--", *program]), cwd=folder, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=output, text=True,
    ) as process:  # fmt: skip
        try:
            yield Running(process, events)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(60) == 0, events.read_text()


def test_a_program_goes_on_while_brokers_and_the_ssh_server_come_and_go(
    world: NetnsWorld, words: Callable[..., list[str]], config: Path, bastion: Sshd, topic_name: str
) -> None:
    hq = world.hq
    hq.create_topic(topic_name, partitions=3, replicas=2)
    sockets = Path("/tmp").glob("brokernat-*/ssh")
    before = set(sockets)
    with running(world, words("bastion"), config.parent, topic_name) as program:
        assert program.write("begin") == "delivered"

        hq.stop(1)
        assert program.write("leaders have moved") == "delivered"
        hq.start(1)
        assert program.write("a broker is back") == "delivered"

        bastion.stop()
        program.wait("has ended")
        bastion.start()
        program.wait("is open again")
        assert program.write("the SSH server is back") == "delivered"
    wanted = ["a broker is back", "begin", "leaders have moved", "the SSH server is back"]
    assert sorted(set(values(hq, topic_name))) == wanted
    assert set(Path("/tmp").glob("brokernat-*/ssh")) <= before


def test_a_broker_that_joins_is_reached_by_a_program_that_runs_already(
    world: NetnsWorld, words: Callable[..., list[str]], config: Path, topic_name: str
) -> None:
    hq = world.hq
    hq.create_topic(topic_name, partitions=3)
    hq.stop(3)
    try:
        with running(world, words("bastion"), config.parent, topic_name) as program:
            program.wait("hq: 2 brokers through")
            hq.start(3)
            program.wait("node 3 at 192.168.1.25:9092 was added: 192.168.1.25:9092 = 127.0.0.1:")
            assert program.write("all") == "delivered"
    finally:
        if not hq.running(3):
            hq.start(3)
    assert {record.partition for record in hq.read(topic_name)} == {0, 1, 2}
