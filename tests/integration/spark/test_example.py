"""The example of an existing job, run as it stands there; only addresses and topics are those of the loopback world."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.spark.standalone import SMALL, defaults_in

from brokernat.testbed import LoopbackWorld, Record

pytestmark = [pytest.mark.integration, pytest.mark.spark]

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "existing-spark-job"


def with_python() -> str:
    return "python job.py"


def with_spark_submit() -> str:
    """The command of the example's README, word for word."""
    (command,) = re.findall(
        r"^\$ (spark-submit .*?job\.py)$", (EXAMPLE / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    return str(command)


@pytest.mark.parametrize("command", [pytest.param(with_python, marks=pytest.mark.soak), with_spark_submit])
def test_the_existing_job_reads_headquarters_and_writes_locally(
    command: Callable[[], str], loopback_world: LoopbackWorld, topic_name: str, tmp_path: Path
) -> None:
    hq, local = loopback_world.hq, loopback_world.local
    text = (EXAMPLE / "brokernat.yaml").read_text()
    text = text.replace("localhost:19092", str(local.cluster.bootstrap_servers[0]))
    for node, number in zip(hq.nodes, (23, 24, 25), strict=True):
        text = text.replace(f"192.168.1.{number}:9092", str(hq.advertised[node]))
        text = text.replace(f"172.10.1.40:{9070 + number}", str(hq.reachable[node]))
    assert "192.168" not in text
    assert "172.10" not in text
    (tmp_path / "brokernat.yaml").write_text(text)
    job = (EXAMPLE / "job.py").read_text().replace('"orders"', f'"{topic_name}"').replace('"large"', f'"{topic_name}"')
    (tmp_path / "job.py").write_text(job)
    hq.create_topic(topic_name)
    local.create_topic(topic_name, partitions=1)
    amounts = [number * 100 for number in range(20)]
    hq.write(topic_name, [Record(value=json.dumps({"amount": amount}).encode()) for amount in amounts])

    done = subprocess.run(
        ["bash", "-c", command()],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            **defaults_in(tmp_path / "conf", {**SMALL, "spark.master": "local[2]"}),
        },
        capture_output=True,
        text=True,
        timeout=420,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    written = [json.loads(record.value or b"")["amount"] for record in local.read(topic_name)]
    assert sorted(written) == [amount for amount in amounts if amount > 1000]
