"""A cluster whose cores another application holds: the check says so in its time, and passes once they are free."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.integration.pipelines.conftest import Workplace
from tests.integration.spark.standalone import SMALL, StandaloneCluster

pytestmark = [pytest.mark.integration, pytest.mark.spark]

HOLDER = """
import json, sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.master(sys.argv[1]).config(map=json.loads(sys.argv[2])).getOrCreate()
spark.sparkContext.parallelize([1], 1).count()
print("holds", flush=True)
sys.stdin.read()
spark.stop()
"""
HERE = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


@contextmanager
def all_cores_held(standalone: StandaloneCluster, folder: Path) -> Iterator[None]:
    """Another application has the cluster until the end of the block."""
    command = [sys.executable, "-c", HOLDER, standalone.url, json.dumps({**SMALL, **HERE})]
    with (
        (folder / "holder.log").open("w") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log) as holder,
    ):
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"holds\n", (folder / "holder.log").read_text()
        yield


def test_the_check_says_that_nobody_came_and_passes_when_the_cores_are_free(
    workplace: Workplace, standalone: StandaloneCluster
) -> None:
    settings = (word for item in HERE.items() for word in ("--conf", "=".join(item)))
    command = ("check", "--master", standalone.url, *settings)
    with all_cores_held(standalone, workplace.folder):
        ended = workplace.run(*command, "--proof-timeout", "5", code=5)
    assert "error: not proved: no executor registered in time, 1 expected" in ended.stderr
    assert "free cores and memory" in ended.stderr
    assert "an executor that was expected did not register in time [BN615]" in ended.stderr
    assert "not checked: an executor has not answered" in ended.stdout

    healed = workplace.run(*command, "--proof-timeout", "180")
    assert "not proved" not in healed.stderr
    assert {line.split()[0] for line in healed.stdout.splitlines() if " proved" in line} == {"driver", "0"}
