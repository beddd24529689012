"""Where nodes are, before and after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.errors import ConfigError, UnmappedEndpointError
from brokernat.proxy.nodes import Nodes, node_port, nodes_file

ONE, TWO = Endpoint("kafka-1", 9092), Endpoint("kafka-2", 9092)


@pytest.mark.parametrize(
    ("listen", "first", "node", "port"), [(19092, 0, 0, 19093), (19092, 0, 3, 19096), (9000, 1001, 1002, 9002)]
)
def test_the_port_of_a_node(listen: int, first: int, node: int, port: int) -> None:
    assert node_port(listen, first, node) == port


@pytest.mark.parametrize(("first", "node"), [(0, 60_000), (5, 4), (0, -1), (0, 2**31 - 1)])
def test_a_node_without_a_port_is_named(first: int, node: int) -> None:
    with pytest.raises(ConfigError, match=f"node {node} has no port: .* is not between 9001 and 65535") as error:
        node_port(9000, first, node)
    assert error.value.hint == f"`--first-node {node}` gives it port 9001; ids of all nodes count from the first one"


def test_nodes_are_known_after_a_restart_and_to_other_workers(tmp_path: Path) -> None:
    file = tmp_path / "below" / "nodes.json"
    nodes, worker = Nodes(None, file), Nodes(None, file)
    nodes.learn(1, ONE)
    assert worker.outdated
    worker.read()
    assert dict(worker.advertised) == {1: ONE}
    worker.learn(2, TWO)
    assert nodes.outdated
    assert dict(Nodes(None, file).advertised) == {1: ONE, 2: TWO}
    assert not worker.outdated


@pytest.mark.parametrize("text", ["", "[]", '{"one": "kafka:9092"}', '{"1": "kafka"}', '{"1": 5}', "\xff"])
def test_a_file_that_is_none_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str) -> None:
    file = tmp_path / "nodes.json"
    file.write_bytes(text.encode("latin-1"))
    assert dict(Nodes(None, file).advertised) == {}
    assert f"ignoring `{file}`" in caplog.text


def test_a_file_that_cannot_be_written_ends_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    nodes = Nodes(None, tmp_path / "file" / "nodes.json")
    nodes.learn(1, ONE)
    assert dict(nodes.advertised) == {1: ONE}
    assert "cannot be written" in caplog.text


def test_what_is_dialled() -> None:
    nodes = Nodes(AddressMap.parse("kafka-1:9092=gw:{9000+id},boot:9092=gw:8999"))
    nodes.learn(1, ONE)
    nodes.learn(2, TWO)
    assert nodes.reachable(1) == Endpoint("gw", 9001)
    assert nodes.reachable(3) is None
    with pytest.raises(UnmappedEndpointError):
        nodes.reachable(2)
    assert nodes.dial_targets() == {1: Endpoint("gw", 9001), 2: None}
    assert nodes.bootstrap(Endpoint("boot", 9092)) == Endpoint("gw", 8999)
    # A template needs a node id, and what no rule names can be dialled as it is.
    assert nodes.bootstrap(ONE) == ONE
    assert nodes.bootstrap(TWO) == TWO


def test_each_cluster_and_port_has_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first = nodes_file(Cluster("hq", (ONE,)), Endpoint("127.0.0.1", 1))
    assert first.parent == tmp_path / "brokernat" / "proxy"
    assert len({first, nodes_file(Cluster("hq", (TWO,)), Endpoint("127.0.0.1", 1)),
                nodes_file(Cluster("hq", (ONE,)), Endpoint("127.0.0.1", 2))}) == 3  # fmt: skip
