"""Lines of Kafka's Java clients that only wrap what happened: clients that could not be made, calls that were given up,
groups whose coordinator answered for another.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import LOOK_WHO_ANSWERS, WRONG_BROKER
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

_CAUSED = "explain the last `Caused by:` below it, or the whole log"

SYMPTOMS: Final = (
    Symptom(
        "java-not-constructed",
        Family.JAVA,
        "a client could not be made",
        ("Failed to construct kafka ", "Failed to create new KafkaAdminClient"),
        r"KafkaException: Failed to (?:construct kafka (?:producer|consumer)|create new KafkaAdminClient)",
        says(
            "The client's settings were refused before anything was dialled; this line only says so.",
            _CAUSED,
            "BN101",
            "BN102",
            "BN404",
        ),
        Telling.WRAPPER,
    ),
    Symptom(
        "java-connect-no-cluster",
        Family.JAVA,
        "Kafka Connect does not start",
        ("Failed to connect to and describe Kafka cluster",),
        r"Failed to connect to and describe Kafka cluster\.",
        says(
            "The worker of Kafka Connect reached no broker that it could use; this line only says so.",
            _CAUSED,
            "BN302",
            "BN103",
            "BN401",
            "BN404",
        ),
        Telling.WRAPPER,
    ),
    Symptom(
        "java-call-timed-out",
        Family.JAVA,
        "an administration request was not answered in time",
        ("Call(callName=",),
        r"Call\(callName=(?P<call>\w+), .*\) (?:timed out at \d+|appeared in a timed-out|aborted)",
        says(
            "`{call}` was given up before any broker answered it.",
            "the first warnings of the client above it say why: explain the whole log",
            "BN302",
            "BN103",
            "BN401",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "java-not-coordinator",
        Family.JAVA,
        "the broker that answered does not coordinate the group",
        ("This is not the correct coordinator.",),
        r"This is not the correct coordinator\.",
        says(WRONG_BROKER, LOOK_WHO_ANSWERS, "BN601", "BN701"),
    ),
)
