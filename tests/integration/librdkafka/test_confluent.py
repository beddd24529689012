"""confluent-kafka through the map: every kind of client, the newest release and the oldest that can be installed."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest
from tests.integration.librdkafka.conftest import TIMEOUT, Program, client_cluster, order
from tests.integration.librdkafka.program import RECORDS
from tests.integration.librdkafka.releases import NEWEST_IN_THE_GATE, RELEASES

from brokernat.address import AddressMap, Unmapped
from brokernat.clients.confluent import configure
from brokernat.config import Cluster
from brokernat.testbed import LoopbackWorld, RunningCluster
from brokernat.testbed.place import wait_until

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("release", RELEASES)
def test_every_kind_of_client_of_two_clusters_that_advertise_the_same(
    release: str, twins: LoopbackWorld, topic_name: str
) -> None:
    """Were a map the process's and not the client's, records would end at the wrong cluster, or nowhere."""
    assert set(twins.hq2.advertised.values()) < set(twins.hq.advertised.values())
    answer, log = Program.start(release, "exercise", [order(twins.hq, topic_name), order(twins.hq2, topic_name)]).end()
    assert answer["version"].startswith("2.0." if release == "oldest" else "2.16."), answer
    assert answer["admin"] == [list(twins.hq.nodes), list(twins.hq2.nodes)]
    assert answer["producer"] == answer["transactional"] == [[], []]
    expected = {
        cluster.name: {f"{kind} {cluster.name}": RECORDS * 2 * len(cluster.nodes) for kind in ("plain", "committed")}
        for cluster in (twins.hq, twins.hq2)
    }
    assert answer["group"] == list(expected.values())
    for cluster in (twins.hq, twins.hq2):
        stored = [record.value for record in cluster.read(topic_name) if record.value]
        assert all(value.decode().endswith(f" {cluster.name}") for value in stored)
        for node, advertised in cluster.advertised.items():
            told = f"translated {advertised} -> {cluster.reachable[node]} "
            assert log.count(told) == 1, f"not told once: {told}\n{log[-3000:]}"


def test_tls_by_the_gateways_address_is_refused(twins: LoopbackWorld) -> None:
    """The control: verification is on, so an address that is not in the certificate must fail."""
    errors = errors_of(client_cluster(twins.hq2, by_name=False), until="certificate verify failed")
    assert "certificate verify failed" in errors


def test_an_endpoint_without_a_rule_is_refused_in_words(
    twins: LoopbackWorld, capfd: pytest.CaptureFixture[str]
) -> None:
    cluster, left_out = without_rule_for(twins.hq, 3, Unmapped.FAIL)
    errors = errors_of(cluster, until=f"Failed to resolve '{left_out}'", node=3)
    assert f"Failed to resolve '{left_out}': Destination address required" in errors
    log = capfd.readouterr().err
    assert log.count(f'refused: {left_out} has no rule in the address map of this client; add "{left_out} = ') == 1
    assert "set brokernat.unmapped=pass" in log


def test_an_endpoint_without_a_rule_passes_where_the_map_says_so(twins: LoopbackWorld) -> None:
    cluster, left_out = without_rule_for(twins.hq, 3, Unmapped.PASS)
    errors = errors_of(cluster, until=f"Failed to resolve '{left_out}'", node=3)
    assert f"Failed to resolve '{left_out}': Name or service not known" in errors


def test_the_programs_own_callbacks_and_context_stay(twins: LoopbackWorld, topic_name: str) -> None:
    """confluent-kafka keeps its handle in librdkafka's one opaque; were it replaced, these would crash."""
    from confluent_kafka import Producer

    twins.hq.create_topic(topic_name)
    seen: list[str] = []
    conf = {
        "statistics.interval.ms": 50,
        "stats_cb": lambda _: seen.append("statistics"),
        "error_cb": lambda _: seen.append("error"),
        "on_delivery": lambda error, message: seen.append(f"{error} {message.value().decode()}"),
    }
    client = Producer(configure(conf, client_cluster(twins.hq)))
    client.produce(topic_name, "a record")
    deadline = time.monotonic() + TIMEOUT
    while not {"statistics", "None a record"} <= set(seen) and time.monotonic() < deadline:
        client.poll(0.1)
    assert {"statistics", "None a record"} <= set(seen)


