"""`brokernat pipeline reconcile` on a topic of real brokers behind dead addresses."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.integration.pipelines.conftest import cluster_section
from tests.integration.spark.standalone import defaults_in
from tests.support.warm_cli import WarmCli

from brokernat.testbed import LoopbackWorld, Record

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def shipped(source: str, *numbers: int) -> list[Record]:
    return [Record(b"line", headers=(("brokernat-seq", f"{source}/{number}".encode()),)) for number in numbers]


def reconcile(
    cli: WarmCli, world: LoopbackWorld, folder: Path, topic: str, *more: str
) -> subprocess.CompletedProcess[str]:
    file = folder / "brokernat.yaml"
    file.write_text(json.dumps({"clusters": {"hq": cluster_section(world.hq.cluster)}}))
    words = ["pipeline", "reconcile", "--cluster", "hq", "--topic", topic, "--config", str(file)]
    environ = {**os.environ, "XDG_STATE_HOME": str(folder), **defaults_in(folder / "conf")}
    return cli.run([*words, "--master", "local[2]", *more], environ)


def test_gaps_duplicates_and_strangers_are_told_by_source(
    loopback_world: LoopbackWorld, tmp_path: Path, topic_name: str, warm_cli: WarmCli
) -> None:
    loopback_world.hq.create_topic(topic_name)
    whole = shipped("web-1", *range(1, 41))
    torn = shipped("web-2", 2, 3, 4, 7, 7, 9)
    strangers = [Record(b"no header"), Record(b"a broken one", headers=(("brokernat-seq", b"web-1"),))]
    loopback_world.hq.write(topic_name, [*whole, *torn, *strangers])

    done = reconcile(warm_cli, loopback_world, tmp_path, topic_name, "--format", "json", "--reached", "web-2/10")

    assert done.returncode == 6, done.stderr
    found = json.loads(done.stdout)
    assert found == {
        "version": 1, "cluster": "hq", "topic": topic_name, "missing": 5, "without_header": 1, "unreadable": 1,
        "sources": [
            {
                "source": "web-1", "first": 1, "last": 40, "records": 40,
                "duplicates": 0, "missing": 0, "missing_ranges": [],
            },
            {
                "source": "web-2", "first": 2, "last": 9, "records": 6,
                "duplicates": 1, "missing": 5, "missing_ranges": [[1, 1], [5, 6], [8, 8], [10, 10]],
            },
        ],
    }  # fmt: skip
    assert "error: 5 records are missing" in done.stderr
    assert "--from-first" in done.stderr
