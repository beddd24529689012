"""Who comes in where, and is listener_table what."""

from tests.unit.doctor.broker_files.conftest import BOB_AND_FRED, KRAFT, file, files

from brokernat.doctor.broker_files.listener_table import AdvertisedEndpoint, ListenerPort, listener_table, where
from brokernat.doctor.evidence import Evidence


def test_the_port_decides() -> None:
    bob, fred = listener_table(files(BOB_AND_FRED))
    assert (bob.listener, bob.protocol, bob.inter_broker) == ("BOB", "PLAINTEXT", True)
    assert bob.ports == (ListenerPort("f0", 0, "kafka0", 29092),)
    assert bob.endpoints == (AdvertisedEndpoint("f0", 0, "kafka0", 29092, "same-network"),)
    assert fred.endpoints == (AdvertisedEndpoint("f0", 0, "localhost", 9092, "same-machine"),)
    assert not fred.inter_broker


def test_brokers_without_the_name_are_missing() -> None:
    one = "node.id=1\nlisteners=PLAINTEXT://a:1,TEXT://a:2\nlistener.security.protocol.map=PLAINTEXT:PLAINTEXT,TEXT:SSL"
    rows = {row.listener: row for row in listener_table(files("node.id=0\nlisteners=PLAINTEXT://b.example:1", one))}
    assert [each.node_id for each in rows["PLAINTEXT"].endpoints] == [0, 1]
    assert [each.node_id for each in rows["TEXT"].endpoints] == [1]


def test_a_controllers_listener_is_nobodys_business() -> None:
    assert [row.listener for row in listener_table(files(KRAFT))] == ["PLAINTEXT"]


def test_published_ports() -> None:
    (row,) = listener_table(Evidence.without_network("files", files=(file(KRAFT, published=((9092, 29092),)),)))
    assert row.ports[0].published == 29092


def test_where() -> None:
    hosts = ("", "kafka0", "a.svc", "localhost", "127.0.0.2", "::1", "0.0.0.0", "::", "a.example", "10.0.0.1")
    found = [where(host) for host in hosts]
    assert found == ["same-network"] * 3 + ["same-machine"] * 3 + ["nowhere"] * 2 + ["anywhere"] * 2
