"""Ctrl-C in the middle of a batch: the first lets it finish, the second does not; both say what they do."""

from __future__ import annotations

import signal

import pytest
from tests.integration.pipelines.conftest import TIMEOUT, Workplace, order

pytestmark = [pytest.mark.integration, pytest.mark.spark]

# A batch that is in the middle of its work for as long as there is no gate.
SLOW = """
import time
from pathlib import Path

from pyspark.sql import functions as F
from pyspark.sql.types import StringType


def tag(records):
    gate, waiting = (Path(__file__).with_name(name) for name in ("gate", "waiting"))

    def wait(order_id):
        waiting.touch()
        while not gate.exists():
            time.sleep(0.05)
        return order_id

    return records.withColumn("order_id", F.udf(wait, StringType())("order_id"))
"""


def test_ctrl_c_finishes_the_batch_and_twice_does_not(workplace: Workplace) -> None:
    (workplace.folder / "slow_tags.py").write_text(SLOW)
    workplace.pipeline |= {"transform": "slow_tags:tag"}
    gate, waiting = workplace.folder / "gate", workplace.folder / "waiting"

    workplace.write([order(number) for number in range(10)])
    with workplace.running() as run:
        run.until(waiting.exists, "the middle of a batch")
        # As a terminal does: to Python, Spark's JVM and its Python workers.
        run.signal_group(signal.SIGINT)
        run.until(lambda: "finishing the batch" in run.log.read_text(), "the promise")
        gate.touch()
        assert run.process.wait(TIMEOUT) == 130, run.log.read_text()
    assert workplace.offsets() == (0, 0)
    assert len(workplace.read_tags()) == 10

    gate.unlink()
    waiting.unlink()
    workplace.write([order(number) for number in range(10, 20)])
    with workplace.running() as run:
        run.until(waiting.exists, "the middle of a batch")
        run.signal_group(signal.SIGINT)
        run.until(lambda: run.log.read_text().count("finishing the batch") == 2, "the promise")
        run.signal_group(signal.SIGINT)
        assert run.process.wait(TIMEOUT) == 130, run.log.read_text()
        gate.touch()
    assert "stopped at once: the batch is not committed" in run.log.read_text()
    assert "Traceback" not in run.log.read_text()
    assert workplace.offsets() == (1, 0)
    assert len(workplace.read_tags()) == 10


def test_ctrl_c_while_the_brokers_of_the_source_are_away(workplace: Workplace) -> None:
    """No batch runs, so nothing has to be finished."""
    workplace.write([order(0)])
    with workplace.running() as run:
        run.until(lambda: workplace.read_tags(), "the first batch")
        workplace.world.gateway.stop()
        try:
            (log,) = workplace.checkpoint.rglob("spark.log")
            run.until(lambda: "could not be established" in log.read_text(), "the loss of the brokers")
            run.signal_group(signal.SIGINT)
            assert run.process.wait(TIMEOUT) == 130, run.log.read_text()
        finally:
            workplace.world.gateway.start()
        assert "Rebootstrapping" not in log.read_text()
    assert "the query failed" not in run.log.read_text()
    assert len(workplace.read_tags()) == 1
