"""A tunnel through a forwarder to simulated brokers: opened, proven, healed, closed; loopback is the far end."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support import forwarder
from tests.support.simulated_brokers import Served, serving

from brokernat import tunnel
from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.config import Cluster
from brokernat.config.model import KubectlSection, TunnelSection
from brokernat.doctor.evidence import EndpointProbe
from brokernat.errors import ConfigError, MissingToolError, NothingReachableError, ProofFailedError
from brokernat.testbed.place import wait_until
from brokernat.tunnel import Tunnel, proof
from brokernat.tunnel import tunnel as module
from brokernat.tunnel.forwarder import Forward, TunnelFailedError
from brokernat.tunnel.proof import probe

FORWARDER = f"{sys.executable} -IS {Path(forwarder.__file__)}"
VIA = TunnelSection(via=f"{FORWARDER} {{local}} {{host}} {{port}}")
NOBODY = Endpoint("127.0.0.1", 1)


class Events(list[str]):
    """The lines of a tunnel; `wait` for one."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()

    def __call__(self, line: str) -> None:
        with self._changed:
            self.append(line)
            self._changed.notify_all()

    def wait(self, part: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: any(part in line for line in self), 60), self


@pytest.fixture
def brokers() -> Iterator[Served]:
    with serving(3, dead="127.0.77") as served:
        yield served


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the tunnel's folder and what it starts are found."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def cluster(served: Served, section: TunnelSection | None = VIA, **wrong: str) -> Cluster:
    """The far end dials what is reachable for what is advertised; `wrong` exchanges two."""
    advertised, reachable = served.cluster.advertised, served.reachable
    ends = {node_id: reachable[int(wrong.get(f"node_{node_id}", node_id))] for node_id in advertised}
    rules = ",".join(f"{advertised[node_id]}={ends[node_id]}" for node_id in advertised)
    return Cluster("hq", (advertised[1],), AddressMap.parse(rules), tunnel=section)


def test_every_broker_has_a_proven_forward_and_a_rule(brokers: Served, folder: Path) -> None:
    advertised = brokers.cluster.advertised
    with tunnel.open(cluster(brokers)) as opened:
        assert [(each.node_id, each.advertised) for each in opened.brokers] == sorted(advertised.items())
        reached = opened.cluster
        assert reached.bootstrap_servers == (advertised[1],), "clients keep the brokers' names"
        assert reached.address_map is not None
        ends = {reached.address_map.translate(each).endpoint for each in advertised.values()}
        assert len(ends) == 3
        for end in ends:
            assert end.host == "127.0.0.1"
            socket.create_connection((end.host, end.port), timeout=5).close()
    assert list(folder.iterdir()) == []
    for end in ends:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((end.host, end.port), timeout=5)
    assert reached.address_map.unmapped is Unmapped.FAIL
    given = cluster(brokers)
    assert given.address_map is not None
    with tunnel.open(replace(given, address_map=replace(given.address_map, unmapped=Unmapped.PASS))) as again:
        assert {each.local for each in again.brokers} == ends, "the ports are the same in every run"
        assert again.address_map.unmapped is Unmapped.PASS


def test_a_command_that_judges_the_map_gets_no_rules_for_expected_brokers(brokers: Served) -> None:
    with Tunnel(cluster(brokers)) as opened:
        judged = opened.cluster_without_expected.address_map
        assert judged is not None
        assert len(opened.rules) > len(judged.rules) == len(opened.brokers)
        assert {
            rule.translate(broker.advertised) for rule, broker in zip(judged.rules, opened.brokers, strict=True)
        } == {broker.local for broker in opened.brokers}


def test_a_notebook_has_a_loop_that_runs_already(brokers: Served) -> None:
    async def cell() -> int:
        with tunnel.open(cluster(brokers)) as opened:
            return len(opened.brokers)

    assert asyncio.run(cell()) == 3


def test_a_forward_that_leads_to_another_node_is_refused(brokers: Served, folder: Path) -> None:
    with pytest.raises(ProofFailedError, match=r"node 2 at 127\.0\.77\.2:\d+: node 3 answers"):
        Tunnel(cluster(brokers, node_2="3"))
    assert list(folder.iterdir()) == []


