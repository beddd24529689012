"""Where nodes are, before and after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from brokernat import paths
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
    assert not file.exists()
    nodes.save()
    assert worker.outdated
    worker.read()
    assert dict(worker.advertised) == {1: ONE}
    worker.learn(2, TWO)
    worker.save()
    assert nodes.outdated
    assert dict(Nodes(None, file).advertised) == {1: ONE, 2: TWO}
    assert not worker.outdated


def test_nodes_that_workers_save_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    file = tmp_path / "nodes.json"
    first, second = workers = Nodes(None, file), Nodes(None, file)
    for worker, node_id, endpoint in ((first, 1, ONE), (second, 2, TWO)):
        worker.learn(node_id, endpoint)
        # Without the nodes of the other one.
        worker.save()
    for worker in workers:
        if worker.outdated:
            worker.read()
        worker.save()
    assert dict(Nodes(None, file).advertised) == {1: ONE, 2: TWO}


def test_an_endpoint_that_is_not_saved_is_newer_than_the_file(tmp_path: Path) -> None:
    file = tmp_path / "nodes.json"
    nodes, worker = Nodes(None, file), Nodes(None, file)
    worker.learn(1, ONE)
    worker.save()
    nodes.learn(1, TWO)
    nodes.read()
    assert nodes.reachable(1) == TWO
    nodes.save()
    worker.read()
    assert worker.reachable(1) == TWO


def test_many_nodes_are_written_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []

    def exchange(made: Path, target: Path) -> None:
        written.append(target)
        made.replace(target)

    monkeypatch.setattr(paths, "exchange", exchange)
    nodes = Nodes(None, tmp_path / "nodes.json")
    for node_id in range(200):
        nodes.learn(node_id, Endpoint(f"kafka-{node_id}", 9092))
    for _ in range(2):
        nodes.save()
    assert written == [tmp_path / "nodes.json"]
    assert len(Nodes(None, tmp_path / "nodes.json").advertised) == 200


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
    for _ in range(2):
        nodes.save()
    assert dict(nodes.advertised) == {1: ONE}
    assert caplog.text.count("cannot be written") == 1


def test_nothing_remains_of_a_file_that_cannot_be_put_in_place(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "nodes.json"
    nodes = Nodes(None, file)
    nodes.learn(1, ONE)
    file.mkdir()
    nodes.save()
    assert "cannot be written" in caplog.text
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_dialled() -> None:
    nodes = Nodes(AddressMap.parse("kafka-1:9092=gw:{9000+id},boot:9092=gw:8999"))
    nodes.learn(1, ONE)
    nodes.learn(2, TWO)
    assert nodes.reachable(1) == Endpoint("gw", 9001)
    assert nodes.reachable(3) is None
    with pytest.raises(UnmappedEndpointError):
        nodes.reachable(2)
    assert [nodes.dial_target(node_id) for node_id in (1, 2, 3)] == [Endpoint("gw", 9001), None, None]
    assert nodes.bootstrap(Endpoint("boot", 9092)) == Endpoint("gw", 8999)
    # A template needs a node id, and what no rule names can be dialled as it is.
    assert nodes.bootstrap(ONE) == ONE
    assert nodes.bootstrap(TWO) == TWO


def test_a_node_for_which_a_template_has_no_port_is_named_with_the_rule() -> None:
    nodes = Nodes(AddressMap.parse("kafka-1:9092=gw:{65000+id}"))
    nodes.learn(1001, ONE)
    message = r"the rule `kafka-1:9092=gw:\{65000\+id\}` gives node 1001 the port 66001"
    with pytest.raises(ConfigError, match=message):
        nodes.reachable(1001)
    assert nodes.dial_target(1001) is None


def test_each_cluster_and_port_has_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first = nodes_file(Cluster("hq", (ONE,)), Endpoint("127.0.0.1", 1))
    assert first.parent == tmp_path / "brokernat" / "proxy"
    assert len({first, nodes_file(Cluster("hq", (TWO,)), Endpoint("127.0.0.1", 1)),
                nodes_file(Cluster("hq", (ONE,)), Endpoint("127.0.0.1", 2))}) == 3  # fmt: skip
