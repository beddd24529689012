"""The kernel, given what `render iptables` and `render nftables` write for random maps, leads where the maps say.

A namespace to which every address is its own: whatever the NAT makes of a connection, it arrives here, and the
accepted socket tells at which endpoint.
"""

import json
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.render import Subject, iptables, nftables
from brokernat.testbed.namespaces import Namespace

pytestmark = [pytest.mark.netns, pytest.mark.property]

EXAMPLES = 15
LABEL = len("# apply    ")
PORTS = (9092, 9093, 9094)
HOSTS_4 = ("192.168.1.23", "192.168.1.24", "172.10.1.40", "10.1.0.7")
HOSTS_6 = ("[fd00::23]", "[fd00::24]", "[fd00:9::40]", "[fd00:1::7]")
NETWORKS_4 = ("192.168.1.0/24", "10.1.0.0/24", "10.9.0.0/24")
NETWORKS_6 = ("fd00::/64", "fd00:1::/64", "fd00:9::/64")


def _rules(hosts: Sequence[str], networks: Sequence[str]) -> st.SearchStrategy[str]:
    host, port, network = st.sampled_from(hosts), st.sampled_from(PORTS), st.sampled_from(networks)
    return st.one_of(
        st.builds("{}:{}={}:{}".format, host, port, host, port),
        st.builds("{}={}".format, host, host),
        st.builds("{}={}".format, network, network),
    )


maps = st.lists(st.one_of(_rules(HOSTS_4, NETWORKS_4), _rules(HOSTS_6, NETWORKS_6)), min_size=1, max_size=5)
EVERY_KIND = [
    "192.168.1.23:9092=172.10.1.40:9093",
    "192.168.1.24=10.1.0.7",
    "10.1.0.0/24=10.9.0.0/24",
    "[fd00::23]:9092=[fd00:9::40]:9093",
    "[fd00::24]=[fd00:1::7]",
    "fd00:1::/64=fd00:9::/64",
]
ENDPOINTS = [Endpoint.parse(f"{host}:{port}") for host in (*HOSTS_4, *HOSTS_6) for port in PORTS]

# Says, for each endpoint on standard input, where a connection to it arrives.
ARRIVALS = """\
import json, select, socket, sys
ports, endpoints = json.load(sys.stdin)
listeners = []
for family, anywhere in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
    for port in ports:
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((anywhere, port))
        listener.listen()
        listeners.append(listener)
found = []
for host, port in endpoints:
    with socket.create_connection((host, port), timeout=10):
        ready, _, _ = select.select(listeners, [], [], 10)
        accepted, _ = ready[0].accept()
        with accepted:
            found.append(accepted.getsockname()[:2])
json.dump(found, sys.stdout)
"""


@pytest.fixture(scope="module")
def node() -> Iterator[Namespace]:
    """A host that takes every address for its own."""
    place = Namespace(f"render-{uuid.uuid4().hex[:8]}")
    place.create()
    try:
        for version, everything in (("-4", "0.0.0.0/0"), ("-6", "::/0")):
            place.run("ip", version, "route", "add", "local", everything, "dev", "lo")
        yield place
    finally:
        subprocess.run(["ip", "netns", "delete", place.name], check=True)
        shutil.rmtree(Path("/etc/netns", place.name))


@example(texts=EVERY_KIND)
@given(texts=maps)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nftables(node: Namespace, texts: list[str]) -> None:
    address_map = AddressMap.parse(",".join(texts), Unmapped.PASS)
    file = nftables(Subject("hq", (), address_map))
    node.run("nft", "-c", "-f", "-", text=file)
    # The second time replaces what the first one loaded.
    for _ in range(2):
        node.run("nft", "-f", "-", text=file)
    try:
        assert _arrivals(node) == [address_map.translate(endpoint).endpoint for endpoint in ENDPOINTS]
    finally:
        node.run("sh", "-c", _commands(file, "nft delete"))
    assert node.run("nft", "list", "ruleset") == ""


@example(texts=EVERY_KIND)
@given(texts=maps)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_iptables(node: Namespace, tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    address_map = AddressMap.parse(",".join(texts), Unmapped.PASS)
    text = iptables(Subject("hq", (), address_map))
    file = tmp_path_factory.mktemp("iptables") / "FILE"
    file.write_text(text)
    for check in re.findall(r"ip6?tables-restore --test FILE", text):
        node.run(*check.replace("FILE", str(file)).split())
    for _ in range(2):
        node.run("sh", "-c", _commands(text, "restore --noflush").replace("FILE", str(file)))
    try:
        assert _saved(node).count("-A OUTPUT") == text.count("-restore --noflush")
        assert _arrivals(node) == [address_map.translate(endpoint).endpoint for endpoint in ENDPOINTS]
    finally:
        node.run("sh", "-ec", _commands(text, "for step in"))
    assert "brokernat" not in _saved(node)


def _arrivals(node: Namespace) -> list[Endpoint]:
    asked = [PORTS, [(endpoint.host, endpoint.port) for endpoint in ENDPOINTS]]
    arrived = json.loads(node.run(sys.executable, "-c", ARRIVALS, text=json.dumps(asked)))
    return [Endpoint(host, port) for host, port in arrived]


def _commands(text: str, words: str) -> str:
    """The lines of a header that hold `words`, as a person copies them."""
    return "\n".join(line[LABEL:] for line in text.splitlines() if line.startswith("# ") and words in line)


def _saved(node: Namespace) -> str:
    return node.run("sh", "-c", "iptables-save; ip6tables-save")
