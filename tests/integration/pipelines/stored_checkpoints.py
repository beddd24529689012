"""Checkpoints that older versions have left, in `checkpoints/`.

This module adds one of the version in use, from a run on real brokers:
`.venv/bin/python -m tests.integration.pipelines.stored_checkpoints`.

What differs in each world stands there as a word of its own: the folder, the cluster's id, the topic's name. The
topic's id is left out, as in a note of brokers that have none.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pyspark
from tests.integration.pipelines.conftest import Workplace, order
from tests.support.warm_cli import WarmCli

from brokernat import __version__
from brokernat.testbed import LoopbackWorld

STORED = Path(__file__).with_name("checkpoints")
CLUSTER, TOPIC, FOLDER = "STORED-CLUSTER", "STORED-TOPIC", "STORED-FOLDER"
ORDERS, BROKEN = 9, 1
"""The records that were read."""


def store() -> Path:
    """Runs a pipeline and keeps its checkpoint; returns the folder."""
    target = STORED / f"{__version__}-spark-{pyspark.__version__}"
    with tempfile.TemporaryDirectory() as folder, LoopbackWorld() as world, WarmCli() as warm_cli:
        place = Workplace(world, Path(folder), "orders", warm_cli)
        place.create_topics()
        place.pipeline["source"]["max_offsets_per_trigger"] = 5
        place.write([*(order(number) for number in range(ORDERS)), *[b"{"] * BROKEN])
        place.drain()
        copy(place.checkpoint, target, {folder: FOLDER, world.hq.cluster_id: CLUSTER, place.topic: TOPIC})
    return target


def restore(stored: Path, place: Workplace) -> None:
    """Puts a stored checkpoint where a run of this world goes on from it."""
    words = {FOLDER: str(place.folder), CLUSTER: place.world.hq.cluster_id, TOPIC: place.topic}
    copy(stored, place.checkpoint, words)


def copy(source: Path, target: Path, words: Mapping[str, str]) -> None:
    """Copies a checkpoint with other words, without logs and Hadoop's checksums."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.crc", "*.log*", "log4j2.properties", "lock"))
    for file in (path for path in target.rglob("*") if path.is_file()):
        content = file.read_bytes()
        for word, other in words.items():
            content = content.replace(word.encode(), other.encode())
        file.write_bytes(content)
    owner = target / "_brokernat" / "owner.json"
    owner.write_text(json.dumps(json.loads(owner.read_text()) | {"topic_ids": {}}))


if __name__ == "__main__":
    print(store())  # noqa: T201
