"""The doctor asks executors: one worker's JVMs let no agent in, the other's do and reach every node."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.spark.standalone import SHORT_LIVED, standalone_cluster

from brokernat.doctor.evidence import from_json
from brokernat.testbed import LoopbackWorld
from brokernat.testbed.running_cluster import config_text

pytestmark = [pytest.mark.integration, pytest.mark.spark]

SETTINGS = {
    **SHORT_LIVED,
    "spark.executor.instances": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
}


def test_the_executor_without_the_map_is_named_beside_what_the_driver_sees(
    loopback_world: LoopbackWorld, tmp_path: Path
) -> None:
    (tmp_path / "brokernat.yaml").write_text(config_text(loopback_world.clusters.values()))
    doctor = [sys.executable, "-m", "brokernat", "doctor"]
    conf = [word for name, value in SETTINGS.items() for word in ("--conf", f"{name}={value}")]
    with standalone_cluster(tmp_path / "standalone", workers=1) as standalone:
        closed = {**standalone.environ, "JAVA_TOOL_OPTIONS": "-XX:+DisableAttachMechanism"}
        replace(standalone, environ=closed).add_worker("worker-2")
        spark = ["--on-executors", "--master", standalone.url, "--proof-timeout", "180", *conf]
        asked = subprocess.run(
            [*doctor, "--cluster", "hq", *spark, "--timeout", "60", "--save", "seen.json", "--format", "json"],
            cwd=tmp_path, env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}, capture_output=True, text=True,
            timeout=400, check=False,
        )  # fmt: skip
    assert asked.returncode == 5, asked.stderr
    answer = json.loads(asked.stdout)
    seen = {one["executor"]: one for one in answer["executors"]}
    assert {name: one["outcome"] for name, one in seen.items()} in (
        {"driver": "answered", "0": "answered", "1": "no-agent"},
        {"driver": "answered", "0": "no-agent", "1": "answered"},
    )
    (bad,) = (one for one in seen.values() if one["outcome"] == "no-agent")
    assert answer["root_cause"]["code"] == "BN614"
    (finding,) = (one for one in answer["findings"] if one["severity"] == "error")
    assert (finding["code"], finding["subject"]) == ("BN614", f"executor {bad['executor']} on {bad['host']}")
    assert "cannot be loaded into this running JVM" in finding["evidence"][0]
    for one in seen.values():
        if one is not bad:
            assert [(node["node_id"], node["outcome"]) for node in one["nodes"]] == [(n, "proved") for n in (1, 2, 3)]
            assert one["fingerprint"] == seen["driver"]["fingerprint"]

    saved = (tmp_path / "seen.json").read_text()
    assert len(from_json(saved, "seen.json").executors) == 3
    again = subprocess.run(
        [*doctor, "--from", "seen.json"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert again.returncode == 5
    assert f"executor {bad['executor']} on {bad['host']}: no agent" in again.stdout
