"""Every client version in every role, through the map, on real brokers whose advertised addresses are dead."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.matrix.conftest import HOPELESS, Clients
from tests.matrix.expectations import RECORDS, ROLES, assert_dialled, assert_healthy
from tests.matrix.javas import java_binary
from tests.matrix.programs import Loader, Outcome, Programs, kafka_streams, run
from tests.versions import GATE_CLIENTS, KAFKA_CLIENTS

from brokernat.testbed import LoopbackWorld, Record, Topic

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    "version",
    [pytest.param(each, marks=() if each in GATE_CLIENTS else pytest.mark.soak) for each in KAFKA_CLIENTS],
)
def test_every_role_with_the_map_of_the_jvm(
    version: str, plain: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    outcome = programs.exercise(version, client_of(plain.hq))
    assert_healthy(outcome, plain.hq)
    assert_dialled(outcome, plain.hq)


@pytest.mark.parametrize(
    ("version", "loader"),
    [
        pytest.param("2.4.1", Loader.CLIENT_MAP, marks=pytest.mark.soak),
        pytest.param("4.4.0", Loader.CLIENT_MAP, marks=pytest.mark.soak),
        pytest.param("2.4.1", Loader.REPORTER, marks=pytest.mark.soak),
        ("3.9.2", Loader.REPORTER),
    ],
)
def test_two_clusters_with_the_same_addresses_in_one_jvm(
    version: str, loader: Loader, plain: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    """One PLAINTEXT, one SASL_PLAINTEXT, at the same time, each through its own gateway; no record crosses over."""
    assert plain.hq.advertised == plain.hq2.advertised
    clusters, topic = {"first": plain.hq, "second": plain.hq2}, client_of.topic()
    clients = [client_of(cluster, (*ROLES, "read"), topic=topic, name=name) for name, cluster in clusters.items()]
    outcome = programs.exercise(version, *clients, loader=loader)
    for name, cluster in clusters.items():
        assert_healthy(outcome, cluster, name)
        assert_dialled(outcome, cluster)
        # Four rounds: plain, committed, aborted (this reader is not read_committed), and the one after the rejoin.
        assert outcome.of("read", name)["keys"] == {name: 4 * RECORDS * len(cluster.nodes)}


@pytest.mark.parametrize("version", [pytest.param("2.4.1", marks=pytest.mark.soak), "3.9.2"])
def test_a_map_without_an_agent_translates_nothing(
    version: str, plain: LoopbackWorld, programs: Programs, client_of: Clients, well: Callable[[str], Outcome]
) -> None:
    """The control: the same program and properties, the map among them. With the agent the complaint is gone."""
    topic, roles = client_of.topic(), ("admin", "producer")
    plain.hq.create_topic(topic)
    # A client that heard of the advertised addresses before it asked for the topic does not hear of the topic.
    changes = HOPELESS | {"max.block.ms": "6000"}
    hopeless = [client_of(plain.hq, (role,), topic=topic, name=role, changes=changes) for role in roles]
    outcome = programs.exercise(version, *hopeless, loader=Loader.NONE)
    for role in roles:
        assert not outcome.of(role, role)["ok"]
    complaint = "could not be established"
    assert any(f"{advertised}) {complaint}" in outcome.log for advertised in plain.hq.advertised.values()), outcome.log
    # All that a client says about a map that nobody applies.
    assert "brokernat.map" in outcome.log
    assert "translated" not in outcome.log
    assert complaint not in well(version).log


STRANGER = """
package com.example.common.network;
/** Of another library: Kafka's name, and an address that the map names. */
public class Selector {
    public void connect(String id, java.net.InetSocketAddress address, int sent, int received) {
        System.err.println("the stranger connects to " + address.getPort());
    }
    public static void main(String[] arguments) throws Exception {
        new Selector().connect("1", new java.net.InetSocketAddress("127.0.0.1", 7), 0, 0);
        Class.forName("Exerciser").getMethod("main", String[].class).invoke(null, (Object) arguments);
    }
}
"""


@pytest.mark.parametrize("loader", [Loader.JVM_MAP, Loader.CLIENT_MAP])
@pytest.mark.parametrize(
    ("version", "package"),
    [
        ("3.8.1", "org.acme.hidden.kafka"),
        pytest.param("3.9.2", "com.acme.shaded.org.apache.kafka", marks=pytest.mark.soak),
        pytest.param("4.4.0", "k44", marks=pytest.mark.soak),
    ],
)
def test_a_relocated_client(
    version: str, package: str, loader: Loader, plain: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    """Known by its shape, wherever it was moved to; another library's class of the same name is left alone."""
    class_path = [
        *programs.relocate(version, package),
        programs.compiled("com.example.common.network.Selector", STRANGER),
    ]
    outcome = programs.exercise(
        version, client_of(plain.hq), loader=loader, class_path=class_path, main="com.example.common.network.Selector"
    )
    assert_healthy(outcome, plain.hq)
    assert_dialled(outcome, plain.hq)
    assert " org.apache.kafka." not in outcome.log
    assert "the stranger connects to 7" in outcome.log
    alone = "com.example.common.network.Selector has the name of a class of Kafka and other code; it is left alone"
    assert [line for line in outcome.log.splitlines() if "[brokernat]" in line] == [f"[brokernat] {alone}"]


def test_a_map_from_a_file(plain: LoopbackWorld, programs: Programs, client_of: Clients, tmp_path: Path) -> None:
    rules = tmp_path / "hq.rules"
    lines = (f"{plain.hq.advertised[node]} = {plain.hq.reachable[node]}\n" for node in plain.hq.nodes)
    rules.write_text("# headquarters\n" + "".join(lines))
    client = client_of(plain.hq, changes={"brokernat.map": f"file:{rules}"})
    outcome = programs.exercise("3.9.2", client, loader=Loader.CLIENT_MAP)
    assert_healthy(outcome, plain.hq)
    assert_dialled(outcome, plain.hq)


@pytest.mark.parametrize("loader", [Loader.CLIENT_MAP, pytest.param(Loader.JVM_MAP, marks=pytest.mark.soak)])
def test_kafka_streams(
    loader: Loader, plain: LoopbackWorld, programs: Programs, client_of: Clients, tmp_path: Path
) -> None:
    """A stateful application, exactly once: Streams makes all its clients from one set of properties."""
    source, sink = client_of(plain.hq), client_of.topic()
    plain.hq.create_topics([Topic(name, partitions=3, replicas=3) for name in (source.topic, sink)])
    orders = [Record(b"order", b"key", partition=number % 3) for number in range(60)]
    plain.hq.write(source.topic, orders)

    command = programs.command("StreamsApp", [programs.streams_classes, *kafka_streams()], source.properties, loader)
    file = programs.write(source.properties, loader, "streams")
    outcome = run([*command, str(file), source.topic, sink, str(len(orders)), str(tmp_path)])
    done = {"role": "streams", "ok": True, "in_time": True, "closed": True, "counts": {"key": len(orders)}}
    assert outcome.of("streams") == done, outcome.log[-4000:]
    assert_dialled(outcome, plain.hq)
    assert Counter(record.key for record in plain.hq.read(sink)) == {b"key": len(orders)}


@pytest.mark.parametrize("java", [pytest.param(11, marks=pytest.mark.soak), 25])
def test_self_attach_on_other_javas(java: int, plain: LoopbackWorld, programs: Programs, client_of: Clients) -> None:
    outcome = programs.exercise("3.9.2", client_of(plain.hq), loader=Loader.REPORTER, java=java_binary(java))
    assert_healthy(outcome, plain.hq)
    assert_dialled(outcome, plain.hq)
