"""What both kafka-python and aiokafka say in the same words: rights, topics, sizes, and a login where there is none."""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import (
    LOOK_AT_BOOTSTRAP,
    LOOK_AT_OFFSETS_TOPIC,
    LOOK_WHO_ANSWERS,
    NO_COORDINATOR,
    OTHER_PROTOCOL,
    WRONG_BROKER,
)
from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

SYMPTOMS: Final = (
    Symptom(
        "python-not-authorized",
        Family.PYTHON,
        "the user may not do this",
        ("AuthorizationFailedError: ", "is not authorized for this client"),
        r"\[Error \d+\] (?:Topic|Group|Cluster)AuthorizationFailedError: |Topic \S+ is not authorized for this client",
        says(
            "The login worked; its user lacks a right to the topic or the group in the line.",
            "ask the cluster's people for the ACL (READ, WRITE, DESCRIBE on topics, READ on the group)",
            "BN003",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "python-unknown-topic",
        Family.PYTHON,
        "the topic is not there",
        ("not found in cluster metadata",),
        r"Topic (?P<topic>[\w.-]+) not found in cluster metadata",
        says(
            "The cluster that answered has no topic `{topic}`: a wrong name, or another cluster than one thinks.",
            "list the topics; compare the cluster id with the one you expect",
            "BN501",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "python-too-large",
        Family.PYTHON,
        "a record is larger than a limit",
        ("MessageSizeTooLargeError",),
        r"\[Error 10\] MessageSizeTooLargeError",
        says(
            "A record is larger than `max_request_size` of the producer or `max.message.bytes` of the topic. Addresses "
            "are not the matter.",
            "raise the limit on that side, or make records smaller",
            then="brokernat pipeline check NAME",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "python-login-at-plain-listener",
        Family.PYTHON,
        "a login at a listener that has none",
        ("[Error 34] IllegalSaslState",),
        r"\[Error 34\] IllegalSaslState",
        says(
            "The client logs in, and the listener behind this port has no login (PLAINTEXT or SSL).",
            OTHER_PROTOCOL,
            "BN404",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "python-not-leader",
        Family.PYTHON,
        "the broker that answered does not lead the partition, or does not coordinate the group",
        ("NotLeader", "NotCoordinator"),
        r"NotLeader(?:ForPartition|OrFollower)Error|NotCoordinator(?:ForGroup)?Error",
        says(WRONG_BROKER, LOOK_WHO_ANSWERS, "BN601", "BN602"),
    ),
    Symptom(
        "python-no-coordinator",
        Family.PYTHON,
        "the cluster names no coordinator",
        ("CoordinatorNotAvailableError",),
        r"\b(?:Group)?CoordinatorNotAvailableError",
        says(NO_COORDINATOR, LOOK_AT_OFFSETS_TOPIC, "BN703", "BN504"),
    ),
    Symptom(
        "python-coordinator-lost",
        Family.PYTHON,
        "the group's coordinator is not reached",
        ("Marking the coordinator dead (node ",),
        r"Marking the coordinator dead \(node (?P<node>[\w-]+)\) ?for group (?P<group>[^\s:]+?)"
        r"(?:\.$|: (?!.*NotCoord)|$)",
        says(
            "The client does not get on with node {node}, the coordinator of group `{group}`, and asks anew who it is. "
            "The coordinator's endpoint comes by another answer than the topics' leaders.",
            "the errors above it say why: explain the whole log",
            "BN701",
            "BN302",
            "BN601",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "python-bootstrap-failed",
        Family.PYTHON,
        "no bootstrap server could be used",
        ("Unable to bootstrap from [(",),
        r"Unable to bootstrap from \[\('(?P<host>[^']+)', (?P<port>\d+)",
        says(
            "None of the bootstrap servers could be used; {endpoint} is the first.", LOOK_AT_BOOTSTRAP, "BN103", "BN102"
        ),
        Telling.EFFECT,
        wordings="also of kafka-python 1.4",
    ),
)
