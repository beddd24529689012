"""Evidence of files, from the lines that matter."""

from brokernat.doctor.broker_files.listeners import parse_server_properties
from brokernat.doctor.evidence import BrokerFile, Evidence


def file(text: str, name: str = "f", published: tuple[tuple[int, int], ...] | None = None) -> BrokerFile:
    """A file of these lines."""
    return BrokerFile(name, parse_server_properties(text, name), published)


def files(*texts: str) -> Evidence:
    """Evidence of a file for each text."""
    return Evidence.without_network("files", files=tuple(file(text, f"f{number}") for number, text in enumerate(texts)))


SITUATION_1 = """
broker.id=1
listener.security.protocol.map=LOCAL_LISTENER:PLAINTEXT,INTERNAL_LISTENER:SASL_PLAINTEXT,EXTERNAL_LISTENER:SSL
listeners=LOCAL_LISTENER://192.168.1.23:9092,INTERNAL_LISTENER://192.168.1.23:9093,EXTERNAL_LISTENER://192.168.1.23:9092
advertised.listeners=INTERNAL_LISTENER://192.168.1.23:9093,EXTERNAL_LISTENER://192.168.1.23:9092
inter.broker.listener.name=INTERNAL_LISTENER
sasl.jaas.config=canary
"""
BOB_AND_FRED = """
broker.id=0
listeners=BOB://kafka0:29092,FRED://localhost:9092
advertised.listeners=BOB://kafka0:29092,FRED://localhost:9092
listener.security.protocol.map=BOB:PLAINTEXT,FRED:PLAINTEXT
inter.broker.listener.name=BOB
"""
KRAFT = """
node.id=1
process.roles=broker,controller
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://kafka-1.example:9092
controller.quorum.bootstrap.servers=kafka-1.example:9093
"""
