"""What was seen, and nothing else: frozen, complete in itself, the same as JSON.

A report is made of evidence alone, so that a file that somebody sends in gives the same report elsewhere. Endpoints are
kept as text and numbers as they came off the wire: what a broker advertises may be no endpoint at all. No field can
hold a credential: of the login there is only the name of the mechanism and what the broker answered.
"""

from __future__ import annotations

from brokernat.doctor.evidence.endpoint import EndpointProbe
from brokernat.doctor.evidence.run import (
    VERSION,
    BrokerFile,
    BrokerPath,
    Coordinator,
    Evidence,
    ExecutorSeen,
    Leaderless,
    ListenerSeen,
    NodeTried,
    from_json,
    now,
    to_json,
)
from brokernat.doctor.evidence.stages import (
    Advertised,
    ApiVersions,
    Attempt,
    Client,
    ClusterMetadata,
    Connection,
    Fault,
    Identity,
    Login,
    NameLookup,
    Objection,
    Presented,
    SizeTest,
    Stage,
    TlsHandshake,
    Transfer,
    Tries,
)

__all__ = [
    "VERSION",
    "Advertised",
    "ApiVersions",
    "Attempt",
    "BrokerFile",
    "BrokerPath",
    "Client",
    "ClusterMetadata",
    "Connection",
    "Coordinator",
    "EndpointProbe",
    "Evidence",
    "ExecutorSeen",
    "Fault",
    "Identity",
    "Leaderless",
    "ListenerSeen",
    "Login",
    "NameLookup",
    "NodeTried",
    "Objection",
    "Presented",
    "SizeTest",
    "Stage",
    "TlsHandshake",
    "Transfer",
    "Tries",
    "from_json",
    "now",
    "to_json",
]
