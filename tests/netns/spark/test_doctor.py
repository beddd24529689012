"""`brokernat doctor --on-executors` where one worker lacks a way that the driver has, and where it has it again."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.netns.spark.pipeline_file import cluster_section, write_file
from tests.netns.spark.spark_place import SparkPlace, refused_to_second_worker

from brokernat.testbed import NetnsWorld

pytestmark = [pytest.mark.netns, pytest.mark.soak]

FINDINGS = 5


def test_the_executor_that_lacks_a_way_is_named_until_it_has_it(
    world: NetnsWorld, spark: SparkPlace, tmp_path: Path
) -> None:
    file = write_file(tmp_path, {"hq": cluster_section(world.hq.cluster)}, {})
    with refused_to_second_worker(world, str(world.hq.reachable[2])):
        barred = doctor(spark, file, FINDINGS)
    assert barred["root_cause"]["code"] == "BN613"
    (finding,) = (each for each in barred["findings"] if each["severity"] == "error")
    assert (finding["code"], finding["message"]) == ("BN613", "does not reach node 2, which the driver reaches")
    bad = {
        each["executor"]: [node["node_id"] for node in each["nodes"] if node["outcome"] == "unreachable"]
        for each in barred["executors"]
    }
    (executor,) = (name for name, nodes in bad.items() if nodes)
    assert finding["subject"].startswith(f"executor {executor} on ")
    assert bad[executor] == [2]

    healed = doctor(spark, file, 0)
    assert not any(each["severity"] != "info" for each in healed["findings"])
    assert {each["outcome"] for each in healed["executors"]} == {"answered"}


def doctor(spark: SparkPlace, file: Path, code: int) -> dict[str, Any]:
    """Its report of two executors, one on each worker."""
    words = ["-m", "brokernat", "doctor", "--config", str(file), "--on-executors", "--format", "json"]
    patient = ["--timeout", "60", "--proof-timeout", "180"]
    job = spark.run([*words, *patient], settings={"spark.executor.instances": "2"})
    assert job.process.returncode == code, job.tail()
    told: dict[str, Any] = json.loads(job.output.read_text())
    return told
