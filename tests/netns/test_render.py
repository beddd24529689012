"""Traffic through what `render` writes: an unmodified Java client, real brokers, each file held in force by its tool.

A gateway's file is half of the answer, so its client has the map as well; NAT and hosts file are the whole, so there
the client is as it is, without an agent. `assert_healthy` says in both cases that the brokers told it dead addresses.
"""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.matrix.expectations import ROLES, assert_dialled, assert_healthy
from tests.matrix.programs import Loader, Outcome, Programs, kafka_clients, run
from tests.netns.rendered import haproxy_command, nginx_command, rendered, serving

from brokernat.address import AddressMap, Endpoint, HostPortRule
from brokernat.config import Cluster
from brokernat.testbed import Advertise, Between, ClusterOptions, NetnsWorld, Protocol
from brokernat.testbed.kafka import speaks_kafka
from brokernat.testbed.place import connects

pytestmark = pytest.mark.netns

CLIENT = "3.0.2"

# As the people of the closed network wrote it.
HAND_WRITTEN = """\
stream {
    upstream kafka1 { server 192.168.1.23:9092; }
    upstream kafka2 { server 192.168.1.24:9092; }
    upstream kafka3 { server 192.168.1.25:9092; }
    server { listen 9093; proxy_connect_timeout 8s; proxy_timeout 24h; proxy_pass kafka1; }
    server { listen 9094; proxy_connect_timeout 8s; proxy_timeout 24h; proxy_pass kafka2; }
    server { listen 9095; proxy_connect_timeout 8s; proxy_timeout 24h; proxy_pass kafka3; }
}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs.compile(tmp_path_factory.mktemp("programs"))


@pytest.fixture(scope="module")
def named_world() -> Iterator[NetnsWorld]:
    """Situation 2 by names: the brokers advertise kafka-N.hq.internal, the NAT keeps their port."""
    hq = ClusterOptions(protocol=Protocol.SASL_PLAINTEXT, advertise=Advertise.NAME)
    with NetnsWorld(hq=hq, local=None, between=Between.NFTABLES) as world:
        yield world


def test_nginx_does_what_the_hand_written_file_does(
    nginx_world: NetnsWorld, programs: Programs, topic_name: str, tmp_path: Path
) -> None:
    ours = rendered("nginx", nginx_world.hq.cluster, tmp_path).name
    (tmp_path / "hand-written").write_text(HAND_WRITTEN)
    nginx_world.gateway.stop()
    try:
        for file in (ours, "hand-written"):
            nginx, topic = nginx_command(tmp_path / file), f"{topic_name}-{file}"
            nginx_world.namespace("gw").run(*nginx, "-t")
            with _through_gateway(nginx, nginx_world, nginx_world.hq.cluster, tmp_path):
                outcome = _exercise(nginx_world, programs, nginx_world.hq.cluster, topic, with_map=True)
            assert_healthy(outcome, nginx_world.hq, topic)
            assert_dialled(outcome, nginx_world.hq)
    finally:
        nginx_world.gateway.start()


def test_nginx_has_the_directives_of_the_hand_written_file(nginx_world: NetnsWorld, tmp_path: Path) -> None:
    ours = _servers(rendered("nginx", nginx_world.hq.cluster, tmp_path).read_text())
    theirs = _servers(HAND_WRITTEN)
    # Theirs listen on every address of the host, ours on the one that the map names.
    assert {server.pop("listen").rpartition(":")[0] for server in ours} == {"172.10.1.40"}
    assert [server.pop("listen") for server in theirs] == ["9093", "9094", "9095"]
    assert [server.pop("proxy_socket_keepalive") for server in ours] == ["on"] * 3
    assert ours == theirs


def test_haproxy(nginx_world: NetnsWorld, programs: Programs, topic_name: str, tmp_path: Path) -> None:
    """Beside the nginx of the world, on ports of its own."""
    cluster = _at_other_ports(nginx_world.hq.cluster, 100)
    file = rendered("haproxy", cluster, tmp_path)
    haproxy = haproxy_command(file)
    nginx_world.namespace("gw").run(*haproxy, "-c")
    # Beside what Debian's own file says, as the head of ours tells people to.
    nginx_world.namespace("gw").run("haproxy", "-c", "-f", "/etc/haproxy/haproxy.cfg", "-f", str(file))

    with _through_gateway(haproxy, nginx_world, cluster, tmp_path):
        outcome = _exercise(nginx_world, programs, cluster, topic_name, with_map=True)

    assert_healthy(outcome, nginx_world.hq, topic_name)
    for endpoint in cluster.bootstrap_servers:
        assert f" -> {endpoint} " in outcome.log


def test_iptables_needs_no_map(nginx_world: NetnsWorld, programs: Programs, topic_name: str, tmp_path: Path) -> None:
    """Ports change: 192.168.1.23:9092 leads to nginx at 172.10.1.40:9093."""
    file = rendered("iptables", nginx_world.hq.cluster, tmp_path).read_text()
    with _routed(nginx_world):
        nginx_world.client.run("iptables-restore", "--test", text=file)
        nginx_world.client.run("iptables-restore", "--noflush", text=file)
        try:
            outcome = _exercise(nginx_world, programs, nginx_world.hq.cluster, topic_name, with_map=False)
        finally:
            for words in (
                ["-D", "OUTPUT", "-p", "tcp", "-j", "brokernat_hq"],
                ["-F", "brokernat_hq"],
                ["-X", "brokernat_hq"],
            ):
                nginx_world.client.run("iptables", "-t", "nat", *words)
    assert_healthy(outcome, nginx_world.hq, topic_name)


def test_nftables_needs_no_map(nat_world: NetnsWorld, programs: Programs, topic_name: str, tmp_path: Path) -> None:
    """A network rule: 192.168.1.0/24 leads to 10.99.1.0/24, ports kept."""
    cluster = replace(nat_world.hq.cluster, address_map=AddressMap.parse("192.168.1.0/24 = 10.99.1.0/24"))
    file = rendered("nftables", cluster, tmp_path).read_text()
    with _routed(nat_world):
        nat_world.client.run("nft", "-c", "-f", "-", text=file)
        nat_world.client.run("nft", "-f", "-", text=file)
        try:
            outcome = _exercise(nat_world, programs, cluster, topic_name, with_map=False)
        finally:
            nat_world.client.run("nft", "delete", "table", "inet", "brokernat_hq")
    assert_healthy(outcome, nat_world.hq, topic_name)


def test_hosts_needs_no_map(named_world: NetnsWorld, programs: Programs, topic_name: str, tmp_path: Path) -> None:
    file = rendered("hosts", named_world.hq.cluster, tmp_path)
    # `ip netns exec` lays what is in this folder over /etc.
    Path("/etc/netns", named_world.client.name, "hosts").write_text(f"127.0.0.1 localhost\n{file.read_text()}")
    for node, advertised in named_world.hq.advertised.items():
        said = named_world.client.run("getent", "hosts", advertised.host)
        assert said.split()[0] == named_world.hq.reachable[node].host

    outcome = _exercise(named_world, programs, named_world.hq.cluster, topic_name, with_map=False)

    assert_healthy(outcome, named_world.hq, topic_name)


def _exercise(world: NetnsWorld, programs: Programs, cluster: Cluster, topic: str, *, with_map: bool) -> Outcome:
    properties = cluster.kafka_properties()
    loader = Loader.CLIENT_MAP if with_map else Loader.NONE
    if not with_map:
        del properties["brokernat.map"], properties["brokernat.unmapped"]
    command = programs.command("Exerciser", [programs.classes, *kafka_clients(CLIENT)], properties, loader)
    file = programs.write(properties, loader, topic)
    return run(world.client.command([*command, str(file), topic, *ROLES]))


def _through_gateway(
    words: list[str], world: NetnsWorld, cluster: Cluster, folder: Path
) -> AbstractContextManager[None]:
    def answers() -> bool:
        return all(speaks_kafka(endpoint, world.client, tls=False) for endpoint in cluster.bootstrap_servers)

    return serving(words, world.namespace("gw"), answers, folder / "gateway.log")


@contextmanager
def _routed(world: NetnsWorld) -> Iterator[None]:
    """The client has a default route, as nodes have; it leads to the gateway, which forwards nothing of this."""
    world.client.run("ip", "route", "add", "default", "via", "172.10.1.40")
    try:
        assert not connects(world.hq.advertised[1], world.client)
        yield
    finally:
        world.client.run("ip", "route", "del", "default")


def _at_other_ports(cluster: Cluster, offset: int) -> Cluster:
    assert cluster.address_map is not None
    rules = []
    for rule in cluster.address_map.rules:
        assert isinstance(rule, HostPortRule)
        rules.append(HostPortRule(rule.advertised, Endpoint(rule.reachable.host, rule.reachable.port + offset)))
    bootstrap = tuple(rule.reachable for rule in rules)
    return replace(cluster, bootstrap_servers=bootstrap, address_map=AddressMap(tuple(rules)))


def _servers(text: str) -> list[dict[str, str]]:
    """The directives of each `server`, those around it among them; a group of one server is that server."""
    text = re.sub(r"#.*", "", text)
    groups = dict(re.findall(r"upstream (\S+) \{ server (\S+); \}", text))
    text = re.sub(r"upstream [^}]*\}", "", text)
    blocks = re.findall(r"server\s*\{([^}]*)\}", text)
    around = re.sub(r"server\s*\{[^}]*\}", "", text).partition("{")[2]
    servers = [{**_directives(around), **_directives(block)} for block in blocks]
    return [{**server, "proxy_pass": groups.get(server["proxy_pass"], server["proxy_pass"])} for server in servers]


def _directives(text: str) -> dict[str, str]:
    return dict(re.findall(r"(\w+)\s+([^;{}]+);", text))
