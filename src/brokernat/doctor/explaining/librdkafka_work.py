"""Lines of librdkafka about what brokers answer and what did not get done, mostly as a program prints them: the error
without the line of the log that says whose endpoint it was.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import (
    LOOK_AT_OFFSETS_TOPIC,
    LOOK_WHO_ANSWERS,
    NO_COORDINATOR,
    WRONG_BROKER,
)
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

_LOG = "set `debug` to `broker,security` (kcat: `-d broker,security`) and explain those lines"

SYMPTOMS: Final = (
    Symptom(
        "rdkafka-controller",
        Family.LIBRDKAFKA,
        "the bootstrap server is a controller's port",
        ("Local: Required feature not supported by broker",),
        r"metadata.*: Local: Required feature not supported by broker",
        says(
            "What answers knows no question for metadata: a KRaft controller, whose port is not for clients.",
            "give the port of a broker's listener",
            "BN105",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-too-large",
        Family.LIBRDKAFKA,
        "a record is larger than a limit",
        ("Broker: Message size too large",),
        r"Broker: Message size too large",
        says(
            "A record is larger than `message.max.bytes` of the client or `max.message.bytes` of the topic. Addresses "
            "are not the matter.",
            "raise the limit on that side, or make records smaller",
            then="brokernat pipeline check NAME",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-other-cluster",
        Family.LIBRDKAFKA,
        "two clusters answer one client",
        ("different ClusterId",),
        r"reports different ClusterId \"(?P<one>[\w-]+)\" than previously known \"(?P<other>[\w-]+)\"",
        says(
            "One client is told of two clusters, {one} and {other}: bootstrap servers or rules lead to different ones.",
            "compare the cluster ids behind all bootstrap servers and rules",
            "BN501",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-error-unresolved",
        Family.LIBRDKAFKA,
        "a name does not resolve (the error without its line)",
        ("Local: Host resolution failure",),
        r"Local: Host resolution failure(?!: )",
        says("The name of some broker does not resolve here.", _LOG, "BN301", "BN102"),
        Telling.EFFECT,
    ),
    Symptom(
        "rdkafka-error-transport",
        Family.LIBRDKAFKA,
        "no broker answers (the error without its line)",
        ("Local: Broker transport failure",),
        r"Local: Broker transport failure(?!: )",
        says(
            "No broker could be used, and the reason stands in a log that this program does not show.",
            _LOG,
            "BN103",
            "BN302",
            "BN401",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "rdkafka-error-timed-out",
        Family.LIBRDKAFKA,
        "a record was given up (the error without its line)",
        ("Local: Message timed out",),
        r"Local: Message timed out",
        says(
            "A record waited until `message.timeout.ms` ended: its partition's leader takes no connection.",
            _LOG,
            "BN302",
            "BN301",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "rdkafka-metadata-timed-out",
        Family.LIBRDKAFKA,
        "metadata did not come in time",
        ("Failed to get metadata: Local: Timed out", "Failed to acquire metadata: Local: Timed out"),
        r"Failed to (?:get|acquire) metadata: Local: Timed out",
        says("No broker answered a question for metadata in time.", _LOG, "BN103", "BN401", "BN104"),
        Telling.EFFECT,
    ),
    Symptom(
        "rdkafka-unknown-topic",
        Family.LIBRDKAFKA,
        "the topic is not there",
        ("Broker: Unknown topic or partition",),
        r"Broker: Unknown topic or partition",
        says(
            "The cluster that answered has no such topic, or the user may not see it.",
            "list the topics; compare the cluster id with the one you expect",
            "BN501",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-not-authorized",
        Family.LIBRDKAFKA,
        "the user may not do this",
        ("authorization failed",),
        r"(?:Broker: |response error: )(?P<what>Topic|Group|Cluster) authorization failed",
        says("The login worked; its user lacks a right ({what}).", "ask the cluster's people for the ACL", "BN003"),
        Telling.FAULT,
    ),
    Symptom(
        "rdkafka-no-coordinator",
        Family.LIBRDKAFKA,
        "the cluster names no coordinator",
        ("oordinator not available", "FindCoordinator response error: "),
        r"Broker: (?:Group c|C)oordinator not available|FindCoordinator response error: COORDINATOR_NOT_AVAILABLE",
        says(NO_COORDINATOR, LOOK_AT_OFFSETS_TOPIC, "BN703", "BN504"),
    ),
    Symptom(
        "rdkafka-not-leader",
        Family.LIBRDKAFKA,
        "the broker that answered does not lead the partition, or does not coordinate the group",
        ("Broker: Not ",),
        r"Broker: Not (?:leader for partition|coordinator(?: for group)?)\b",
        says(WRONG_BROKER, LOOK_WHO_ANSWERS, "BN601", "BN602"),
    ),
)
