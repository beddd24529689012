"""TLS and logins on both sides: SASL that passes through, and the proxy's own login."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer
from tests.integration.proxy.conftest import Proxies

from brokernat.testbed import Advertise, ClusterOptions, LoopbackWorld, Mechanism, Protocol

pytestmark = pytest.mark.integration

PASSWORD = "canary-2718"


@pytest.fixture(scope="module")
def guarded() -> Iterator[LoopbackWorld]:
    """One broker with TLS for a name that nobody resolves, and SCRAM."""
    options = ClusterOptions(
        brokers=1,
        advertise=Advertise.NAME,
        protocol=Protocol.SASL_SSL,
        mechanism=Mechanism.SCRAM_SHA_256,
        password=PASSWORD,
    )
    with LoopbackWorld(hq=options, local=None) as world:
        yield world


@pytest.mark.parametrize("login", [True, False], ids=["own-login", "through"])
def test_librdkafka_reads_and_writes(guarded: LoopbackWorld, proxy_of: Proxies, topic_name: str, login: bool) -> None:
    guarded.hq.create_topic(topic_name)
    proxy = proxy_of(guarded.hq, *(["--login"] if login else []))
    conf = {"bootstrap.servers": str(proxy.listen)}
    if not login:
        options = guarded.hq.plan.options
        conf |= {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-256"}
        conf |= {"sasl.username": options.username, "sasl.password": PASSWORD}
    producer = Producer(conf | {"enable.idempotence": "true"})
    for number in range(10):
        producer.produce(topic_name, f"order {number}")
    assert producer.flush(60) == 0, proxy.log()
    consumer = Consumer(conf | {"group.id": topic_name, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic_name])
    records = [record for _ in range(10) for record in consumer.consume(1, timeout=60)]
    consumer.close()
    assert sorted(record.value() or b"" for record in records) == [f"order {number}".encode() for number in range(10)]
    assert PASSWORD not in proxy.log()