def test_a_dead_forward_is_opened_again_on_its_port(brokers: Served, folder: Path) -> None:
    events = Events()
    with Tunnel(cluster(brokers), report=events) as opened:
        before = opened.brokers
        (first, *_) = sorted(folder.glob("*/*.group"))
        os.killpg(int(first.stem), 15)
        events.wait("is open again: 1 forward")
        assert opened.brokers == before
        for broker in before:
            socket.create_connection((broker.local.host, broker.local.port), timeout=5).close()


def test_a_forward_that_stays_closed_is_tried_ever_more_slowly_and_never_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forward, clock, events = Forward(NOBODY, Endpoint("127.0.0.1", 20000)), [0.0], Events()

    class Refused:
        def alive(self, _: Forward) -> bool:
            return False

        def connection_key(self, forward: Forward) -> object:
            return forward

        def reason(self, _: Forward) -> str:
            return ""

        def open(self, _: Forward, *, may_prompt: bool) -> None:
            assert not may_prompt
            raise TunnelFailedError("refused")

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    watched = Tunnel.__new__(Tunnel)
    watched._forwarder, watched._forwards, watched._retries = Refused(), {NOBODY: forward}, {}  # type: ignore[assignment]
    watched._report, watched._stop = events, threading.Event()
    pauses = (1, 2, 4, 8, 16, 30, 30)
    for pause in pauses:
        watched._reopen_dead()
        clock[0] += pause - 0.5
        watched._reopen_dead()
        clock[0] += 0.5
    assert events[1:] == [f"refused; again in {pause} s" for pause in pauses]


