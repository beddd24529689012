"""What arrived in a topic, by the sequence header: the judge of every test here."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brokernat.shipping import SEQUENCE_HEADER
from brokernat.testbed import RunningCluster


@dataclass(frozen=True)
class Arrived:
    """Records by source and sequence number; copies are counted apart."""

    records: Mapping[str, Mapping[int, dict[str, Any]]]
    duplicates: int

    def gaps(self) -> dict[str, list[int]]:
        """Numbers that are missing, from 1 to the highest of each source."""
        missing = {source: sorted(set(range(1, max(found) + 1)) - set(found)) for source, found in self.records.items()}
        return {source: numbers for source, numbers in missing.items() if numbers}

    @property
    def messages(self) -> Counter[str]:
        """Each message, copies counted once."""
        return Counter(record["message"] for found in self.records.values() for record in found.values())


def arrived(cluster: RunningCluster, topic: str) -> Arrived:
    """Everything in the topic now; copies of one number must be the same record."""
    found: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    duplicates = 0
    for record in cluster.read(topic):
        source, _, number = (record.header(SEQUENCE_HEADER) or b"").decode().partition("/")
        content = json.loads(record.value or b"")
        assert (content["source"], content["sequence"]) == (source, int(number))
        duplicates += int(number) in found[source]
        assert found[source].setdefault(int(number), content) == content
    return Arrived(found, duplicates)
