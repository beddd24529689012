"""The evidence of one run: frozen and self-contained; as JSON it holds the same.

Reports use only evidence, so a saved file gives the same report on another machine. Host and port are kept as the
broker sent them, because they may not form a valid endpoint. No field holds a credential: about the login there are
only the mechanism and the broker's answer.
"""

from __future__ import annotations

from brokernat.doctor.evidence.endpoint import EndpointProbe, Tries
from brokernat.doctor.evidence.run import (
    VERSION,
    BrokerFile,
    BrokerPath,
    ComposeClient,
    Coordinator,
    Evidence,
    ExecutorSeen,
    JvmOutcome,
    Leaderless,
    ListenerSeen,
    NodeOutcome,
    NodeTried,
    TopicSeen,
    Way,
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
    "ComposeClient",
    "Connection",
    "Coordinator",
    "EndpointProbe",
    "Evidence",
    "ExecutorSeen",
    "Fault",
    "Identity",
    "JvmOutcome",
    "Leaderless",
    "ListenerSeen",
    "Login",
    "NameLookup",
    "NodeOutcome",
    "NodeTried",
    "Objection",
    "Presented",
    "SizeTest",
    "Stage",
    "TlsHandshake",
    "TopicSeen",
    "Transfer",
    "Tries",
    "Way",
    "from_json",
    "now",
    "to_json",
]
