"""Lines of spring-kafka. The client inside is Kafka's Java client, whose lines are in `java_*.py`; here are the words
that Spring adds, which mostly wrap what the client said.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

_BELOW = "explain the lines around it, or the whole log"

SYMPTOMS: Final = (
    Symptom(
        "spring-send-failed",
        Family.SPRING,
        "a record was not sent",
        ("Exception thrown when sending a message with key=",),
        r"Exception thrown when sending a message with key='[^']*' and payload='.*' to topic (?P<topic>[\w.-]+)",
        says(
            "A record for `{topic}` was given up. Unless the program keeps it, it is lost; the exception below says "
            "why.",
            _BELOW + "; the `ProducerListener` that logs this gets the record and can keep it",
            "BN302",
        ),
        Telling.WRAPPER,
    ),
    Symptom(
        "spring-topics-failed",
        Family.SPRING,
        "topics could not be looked up or made at the start",
        ("KafkaAdmin - Failed to create topics", "Could not configure topics"),
        r"KafkaAdmin - Failed to create topics|IllegalStateException: Could not configure topics",
        says(
            "Spring's `KafkaAdmin` reached no broker that it could use when the application started; this line only "
            "says so.",
            _BELOW,
            "BN302",
            "BN103",
        ),
        Telling.WRAPPER,
    ),
)
