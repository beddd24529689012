"""Lines of kafka-python about attempts that failed and what did not get done; 2.x tells an attempt twice, here by the
number of the error.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import OTHER_PROTOCOL, UNREACHABLE
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

SYMPTOMS: Final = (
    Symptom(
        "kafka-python-attempt",
        Family.KAFKA_PYTHON,
        "no connection to a node",
        ("Connect attempt ",),
        r"(?:^|\W)(?:Connect attempt to )?<BrokerConnection (?:client_id=\S+ )?node_id=(?P<node>[\w-]+) "
        r"(?:host=(?P<endpoint>\[?[\w.:-]+:\d+)|host=(?P<host>[^\s/]+)/(?P<ip>\S+) port=(?P<port>\d+)).*>:? "
        r"(?:Connect attempt )?returned error (?P<number>\d+)",
        UNREACHABLE,
        wordings="`Connect attempt to <…> returned error` to 2.0, the other way round in 2.3",
    ),
    Symptom(
        "kafka-python-node-failed",
        Family.KAFKA_PYTHON,
        "no connection to a node",
        (" connection failed -- refreshing metadata",),
        r"Node (?P<node>[\w-]+) connection failed -- refreshing metadata",
        UNREACHABLE,
        Telling.EFFECT,
    ),
    Symptom(
        "kafka-python-expired-batch",
        Family.KAFKA_PYTHON,
        "records were given up before a leader took them",
        ("record(s) expired",),
        r"Batch for TopicPartition\(topic='(?P<topic>[^']+)', partition=(?P<partition>\d+)\) containing "
        r"(?P<count>\d+) record\(s\) expired",
        says(
            "{count} records of {topic}-{partition} were given up: metadata came, and the endpoint of the partition's "
            "leader takes no connection. They are lost unless the program sends them again.",
            "the first errors of `kafka.conn` or `kafka.net` above it say why: explain the whole log",
            "BN302",
            "BN301",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "kafka-python-no-version",
        Family.KAFKA_PYTHON,
        "a bootstrap server does not say which Kafka it is",
        ("Unable to determine broker version", "UnrecognizedBrokerVersion"),
        r"KafkaConnectionError: Unable to determine broker version|errors\.UnrecognizedBrokerVersion\b(?!\()",
        says(
            "A bootstrap server took the connection and gave none of the answers by which the client tells a broker's "
            "version: a listener that demands a login, a port of TLS or of another service.",
            OTHER_PROTOCOL,
            "BN401",
            "BN404",
            "BN104",
        ),
    ),
)
