"""A program that somebody wrote for confluent-kafka: writes a record to each partition, reads the topic in a group."""

# ruff: noqa: T201 - as people write them

import sys
import time

from confluent_kafka import Consumer, KafkaError, Message, Producer

servers, topic, left, patience = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
failures: list[str] = []


def delivered(error: KafkaError | None, _: Message) -> None:
    if error is not None:
        failures.append(str(error))


producer = Producer({"bootstrap.servers": servers, "message.timeout.ms": patience * 1000})
for partition in range(3):
    producer.produce(topic, b"from confluent-kafka", partition=partition, on_delivery=delivered)
producer.flush()
if failures:
    sys.exit(failures[0])
consumer = Consumer({"bootstrap.servers": servers, "group.id": f"{topic}-group", "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
deadline = time.monotonic() + patience
while left and time.monotonic() < deadline:
    message = consumer.poll(1)
    if message is not None and message.error() is None:
        print((message.value() or b"").decode())
        left -= 1
consumer.close()
sys.exit(1 if left else 0)
