"""What commands that start Spark print and how they end where Spark cannot start."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import PIPELINE

from brokernat.clients.spark import environment

RECONCILE = ("pipeline", "reconcile", "--cluster", "local", "--topic", "audit")


@pytest.mark.parametrize("command", [RECONCILE, ("pipeline", "run", "tags"), ("pipeline", "check", "tags")])
@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        (None, "error: PySpark is not installed\n\nhint: pip install 'brokernat[spark]'\n"),
        ("3.4.0", "error: PySpark 3.4.0 is not supported: brokernat works with PySpark 3.5 to 4.x\n"),
    ],
)
def test_a_spark_that_cannot_do_it_is_refused_before_anything_is_started(
    run: Callable[..., str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    installed: str | None,
    expected: str,
) -> None:
    with (folder / "brokernat.yaml").open("a") as file:
        file.write(PIPELINE)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    if installed is None:
        monkeypatch.setitem(sys.modules, "pyspark.version", None)
    else:
        monkeypatch.setattr("pyspark.version.__version__", installed)
        monkeypatch.setattr(environment, "spark_home", lambda: folder)
    printed = run(*command)
    assert printed.startswith("exit 2\n")
    assert expected in printed
    assert "starting Spark" not in printed


@pytest.mark.parametrize(
    "command", [RECONCILE, ("pipeline", "run", "tags"), ("doctor", "--cluster", "local", "--on-executors")]
)
def test_spark_connect_is_refused_in_words_where_the_environment_asks_for_it(
    run: Callable[..., str], folder: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    with (folder / "brokernat.yaml").open("a") as file:
        file.write(PIPELINE)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1")
    printed = run(*command)
    assert printed.startswith("exit 2\n")
    assert "error: Spark Connect (SPARK_REMOTE): the agent must run in the server's JVMs" in printed


@pytest.mark.parametrize("command", ["run", "check"])
def test_realtime_needs_a_newer_spark_than_micro_batches(
    run: Callable[..., str], folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    with (folder / "brokernat.yaml").open("a") as file:
        file.write(f"{PIPELINE}    mode: realtime\n")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.setattr("pyspark.version.__version__", "4.0.0")
    monkeypatch.setattr(environment, "spark_home", lambda: folder)
    printed = run("pipeline", command, "tags")
    assert printed.startswith("exit 2\n")
    assert "error: `mode: realtime` needs PySpark 4.1 or newer, and PySpark 4.0.0 is installed" in printed
    assert "hint: pip install 'pyspark>=4.1', or set `mode: micro-batch`" in printed
    assert "starting Spark" not in printed


def test_a_realtime_pipeline_does_not_run_once(run: Callable[..., str], folder: Path) -> None:
    with (folder / "brokernat.yaml").open("a") as file:
        file.write(f"{PIPELINE}    mode: realtime\n")
    printed = run("pipeline", "run", "tags", "--once")
    assert printed.startswith("exit 2\n")
    assert "pipeline `tags` has `mode: realtime`, which reads until it is stopped" in printed


def test_a_jvm_that_ends_at_its_start_is_no_bug_of_ours(folder: Path) -> None:
    settings = ("spark.jars=/spark-sql-kafka-0-10_2.13.jar", "spark.driver.extraJavaOptions=-agentlib:no-such")
    options = [word for setting in settings for word in ("--conf", setting)]
    done = subprocess.run(
        [sys.executable, "-m", "brokernat", *RECONCILE, *options],
        env={**os.environ, "XDG_STATE_HOME": str(folder)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "error: Spark's JVM exited at its start: Error occurred during initialization of VM\n" in done.stderr
    assert "launch.log; JAVA_HOME is" in done.stderr
    assert done.stdout == ""