def test_the_asyncio_clients(twins: LoopbackWorld, topic_name: str) -> None:
    from confluent_kafka.aio import AIOConsumer, AIOProducer

    async def there_and_back() -> list[bytes]:
        cluster = client_cluster(twins.hq)
        producer = AIOProducer(configure({}, cluster))
        sent = [await producer.produce(topic_name, value=f"{number}".encode()) for number in range(9)]
        await producer.flush()
        await asyncio.gather(*sent)
        await producer.close()
        consumer = AIOConsumer(configure({"group.id": topic_name, "auto.offset.reset": "earliest"}, cluster))
        await consumer.subscribe([topic_name])
        values: list[bytes] = []
        while len(values) < len(sent):
            values += [message.value() for message in await consumer.consume(9, 1) if message.error() is None]
        await consumer.close()
        return values

    twins.hq.create_topic(topic_name)
    values = asyncio.run(asyncio.wait_for(there_and_back(), TIMEOUT))
    assert sorted(values) == [f"{number}".encode() for number in range(9)]


@NEWEST_IN_THE_GATE
def test_nothing_acknowledged_is_lost_when_leaders_move_and_a_broker_restarts(
    release: str, twins: LoopbackWorld, topic_name: str
) -> None:
    hq = twins.hq
    hq.create_topic(topic_name, partitions=6, replicas=3, configs={"min.insync.replicas": "2"})
    program = Program.start(release, "traffic", [order(hq, topic_name)])
    try:
        advance(program)
        assert 2 in hq.leaders(topic_name).values()
        hq.kill(2)
        wait_until(lambda: 2 not in hq.leaders(topic_name).values(), "leaders elsewhere", timeout=TIMEOUT)
        advance(program)
        hq.start(2)
        advance(program)
        program.tell("stop")
        answer, _ = program.end()
    finally:
        program.process.kill()
        if not hq.running(2):
            hq.start(2)
    assert answer["failed"] == []
    assert answer["lost"] == 0
    assert answer["acked"] > 0


def advance(program: Program) -> None:
    """Return when both sides have gone on."""

    def state() -> dict[str, int]:
        program.tell("status")
        return program.answer()

    start, deadline = state(), time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        now = state()
        if now["acked"] >= start["acked"] + 50 and now["read"] >= start["read"] + 50:
            return
        time.sleep(0.1)
    pytest.fail(f"traffic stands still at {state()}")


def without_rule_for(running: RunningCluster, node: int, unmapped: Unmapped) -> tuple[Cluster, str]:
    cluster, left_out = client_cluster(running), str(running.advertised[node])
    assert cluster.address_map is not None
    rules = tuple(rule for rule in cluster.address_map.rules if not str(rule).startswith(f"{left_out}="))
    assert len(rules) == len(running.nodes) - 1
    return replace(cluster, address_map=AddressMap(rules, unmapped)), left_out


def errors_of(cluster: Cluster, *, until: str, node: int = 1) -> str:
    """What a client that wants to speak to one node is told until it is this, or until time is up."""
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.admin._config import ConfigResource

    errors: list[str] = []
    client = AdminClient(configure({"error_cb": lambda error: errors.append(str(error))}, cluster))
    asked = client.describe_configs([ConfigResource(ConfigResource.Type.BROKER, f"{node}")])
    deadline = time.monotonic() + TIMEOUT
    while not any(until in error for error in errors) and time.monotonic() < deadline:
        client.poll(0.2)
    del asked
    return "\n".join(errors)