def test_a_broker_that_joins_is_proven_and_only_the_tunnels_own_cluster_is_believed(
    brokers: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, advertised, events = cluster(brokers, node_3="2"), brokers.cluster.advertised, Events()
    assert isinstance(advertised, dict)
    joining = advertised.pop(3)

    def of_another_cluster(*arguments: Any, **options: Any) -> list[EndpointProbe]:
        seen = probe(*arguments, **options)
        return [replace(each, metadata=each.metadata and replace(each.metadata, cluster_id="other")) for each in seen]

    # However busy the machine is.
    monkeypatch.setattr(module, "_PROBE", 60.0)
    monkeypatch.setattr(proof, "_STEP", 60.0)
    with Tunnel(given, report=events, timeout=60, refresh=7200) as opened:
        advertised[3] = joining
        opened._refresh_brokers()
        assert any(
            f"a forward leads to another node or cluster: node 3 at {joining}: node 2 answers" in line
            for line in events
        ), events
        assert [broker.node_id for broker in opened.brokers] == [1, 2, 3]
        advertised[4] = Endpoint("127.0.77.4", 9092)
        monkeypatch.setattr(module, "probe", of_another_cluster)
        opened._refresh_brokers()
        assert [broker.node_id for broker in opened.brokers] == [1, 2, 3]


@pytest.mark.parametrize("moves", [False, True])
def test_the_forward_of_a_broker_that_leaves_or_moves_is_closed_and_its_port_kept(
    brokers: Served, monkeypatch: pytest.MonkeyPatch, moves: bool
) -> None:
    given, advertised, events = cluster(brokers), brokers.cluster.advertised, Events()
    assert isinstance(advertised, dict)
    monkeypatch.setattr(module, "_PROBE", 60.0)
    monkeypatch.setattr(proof, "_STEP", 60.0)
    maps: list[AddressMap] = []
    with Tunnel(given, report=events, timeout=60, refresh=7200) as opened:
        opened.on_map = maps.append
        # This thread does what the tunnel's does.
        opened._stop.set()
        before = opened.brokers
        left = advertised[3]
        local = opened.rules[left]
        if moves:
            # As another name of the same broker.
            advertised[3] = brokers.reachable[3]
        else:
            del advertised[3]
        closed = f"{left} is no longer advertised; its forward is closed"
        for _ in range(module._ABSENT_RESPONSES):
            assert closed not in events
            opened._refresh_brokers()
        assert events.count(closed) == 1
        assert left not in [broker.advertised for broker in opened.brokers]
        assert [broker.node_id for broker in opened.brokers] == ([1, 2, 3] if moves else [1, 2])
        assert refuses(local)
        with pytest.raises(OSError, match="in use"):
            socket.create_server((local.host, local.port))
        assert opened.rules[left] == local, "clients have read the rule"
        assert maps
        advertised[3] = left
        opened._refresh_brokers()
        assert opened.brokers == before
        socket.create_connection((local.host, local.port), timeout=5).close()


def test_a_broker_that_is_absent_for_a_moment_keeps_its_forward(
    brokers: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    advertised, events = brokers.cluster.advertised, Events()
    assert isinstance(advertised, dict)
    monkeypatch.setattr(module, "_PROBE", 60.0)
    monkeypatch.setattr(proof, "_STEP", 60.0)
    with Tunnel(cluster(brokers), report=events, timeout=60, refresh=7200) as opened:
        before = opened.brokers
        opened._stop.set()
        for _ in range(module._ABSENT_RESPONSES):
            restarting = advertised.pop(3)
            opened._refresh_brokers()
            advertised[3] = restarting
            opened._refresh_brokers()
        assert opened.brokers == before
        assert events == []


def test_a_program_whose_other_end_is_gone_is_started_again(tmp_path: Path) -> None:
    """As kubectl, which goes on listening for a pod that was replaced; here the far end dials what a file says."""
    port = tmp_path / "port"
    events = Events()
    with serving(1, dead="127.0.77") as served:
        (broker,) = served.cluster.advertised.values()
        port.write_text(str(broker.port))
        section = TunnelSection(via=f"{FORWARDER} {{local}} 127.0.0.1 {port} {{host}} {{port}}")
        with Tunnel(Cluster("hq", (broker,), tunnel=section), report=events, refresh=0.1) as opened:
            before = opened.brokers
            port.write_text("1")
            events.wait("does not answer")
            events.wait("is open again: 1 forward")
            port.write_text(str(broker.port))
            events.wait("answers again")
            assert opened.brokers == before


# Knows the ports of the brokers, as the API server knows the pods; anything else that it is told ends it.
KUBECTL = """\
#!/bin/sh
[ "$1 $2 $3 $4 $5 $6 $7" = "--context staging --namespace {namespace} port-forward --address 127.0.0.1" ] || exit 64
case "$8" in {resources}) ;; *) echo "Error from server (NotFound): $8 not found" >&2; exit 1;; esac
echo "Forwarding from 127.0.0.1:${{9%:*}} -> ${{9#*:}}"
exec {forwarder} "${{9%:*}}" 127.0.0.1 "${{9#*:}}"
"""


@pytest.mark.parametrize(
    ("advertised", "pod", "service", "namespace"),
    [
        ("my-cluster-kafka-{id}.my-cluster-kafka-brokers.kafka.svc", "my-cluster-kafka", "my-cluster-kafka-bootstrap",
         "kafka"),
        ("kafka-controller-{id}.kafka-controller-headless.data.svc.cluster.local", "kafka-controller", "kafka", "data"),
    ],
    ids=["Strimzi", "Bitnami"],
)  # fmt: skip
def test_kubectl_forwards_a_service_and_every_pod(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, advertised: str, pod: str, service: str, namespace: str
) -> None:
    """A stand-in for kubectl: it takes the command lines that kubectl takes, and no others."""
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    resources = "|".join([f"service/{service}", *(f"pod/{pod}-{number}" for number in (1, 2, 3))])
    program.write_text(KUBECTL.format(namespace=namespace, resources=resources, forwarder=FORWARDER))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    with serving(3, dead=advertised) as served:
        section = TunnelSection(kubectl=KubectlSection(context="staging"))
        # Of a service any pod answers; the stand-in has that of the port.
        bootstrap = Endpoint(f"{service}.{namespace}", served.reachable[1].port)
        with Tunnel(Cluster("hq", (bootstrap,), tunnel=section)) as opened:
            assert {each.node_id: each.advertised for each in opened.brokers} == served.cluster.advertised
            assert len({each.local for each in opened.brokers}) == 3


# What a session command is told of its forward: the local port, the host and the port behind it.
SESSION = """\
#!{python} -IS
import os, re, sys
words = " ".join(sys.argv[1:])
for form in (
    r"ssm start-session .*--parameters host=(?P<host>[^,]+),portNumber=(?P<port>\\d+),localPortNumber=(?P<local>\\d+)",
    r"ssh .* -- -N -L 127[.]0[.]0[.]1:(?P<local>\\d+):(?P<host>[^:]+):(?P<port>\\d+)",
    r"TCP-LISTEN:(?P<local>\\d+),bind=127[.]0[.]0[.]1,fork TCP:(?P<host>[^:]+):(?P<port>\\d+)",
):
    if found := re.search(form + "$", words):
        os.execv(sys.executable, [sys.executable, "-IS", "{forwarder}", *found.group("local", "host", "port")])
sys.exit(f"no forward in: {{words}}")
"""


@pytest.mark.parametrize("name", ["aws", "gcloud", "az", "socat"])
def test_the_guides_session_commands_open_every_forward(
    brokers: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """As they are written, with programs in their place: no cloud is at hand."""
    program = tmp_path / "bin" / name
    program.parent.mkdir()
    program.write_text(SESSION.format(python=sys.executable, forwarder=forwarder.__file__))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "session-commands.md").read_text("utf-8")
    (line,) = re.findall(rf"[`']({name} [^`']*{{local}}[^`']*)[`']", guide.replace("\\\n", ""))
    with Tunnel(cluster(brokers, TunnelSection(via=line))) as opened:
        assert {each.node_id: each.advertised for each in opened.brokers} == brokers.cluster.advertised


def test_a_companion_is_forwarded_and_is_no_rule(brokers: Served) -> None:
    registry = brokers.reachable[2]
    section = VIA.model_copy(update={"also": (registry,)})
    with Tunnel(cluster(brokers, section)) as opened:
        local = opened.companions[registry]
        socket.create_connection((local.host, local.port), timeout=5).close()
        assert registry not in opened.rules
        assert opened.cluster.reachable(registry) == local


@pytest.mark.parametrize(
    ("section", "error", "words"),
    [
        (None, ConfigError, "the cluster `hq` has no tunnel"),
        (TunnelSection(via="no-such-program {host} {port} {local}"), MissingToolError, "no `no-such-program` on this"),
        (TunnelSection(via="sh -c 'echo no session' {host} {port} {local}"), NothingReachableError, "no session"),
    ],
    ids=["none", "not installed", "ends"],
)  # fmt: skip
def test_what_cannot_be_opened_is_named(
    brokers: Served, folder: Path, section: TunnelSection | None, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        Tunnel(cluster(brokers, section))
    assert list(folder.iterdir()) == []


def test_a_template_is_refused_before_anything_starts(brokers: Served, folder: Path) -> None:
    with pytest.raises(ConfigError, match="needs the node id"):
        Tunnel(replace(cluster(brokers, VIA), address_map=AddressMap.parse("*.x:1 = gw:{1+id}")))
    assert list(folder.iterdir()) == []


def test_a_bootstrap_server_that_is_silent_is_named(brokers: Served) -> None:
    silent = Cluster("hq", (NOBODY,), tunnel=VIA)
    with pytest.raises(
        NothingReachableError, match=r"no bootstrap server answers through `.*forwarder.*127\.0\.0\.1:1"
    ):
        Tunnel(silent, timeout=10)
    with Tunnel(silent, timeout=10, require_brokers=False) as opened:
        assert NOBODY in opened.rules, "the doctor finds out why"


def test_nothing_remains_of_a_process_that_is_killed(brokers: Served, folder: Path) -> None:
    hq = cluster(brokers)
    assert hq.address_map is not None
    section = {
        "bootstrap_servers": str(hq.bootstrap_servers[0]),
        "address_map": list(map(str, hq.address_map.rules)),
        "tunnel": {"via": VIA.via},
    }
    # JSON is YAML.
    (folder / "brokernat.yaml").write_text(json.dumps({"clusters": {"hq": section}}))
    words = [sys.executable, "-m", "brokernat", "tunnel", "--format", "json"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = json.loads("".join(until_the_end_of_the_report(process.stdout)))
        assert len(list(folder.glob("brokernat-*"))) == 1
        process.kill()
    wait_until(lambda: not list(folder.glob("brokernat-*")), "the tunnel's folder is gone", timeout=30)
    ends = [Endpoint.parse(node["reachable"]) for node in said["nodes"]]
    assert len(ends) == 3
    wait_until(lambda: all(map(refuses, ends)), "every port is free", timeout=30)


def until_the_end_of_the_report(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if line == "}\n":
            return


def refuses(end: Endpoint) -> bool:
    try:
        socket.create_connection((end.host, end.port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False
