"""Evidence as it would be on every machine: the addresses, ports and ids of one slot become those of another.

What is written down is replaced before it is judged, not the report afterwards: a report is folded, so a longer port
would move its line ends.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from tests.integration.doctor.scene import Scene

from brokernat.doctor.evidence import Evidence, from_json, to_json

_SLOT = re.compile(r"127\.([1-9]\d*)\.")
_TAKEN = datetime(2026, 11, 21, 12, tzinfo=UTC)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")
# Of a machine without a name server no name is known to be unknown.
_NAME_SERVER = re.compile(r'("outcome": )"(?:unknown|no-answer)"(,\s*"addresses": \[\],\s*"detail": )"[^"]*"')
_SECONDS = re.compile(r'("(?:median|largest)": )[\d.]+')
# OpenSSL's names of one alert differ with its version, and Python adds the line of its own source.
_ALERT = re.compile(r'("outcome": "(?:client-certificate|failed)",[^}]*?"detail": )"[^"]*"')
_FIRST_LOCAL_PORT, _FIRST_OTHER_PORT = 12001, 12101


def normal(evidence: Evidence, scene: Scene) -> Evidence:
    """The evidence, of slot 10 and with words of its own for what only this machine says."""
    text = to_json(evidence)
    others = (scene.http, scene.ssh, scene.silent)
    for number, endpoint in enumerate(others, _FIRST_OTHER_PORT):
        text = text.replace(str(endpoint), f"127.0.0.1:{number}")
    for cluster in scene.world.clusters.values():
        text = text.replace(cluster.cluster_id, f"{cluster.name}-cluster")
        for broker in cluster.plan.brokers:
            if cluster is not scene.local:
                # 9092, unless something of this machine has that port.
                text = re.sub(rf"(127\.\d+\.[125]\.\d+:|\"port\": ){broker.bound.port}\b", r"\g<1>9092", text)
            local = [each.bound.port for each in broker.more if each.bound.host == "127.0.0.1"]
            for number, port in enumerate(local, _FIRST_LOCAL_PORT):
                text = re.sub(rf"\b{port}\b", str(number), text)
    taken = datetime.fromisoformat(evidence.taken_at)
    text = _MOMENT.sub(lambda moment: _moved(moment[0], taken), text)
    text = _NAME_SERVER.sub(r'\1"unknown"\2"Name or service not known"', text)
    text = _SECONDS.sub(r"\g<1>0.0", text)
    text = _ALERT.sub(r'\1"an alert of TLS"', text)
    return from_json(_SLOT.sub("127.10.", text), "normal")


def _moved(moment: str, taken: datetime) -> str:
    """As many days from the one time as it was from the other; certificates are made when the brokers are."""
    days = round((datetime.fromisoformat(moment) - taken) / timedelta(days=1))
    return (_TAKEN + timedelta(days=days)).isoformat(timespec="seconds")
