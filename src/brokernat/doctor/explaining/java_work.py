"""Lines of Kafka's Java clients about what did not get done: time that ran out, groups, records, sizes.

Most are consequences. A time-out says how long the client waited and never why; the reason stands above it in the log,
often at WARN or INFO.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import LOOK_AT_OFFSETS_TOPIC, NO_COORDINATOR, OTHER_PROTOCOL
from brokernat.doctor.explaining.symptom import DOCTOR, Family, Reading, Role, Symptom, Telling, says

_ABOVE = "the first warnings of the client above it say why: explain the whole log"

SYMPTOMS: Final = (
    Symptom(
        "java-no-node",
        Family.JAVA,
        "no broker could be used in time",
        ("Timed out waiting for a node assignment",),
        r"Timed out waiting for a node assignment\.(?: Call: \w+)?",
        says(
            "A request found no broker that it could use: the advertised endpoints are dead from here, or TLS or login "
            "do not fit. Spark, Flink, Kafka Streams and most user interfaces end in this one.",
            _ABOVE,
            "BN302",
            "BN301",
            "BN103",
            "BN401",
            "BN404",
        ),
        Telling.EFFECT,
        wordings="`Call: …` names the request from 2.5 on",
    ),
    Symptom(
        "java-call-unsent",
        Family.JAVA,
        "an administration request was never sent",
        ("Timed out waiting to send the call.", "The AdminClient thread "),
        r"Timed out waiting to send the call\.|The AdminClient thread (?:has exited|is not accepting new calls)\.",
        says("A request was given up before any broker could take it.", _ABOVE, "BN302", "BN103"),
        Telling.EFFECT,
    ),
    Symptom(
        "java-topic-not-in-metadata",
        Family.JAVA,
        "the producer got no metadata of the topic",
        ("not present in metadata after", "Failed to update metadata after"),
        r"(?:Topic (?P<topic>[\w.-]+)|Partition \d+ of topic (?P<other>[\w.-]+) with partition count \d+(?: is)?) not "
        r"present in metadata after \d+ ms|Failed to update metadata after \d+ ms",
        says(
            "In `max.block.ms` no broker told the producer who leads the topic: no bootstrap server or advertised "
            "broker answers, the topic is not there, or its leaders lack this listener.",
            _ABOVE,
            "BN302",
            "BN103",
            "BN504",
        ),
        Telling.EFFECT,
        wordings="`Failed to update metadata` before 2.4",
    ),
    Symptom(
        "java-metadata-timeout",
        Family.JAVA,
        "metadata did not come in time",
        (
            "Timeout expired while fetching topic metadata",
            "Failed to get offsets by times",
            "Timeout of ",
        ),
        r"Timeout expired while fetching topic metadata|Failed to get offsets "
        r"by times in \d+ ?ms|Timeout of \d+ms expired before the (?:position for partition|last committed offset)",
        says(
            "The consumer reached nobody who could answer in `default.api.timeout.ms`: advertised endpoints are dead "
            "from here, or no bootstrap server answers.",
            _ABOVE,
            "BN302",
            "BN301",
            "BN103",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "java-expired-batch",
        Family.JAVA,
        "records were given up before a leader took them",
        ("has passed since ",),
        r"Expiring (?P<count>\d+) record\(s\) for (?P<partition>\S+?)(?::| due to) ?\d+ ms has passed since "
        r"(?:batch creation|last)",
        says(
            "{count} records of {partition} waited until `delivery.timeout.ms` ended: metadata came, and the endpoint "
            "of the partition's leader takes no connection. They are lost unless the program sends them again.",
            _ABOVE + "; often only some of the brokers are concerned",
            "BN302",
            "BN301",
        ),
        Telling.EFFECT,
        wordings="`due to` in place of the colon before 1.0",
    ),
    Symptom(
        "java-no-producer-id",
        Family.JAVA,
        "the transaction's coordinator was not reached",
        ("while awaiting InitProducerId", "while initializing transactional state", "InitTransactions timed out"),
        r"Timeout expired after \d+ ?m(?:illiseconds|s) while awaiting InitProducerId|Timeout expired while "
        r"initializing transactional state|InitTransactions timed out",
        says(
            "The producer reached no coordinator for its transactions. Its endpoint comes by another answer than the "
            "topics' leaders.",
            _ABOVE,
            "BN702",
            "BN302",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "java-coordinator-lost",
        Family.JAVA,
        "the group's coordinator is not reached",
        ("is unavailable or invalid",),
        r"[Gg]roup coordinator (?P<host>\S+):(?P<port>\d+) \(id: (?P<node>-?\d+) rack: .*is unavailable or invalid"
        r"(?: due to cause: (?P<cause>(?:(?!isDisconnected).)+?)\.? ?isDisconnected|, will attempt rediscovery|)",
        {
            Role.COORDINATOR: Reading(
                "The group's coordinator is node {node} at {endpoint}, and this client does not get on with it. In a "
                "loop, its endpoint is dead from here, or leads to another broker. The coordinator's endpoint comes by "
                "another answer than the topics' leaders, so producing may work all the while.",
                "give the map a rule for `{endpoint}`, or correct the one it has",
                ("BN701", "BN302", "BN601"),
                DOCTOR,
            )
        },
    ),
    Symptom(
        "java-coordinator-not-available",
        Family.JAVA,
        "the cluster names no coordinator",
        ("coordinator is not available",),
        r"(?<!AVAILABLE: )The (?:group )?coordinator is not available\.",
        says(
            NO_COORDINATOR,
            LOOK_AT_OFFSETS_TOPIC,
            "BN703",
            "BN504",
        ),
    ),
    Symptom(
        "java-record-too-large",
        Family.JAVA,
        "a record is larger than a limit",
        ("The message is ", "larger than the max message size", "Error: MESSAGE_TOO_LARGE"),
        r"The message is (?P<size>\d+) bytes when serialized which is larger than (?P<limit>\d+)|The request included "
        r"a message larger than the max message size the server will accept|Error: MESSAGE_TOO_LARGE",
        says(
            "A record is larger than a limit: `max.request.size` of the producer, or `max.message.bytes` of the topic. "
            "Addresses are not the matter.",
            "raise the limit on the side that the line names, or make records smaller",
            then="brokernat pipeline check NAME",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "java-out-of-memory",
        Family.JAVA,
        "memory ran out while an answer was read",
        ("MemoryPool$1.tryAllocate(",),
        r"\bat \S*org\.apache\.kafka\.common\.memory\.MemoryPool\$1\.tryAllocate\(",
        says(
            "Below an `OutOfMemoryError`: there was no memory for an answer. Unless the heap is tiny, the client took "
            "the first bytes of another protocol for a length: a TLS alert is 352518912 bytes, `HTTP` 1213486160.",
            OTHER_PROTOCOL,
            "BN401",
            "BN104",
        ),
        Telling.FAULT,
    ),
)
