"""A Python client that is expected to fail: `python_client.py LIBRARY` with a situation as JSON on standard input.

What counts is what it logs, in the usual format of `logging`; what it raises is printed as Python prints it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import sys
import time
import traceback
from typing import Any

SECONDS = 6
_SETUP_TIMEOUT_SINCE = 0x010700FF


def main() -> None:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    situation = json.load(sys.stdin)
    for role in ROLES[sys.argv[1]]:
        try:
            role(situation)
        except Exception:  # noqa: BLE001 - it shall fail
            traceback.print_exc()


def tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def confluent_conf(it: dict[str, Any]) -> dict[str, Any]:
    from confluent_kafka import libversion

    names = {
        "security.protocol": it["protocol"], "sasl.mechanism": it["mechanism"], "sasl.username": it["user"],
        "sasl.password": it["password"], "ssl.ca.location": it["ca"], "plugin.library.paths": it["plugin"],
        "brokernat.map": it["map"],
        "debug": it["debug"],
        "socket.connection.setup.timeout.ms": "2000" if libversion()[1] >= _SETUP_TIMEOUT_SINCE else "",
        "ssl.endpoint.identification.algorithm": "" if it["verify"] else "none",
    }  # fmt: skip
    return {"bootstrap.servers": it["servers"], **{name: value for name, value in names.items() if value}}


def confluent_admin(it: dict[str, Any]) -> None:
    from confluent_kafka.admin import AdminClient

    admin = AdminClient(confluent_conf(it))
    try:
        admin.list_topics(it["topic"], timeout=SECONDS)
    finally:
        admin.poll(0)


def confluent_producer(it: dict[str, Any]) -> None:
    from confluent_kafka import Producer

    producer = Producer(
        confluent_conf(it) | {"message.timeout.ms": 4000, "error_cb": lambda error: tell(f"error_cb: {error!r}")}
    )

    def delivered(error: Any, message: Any) -> None:
        if error is not None:
            tell(f"delivery failed: {error!r}")

    for _ in range(9):
        producer.produce(it["topic"], b"x" * it["size"], on_delivery=delivered)
    producer.flush(SECONDS)


def confluent_consumer(it: dict[str, Any]) -> None:
    from confluent_kafka import Consumer

    consumer = Consumer(confluent_conf(it) | {"group.id": it["name"], "auto.offset.reset": "earliest"})
    consumer.subscribe([it["topic"]])
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        message = consumer.poll(0.5)
        if message is not None and message.error():
            tell(f"consumed: {message.error()!r}")
    consumer.close()


def kafka_python_conf(it: dict[str, Any]) -> dict[str, Any]:
    conf: dict[str, Any] = {"bootstrap_servers": it["servers"].split(","), "security_protocol": it["protocol"]}
    if it["mechanism"]:
        conf |= {
            "sasl_mechanism": it["mechanism"],
            "sasl_plain_username": it["user"],
            "sasl_plain_password": it["password"],
        }
    if it["ca"]:
        conf["ssl_cafile"] = it["ca"]
    if it["refresh"]:
        conf["metadata_max_age_ms"] = int(it["refresh"])
    if not it["verify"]:
        conf["ssl_check_hostname"] = False
    if it["map"]:
        from brokernat.clients.kafka_python import configure

        return configure(conf, mapped(it))
    return conf


def mapped(it: dict[str, Any]) -> Any:
    from brokernat.address import AddressMap, Endpoint
    from brokernat.config import Cluster

    return Cluster("hq", tuple(map(Endpoint.parse, it["servers"].split(","))), AddressMap.parse(it["map"]))


def kafka_python_producer(it: dict[str, Any]) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(**kafka_python_conf(it), max_block_ms=4000, request_timeout_ms=3000)
    try:
        producer.send(it["topic"], b"x" * it["size"]).get(timeout=SECONDS)
    finally:
        producer.close(timeout=1)


def kafka_python_consumer(it: dict[str, Any]) -> None:
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(it["topic"], **kafka_python_conf(it), group_id=it["name"])
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        consumer.poll(500)
    consumer.close()


def aiokafka_conf(it: dict[str, Any]) -> dict[str, Any]:
    conf = kafka_python_conf(it | {"map": ""})
    conf.pop("ssl_cafile", None)
    conf.pop("ssl_check_hostname", None)
    if it["protocol"].endswith("SSL"):
        conf["ssl_context"] = ssl.create_default_context(cafile=it["ca"] or None)
        conf["ssl_context"].check_hostname = it["verify"]
    if it["map"]:
        from brokernat.clients.aiokafka import configure

        return configure(conf, mapped(it))
    return conf


def aiokafka_producer(it: dict[str, Any]) -> None:
    from aiokafka import AIOKafkaProducer

    async def produce() -> None:
        producer = AIOKafkaProducer(**aiokafka_conf(it), request_timeout_ms=3000)
        try:
            await producer.start()
            async with asyncio.timeout(SECONDS):
                await producer.send_and_wait(it["topic"], b"x" * it["size"])
        finally:
            await producer.stop()

    asyncio.run(produce())


def aiokafka_consumer(it: dict[str, Any]) -> None:
    from aiokafka import AIOKafkaConsumer

    async def consume() -> None:
        group = f"{it['name']}-aiokafka"
        consumer = AIOKafkaConsumer(it["topic"], **aiokafka_conf(it), group_id=group, request_timeout_ms=3000)
        try:
            async with asyncio.timeout(2 * SECONDS):
                await consumer.start()
                await consumer.getone()
        finally:
            await consumer.stop()

    asyncio.run(consume())


ROLES = {
    "confluent-kafka": (confluent_admin, confluent_producer, confluent_consumer),
    "kafka-python": (kafka_python_producer, kafka_python_consumer),
    "aiokafka": (aiokafka_producer, aiokafka_consumer),
}

if __name__ == "__main__":
    main()
