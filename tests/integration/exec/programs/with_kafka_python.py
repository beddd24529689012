"""A program that somebody wrote for kafka-python: writes a record to each partition, reads the topic in a group."""

# ruff: noqa: T201 - as people write them

import sys

from kafka import KafkaConsumer, KafkaProducer

servers, topic, wanted, patience = sys.argv[1].split(","), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
producer = KafkaProducer(bootstrap_servers=servers, max_block_ms=patience * 1000)
for partition in range(3):
    producer.send(topic, b"from kafka-python", partition=partition).get(timeout=patience)
producer.close()
consumer = KafkaConsumer(
    topic,
    bootstrap_servers=servers,
    group_id=f"{topic}-group",
    auto_offset_reset="earliest",
    consumer_timeout_ms=patience * 1000,
)
for number, record in enumerate(consumer, start=1):
    print(record.value.decode())
    if number == wanted:
        break
consumer.close()
