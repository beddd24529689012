"""Consuming and producing through `brokernat tunnel --ssh` against plain `ssh -L`, one broker, one sshd.

`ssh -L` cannot change what clients are told, so the broker has a listener that advertises where ssh listens. The tunnel
forwards to another listener, which advertises what it binds, and brings its map into the client.
"""

from __future__ import annotations

import getpass
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path

from bench.plugin.throughput import CONSUMED, GONE_AT_ONCE, PARTITIONS, consume, produce
from bench.ratios import in_turns
from bench.report import compare
from tests.support.cluster_admin import delete_topics

from brokernat import tunnel
from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.config.model import TunnelSection
from brokernat.testbed import ClusterOptions, Listener, LoopbackWorld, Protocol
from brokernat.testbed.namespaces import tool
from brokernat.testbed.place import Here, connects, wait_until

_SSHD = Endpoint("127.0.92.1", 2222)
_FORWARDS = "127.0.92.2"
_BY_SSH, _BY_TUNNEL = "SSH", "TUNNEL"
_START_TIMEOUT = 30


def measure(rounds: int, records: int) -> Iterator[bool]:
    """Both directions; the figure of each is the lower end of its interval."""
    listeners = (
        Listener(_BY_SSH, Protocol.PLAINTEXT, advertised=_FORWARDS),
        Listener(_BY_TUNNEL, Protocol.PLAINTEXT),
    )
    with ExitStack() as stack:
        hq = stack.enter_context(LoopbackWorld(hq=ClusterOptions(brokers=1, listeners=listeners), local=None)).hq
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="brokernat-bench-")))
        destination = stack.enter_context(_sshd(folder))
        bound = hq.endpoints(_BY_SSH)[1]
        forward = Endpoint(_FORWARDS, bound.port)
        stack.enter_context(_plain(destination, forward, bound))
        plain = Cluster("plain", (forward,))
        through = Cluster("hq", (hq.endpoints(_BY_TUNNEL)[1],), tunnel=TunnelSection(ssh=destination))
        opened = stack.enter_context(tunnel.open(through)).cluster
        hq.create_topic(CONSUMED, partitions=PARTITIONS)
        produce(plain, CONSUMED, records)
        names = (f"produced-{number}" for number in count())

        def produce_anew(side: Cluster) -> float:
            topic = next(names)
            hq.create_topic(topic, configs=GONE_AT_ONCE)
            seconds = produce(side, topic, records)
            delete_topics(hq, topic)
            return seconds

        works: dict[str, Callable[[Cluster], float]] = {
            "consume": partial(consume, records=records),
            "produce": produce_anew,
        }
        for name, work in works.items():
            _, *taken = in_turns([partial(work, side) for side in (plain, opened, plain)], rounds + 1)
            yield compare(name, "tunnel", records, [taken], against="ssh -L")


@contextmanager
def _sshd(folder: Path) -> Iterator[str]:
    """An SSH server of this machine's; gives what stands behind `ssh` to reach it."""
    Path("/run/sshd").mkdir(exist_ok=True)
    for name in ("host", "user"):
        subprocess.run([tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    file = folder / "sshd"
    file.write_text(
        f"ListenAddress {_SSHD.host}\nPort {_SSHD.port}\nHostKey {folder}/host\nStrictModes no\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/user.pub\n"
    )
    client = folder / "client"
    client.write_text(
        f"HostName {_SSHD.host}\nPort {_SSHD.port}\nUser {getpass.getuser()}\nIdentityFile {folder}/user\n"
        f"IdentitiesOnly yes\nUserKnownHostsFile {folder}/known_hosts\nStrictHostKeyChecking accept-new\n"
        "LogLevel ERROR\n"
    )
    server = subprocess.Popen([tool("sshd"), "-D", "-E", str(folder / "log"), "-f", str(file)])
    try:
        wait_until(lambda: connects(_SSHD, Here()), "sshd", timeout=_START_TIMEOUT)
        yield f"-F {client} bastion"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def _plain(destination: str, listen: Endpoint, upstream: Endpoint) -> Iterator[None]:
    process = subprocess.Popen(["ssh", "-N", "-L", f"{listen}:{upstream}", *destination.split()])
    try:
        wait_until(lambda: connects(listen, Here()), "ssh -L", timeout=_START_TIMEOUT)
        yield
    finally:
        process.terminate()
        process.wait()
