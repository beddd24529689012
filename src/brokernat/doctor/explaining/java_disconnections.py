"""Lines of Kafka's Java clients about connections that were there and ended, or answers that did not come.

One of them is nothing: brokers restart, and close what is idle for ten minutes. In a loop it is a port that speaks
another protocol, a gateway that gives up, or a firewall that forgets.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.readings import OTHER_PROTOCOL
from brokernat.doctor.explaining.symptom import DOCTOR, Family, Reading, Role, Symptom, Telling, says

_WHAT_ENDS = "look what ends connections: a broker that restarts, `proxy_timeout` of a gateway, a firewall's idle limit"

SYMPTOMS: Final = (
    Symptom(
        "java-produce-disconnected",
        Family.JAVA,
        "the leader went away before it acknowledged",
        ("Disconnected from node ",),
        r"Disconnected from node (?P<node>-?\d+)",
        says(
            "The connection to node {node} ended before it acknowledged; the write is repeated.",
            _WHAT_ENDS,
            "BN302",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "java-server-disconnected",
        Family.JAVA,
        "a broker went away before it answered",
        ("The server disconnected before a response was received", "Error: NETWORK_EXCEPTION"),
        r"(?:The server disconnected before a response was received|Error: NETWORK_EXCEPTION\b)"
        r"(?!.*Disconnected from node)",
        says(
            "A connection ended before the answer to a request came; the line does not say to which broker.",
            _WHAT_ENDS,
            "BN302",
        ),
        Telling.EFFECT,
        wordings="`Disconnected from node` says which one, from 2.5 on",
    ),
    Symptom(
        "java-fetch-disconnected",
        Family.JAVA,
        "a leader went away before it sent records",
        ("Error sending fetch request (",),
        r"Error sending fetch request \(sessionId=\w+, epoch=\w+\) to node (?P<node>\d+)",
        says(
            "The connection to node {node} ended while the consumer waited for records; it asks again.",
            _WHAT_ENDS,
            "BN302",
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "java-cancelled",
        Family.JAVA,
        "a connection ended while an answer was waited for",
        ("Cancelled in-flight ",),
        r"(?:Producer|Consumer|AdminClient|Worker) clientId=.*Cancelled in-flight (?P<request>\w+) "
        r"request with correlation id \d+ due to node (?P<node>-?\d+) being disconnected",
        {
            Role.BOOTSTRAP: Reading(
                "A bootstrap server ended the connection instead of answering {request}. With API_VERSIONS, the first "
                "question of all, again and again: a port of TLS or of another service, or a gateway with nothing "
                "behind it.",
                OTHER_PROTOCOL + "; look whether something listens behind the gateway",
                ("BN103", "BN401", "BN104"),
                DOCTOR,
            ),
            Role.UNNAMED: Reading(
                "The connection to node {node} ended before it answered {request}.", _WHAT_ENDS, ("BN302",), DOCTOR
            ),
        },
        Telling.EFFECT,
    ),
    Symptom(
        "java-request-timeout",
        Family.JAVA,
        "a node takes requests and does not answer",
        ("due to request timeout.",),
        r"Disconnecting from node (?P<node>-?\d+) due to request timeout\.",
        says(
            "Node {node} took the connection and did not answer in `request.timeout.ms`: another service, a gateway "
            "with nothing behind it, or a broker that is stuck.",
            "look what really listens there",
            "BN104",
            "BN302",
        ),
    ),
)
