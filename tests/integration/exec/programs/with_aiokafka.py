"""A program that somebody wrote for aiokafka: writes a record to each partition, reads the topic in a group."""

# ruff: noqa: T201 - as people write them

import asyncio
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer


async def main(servers: str, topic: str, wanted: int, patience: int) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=servers, request_timeout_ms=patience * 1000)
    await producer.start()
    for partition in range(3):
        await asyncio.wait_for(producer.send_and_wait(topic, b"from aiokafka", partition=partition), patience)
    await producer.stop()
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=servers, group_id=f"{topic}-group", auto_offset_reset="earliest"
    )
    await consumer.start()
    for _ in range(wanted):
        record = await asyncio.wait_for(consumer.getone(), patience)
        print(record.value.decode())
    await consumer.stop()


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
