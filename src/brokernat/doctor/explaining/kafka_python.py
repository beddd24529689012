"""Lines of kafka-python, 2.x (`kafka.conn`) and 3.x (`kafka.net`): `node_id=bootstrap-0` is a bootstrap server, a
number a broker that metadata named, `coordinator-ID` the coordinator.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import LOOK_AT_BOOTSTRAP, UNREACHABLE, UNRESOLVED
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

SYMPTOMS: Final = (
    Symptom(
        "kafka-python-connection-lost",
        Family.KAFKA_PYTHON,
        "no connection to a node",
        ("Connection lost: KafkaConnectionError: ",),
        r"<KafkaConnection node_id=(?P<node>[\w-]+) [^>]*>: Connection lost: KafkaConnectionError: \d+ E\w+",
        UNREACHABLE,
        wordings="3.x",
    ),
    Symptom(
        "kafka-python-dns",
        Family.KAFKA_PYTHON,
        "a name does not resolve",
        ("DNS lookup failed for ",),
        r"DNS lookup failed for (?P<host>[^\s:]+):(?P<port>\d+)",
        UNRESOLVED,
    ),
    Symptom(
        "kafka-python-bootstrap-failed",
        Family.KAFKA_PYTHON,
        "no bootstrap server could be used",
        ("Unable to bootstrap from ",),
        r"Unable to bootstrap from (?:\[')?(?P<endpoint>[\w.-]+:\d+)",
        says("None of the bootstrap servers could be used.", LOOK_AT_BOOTSTRAP, "BN103", "BN102", "BN401"),
        Telling.EFFECT,
    ),
)
