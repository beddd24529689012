"""Lines of aiokafka: `Unable connect to "host:port"` is about a bootstrap server, `Unable connect to node with id`
about a broker that metadata named.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import CUT_OFF, LOGIN, LOOK_AT_BOOTSTRAP, UNREACHABLE
from brokernat.doctor.explaining.symptom import Family, Role, Symptom, Telling, says

SYMPTOMS: Final = (
    Symptom(
        "aiokafka-bootstrap",
        Family.AIOKAFKA,
        "a bootstrap server takes no connection",
        ('Unable connect to "',),
        r"Unable connect to \"(?P<endpoint>[^\"]+)\": (?!\[SSL: |\[Error \d+\] \w*Sasl)",
        says("The bootstrap server {endpoint} cannot be used.", LOOK_AT_BOOTSTRAP, "BN103", "BN102", "BN401"),
    ),
    Symptom(
        "aiokafka-login",
        Family.AIOKAFKA,
        "user, password or mechanism is refused",
        ('Unable connect to "',),
        r"Unable connect to \"(?P<endpoint>[^\"]+)\": \[Error (?!34\])\d+\] \w*Sasl",
        says("{endpoint} refused the login.", LOGIN + "; compare the mechanism, too", "BN404"),
        Telling.FAULT,
    ),
    Symptom(
        "aiokafka-node",
        Family.AIOKAFKA,
        "no connection to a node",
        ("Unable connect to node with id ",),
        r"Unable connect to node with id (?P<node>\d+): \[Errno -?\d+\] "
        r"(?:Connect call failed \('(?P<host>[^']+)', (?P<port>\d+)|(?P<reason>[\w ]+))",
        UNREACHABLE,
    ),
    Symptom(
        "aiokafka-bootstrap-metadata",
        Family.AIOKAFKA,
        "a bootstrap server does not answer",
        ('Unable to request metadata from "',),
        r"Unable to request metadata from \"(?P<endpoint>[^\"]+)\"",
        {Role.UNNAMED: CUT_OFF[Role.BOOTSTRAP]},
    ),
    Symptom(
        "aiokafka-node-metadata",
        Family.AIOKAFKA,
        "a node does not answer",
        ("Unable to request metadata from node with id ",),
        r"Unable to request metadata from node with id (?P<node>\w+)",
        says(
            "Node {node} was connected and did not answer a question for metadata: the connection ended, or nothing "
            "came in `request_timeout_ms`.",
            "look whether the broker is up behind its endpoint, and what ends connections in between",
            "BN302",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "aiokafka-metadata",
        Family.AIOKAFKA,
        "no broker answers a question for metadata",
        ("Unable to update metadata from ",),
        r"Unable to update metadata from \[",
        says(
            "None of the brokers that the client knows of answers.",
            "the errors of `aiokafka` above it say why: explain the whole log",
            "BN302",
            "BN301",
            "BN103",
        ),
        Telling.EFFECT,
    ),
)
