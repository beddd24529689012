"""The second combination that is supported: PySpark 4.0.0 with its own connector, in an environment of its own."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.spark.drivers import VALUES, Driver, described

from brokernat.jvm import cache
from brokernat.paths import cache_dir
from brokernat.testbed import LoopbackWorld

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ROOT = Path(__file__).resolve().parents[3]
LOCK = ROOT / "requirements" / "spark40.lock"


@pytest.fixture(scope="module")
def python_with_spark_40() -> str:
    """The interpreter of an environment made from the lock, kept beside the other downloads."""
    home = cache_dir() / "environments" / hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    python, done = home / "bin" / "python", home / ".done"
    with cache.locked(home.with_suffix(".lock")):
        if not done.exists():
            uv = str(Path(sys.executable).with_name("uv"))
            subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(home)], check=True)
            subprocess.run(
                [uv, "pip", "sync", "--quiet", "--python", str(python), "--require-hashes", str(LOCK)], check=True
            )
            done.touch()
    return str(python)


@pytest.mark.parametrize("loader", [pytest.param("javaagent", marks=pytest.mark.soak), "reporter"])
def test_pyspark_40_with_its_own_connector(
    loader: str,
    python_with_spark_40: str,
    driver: Driver,
    loopback_world: LoopbackWorld,
    orders: str,
    written: Callable[[str], list[str]],
) -> None:
    found = driver.run(
        "whole_job",
        [described(loopback_world.hq.cluster)],
        loader=loader,
        topic=orders,
        python=python_with_spark_40,
        environ={"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
    )
    assert found["proof"]["ok"], found["proof"]
    assert found["versions"] == ["4.0.0", "3.9.0"]
    assert found["batch"] == VALUES
    assert written(f"{orders}-batch") == VALUES
    assert written(f"{orders}-stream") == VALUES
