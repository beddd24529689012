"""Programs that connect to every broker past the usual classes of a library: `other_ways.py WAY SERVERS BROKERS TOPIC`.

BROKERS are the endpoints that the brokers advertise, with commas. Each way prints how many brokers it has reached.
"""

# ruff: noqa: T201 - as people write them
# mypy: disable-error-code="attr-defined, no-any-return, no-untyped-call"

import asyncio
import socket
import sys


def kafka_client(servers: str, brokers: list[tuple[str, int]], topic: str) -> int:
    from kafka.client_async import KafkaClient

    client = KafkaClient(bootstrap_servers=servers.split(","), api_version=(2, 6))
    client.poll(future=client.cluster.request_update())
    return sum(bool(client.await_ready(broker.nodeId, 20_000)) for broker in client.cluster.brokers())


def broker_connection(servers: str, brokers: list[tuple[str, int]], topic: str) -> int:
    from kafka import BrokerConnection

    connections = [BrokerConnection(*broker, socket.AF_UNSPEC, api_version=(2, 6)) for broker in brokers]
    return sum(bool(connection.connect_blocking(20)) for connection in connections)


def kafka_client_argument(servers: str, brokers: list[tuple[str, int]], topic: str) -> int:
    import kafka
    from kafka.net.compat import KafkaNetClient

    producer = kafka.KafkaProducer(bootstrap_servers=servers.split(","), kafka_client=KafkaNetClient)
    sent = [producer.send(topic, b"x", partition=partition) for partition in range(len(brokers))]
    return len([future.get(20) for future in sent])


def kafka_net_client(servers: str, brokers: list[tuple[str, int]], topic: str) -> int:
    from kafka.net.compat import KafkaNetClient

    client = KafkaNetClient(bootstrap_servers=servers.split(","))
    client._manager.bootstrap(20_000)
    return sum(bool(client.await_ready(broker.node_id, 20_000)) for broker in client.cluster.brokers())


def aiokafka_client(servers: str, brokers: list[tuple[str, int]], topic: str) -> int:
    from aiokafka.client import AIOKafkaClient

    async def work() -> int:
        client = AIOKafkaClient(bootstrap_servers=servers)
        await client.bootstrap()
        ready = [await client.ready(broker.nodeId) for broker in client.cluster.brokers()]
        await client.close()
        return sum(ready)

    return asyncio.run(work())


def aiokafka_connection(servers: str, brokers: list[tuple[str, int]], topic: str) -> int:
    from aiokafka.conn import create_conn

    async def work() -> int:
        connections = [await create_conn(*broker) for broker in brokers]
        reached = sum(connection.connected() for connection in connections)
        for connection in connections:
            connection.close()
        return reached

    return asyncio.run(work())


def confluent_admin(servers: str, brokers: list[tuple[str, int]], topic: str) -> int:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient, OffsetSpec

    admin = AdminClient({"bootstrap.servers": servers})
    wanted = {TopicPartition(topic, partition): OffsetSpec.latest() for partition in range(len(brokers))}
    return len([future.result(20) for future in admin.list_offsets(wanted).values()])


def confluent_aio(servers: str, brokers: list[tuple[str, int]], topic: str) -> int:
    from confluent_kafka.aio import AIOProducer

    async def work() -> int:
        producer = AIOProducer({"bootstrap.servers": servers}, batch_size=1)
        sent = [await producer.produce(topic, b"x", partition=partition) for partition in range(len(brokers))]
        await producer.flush()
        written = await asyncio.wait_for(asyncio.gather(*sent), 20)
        await producer.close()
        return len(written)

    return asyncio.run(work())


way, servers, advertised, topic = sys.argv[1:]
brokers = [(host, int(port)) for host, port in (broker.rsplit(":", 1) for broker in advertised.split(","))]
print("reached", globals()[way](servers, brokers, topic))
