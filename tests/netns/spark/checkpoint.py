"""What Spark's checkpoint says: which batches were begun, which were committed, and which records each holds.

A batch is begun when `offsets/N` is there and committed when `commits/N` is; between the two its records are written. A
restart runs the last batch without a commit again with the same offsets, so duplicates can come from it and from no
other.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Checkpoint:
    """The folder of one query with one source."""

    folder: Path

    def begun(self) -> frozenset[int]:
        return self._batches("offsets")

    def committed(self) -> frozenset[int]:
        return self._batches("commits")

    def open_batches(self) -> frozenset[int]:
        """Begun and not committed: one at most."""
        # In this order: a batch that ends in between must not look open.
        begun = self.begun()
        return begun - self.committed()

    def coordinates(self, batch: int, cluster_id: str) -> frozenset[str]:
        """The records of a batch as `brokernat-src` names them."""
        start = self.ends(batch - 1) if batch > 0 else {}
        return frozenset(
            f"{cluster_id}/{topic}/{partition}/{offset}"
            for topic, ends in self.ends(batch).items()
            for partition, end in ends.items()
            for offset in range(start.get(topic, {}).get(partition, 0), end)
        )

    def ends(self, batch: int) -> Mapping[str, Mapping[int, int]]:
        """Where a batch ended, by topic and partition."""
        # Version, metadata, then one line for each source.
        line = (self.folder / "offsets" / str(batch)).read_text().splitlines()[2]
        return {topic: {int(n): end for n, end in ends.items()} for topic, ends in json.loads(line).items()}

    def _batches(self, kind: str) -> frozenset[int]:
        # A folder that is not there yet has nothing in it.
        return frozenset(int(file.name) for file in self.folder.glob(f"{kind}/*") if file.name.isdigit())
