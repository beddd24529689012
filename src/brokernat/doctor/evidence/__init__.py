"""What was seen, and nothing else: frozen, complete in itself, the same as JSON.

A report is made of evidence alone, so that a file that somebody sends in gives the same report elsewhere. Endpoints are
kept as text and numbers as they came off the wire: what a broker advertises may be no endpoint at all. No field can
hold a credential: of the login there is only the name of the mechanism and what the broker answered.
"""

from __future__ import annotations

from brokernat.doctor.evidence.cluster import Coordinator, Leaderless, ListenerSeen, Path
from brokernat.doctor.evidence.executors import ExecutorSeen, NodeTried
from brokernat.doctor.evidence.look import (
    Advertised,
    Attempt,
    Client,
    Identity,
    Look,
    Objection,
    Presented,
    SaslSeen,
    TlsSeen,
)
from brokernat.doctor.evidence.saved import from_json, to_json
from brokernat.doctor.evidence.whole import VERSION, BrokerFile, Evidence

__all__ = [
    "VERSION",
    "Advertised",
    "Attempt",
    "BrokerFile",
    "Client",
    "Coordinator",
    "Evidence",
    "ExecutorSeen",
    "Identity",
    "Leaderless",
    "ListenerSeen",
    "Look",
    "NodeTried",
    "Objection",
    "Path",
    "Presented",
    "SaslSeen",
    "TlsSeen",
    "from_json",
    "to_json",
]
