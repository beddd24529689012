"""`examples/tags-through-nat` as it stands there, on the addresses that it names."""

import re
import shutil
from pathlib import Path

import pytest
from tests.netns.spark.pipeline_file import PipelineFile
from tests.netns.spark.spark_place import SparkPlace

from brokernat.testbed import NetnsWorld, Record

pytestmark = pytest.mark.netns

EXAMPLE = Path(__file__).parents[3] / "examples" / "tags-through-nat"
README = (EXAMPLE / "README.md").read_text()


def test_check_and_run_do_what_the_example_says(
    world: NetnsWorld, spark: SparkPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = world.hq.plan.options
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    (folder / "secrets").mkdir()
    (folder / "secrets" / "hq-password").write_text(options.password)
    monkeypatch.setenv("HQ_USER", options.username)
    file = PipelineFile(folder / "brokernat.yaml")
    outcomes = dict(re.findall(r"^\| `(\{.*?\})` \| (tag|dead letter) \|", README, re.MULTILINE))
    world.hq.create_topic("orders")
    world.hq.write("orders", [Record(order.encode()) for order in outcomes])

    for topic in ("tags", "tags.dead"):
        world.local.create_topic(topic)
    check = spark.run(file.words("check", "tags"))
    assert check.process.returncode == 0, check.tail()

    run = spark.run(file.words("run", "tags", "--once"))
    assert run.process.returncode == 0, run.tail()
    said = run.log.read_text()
    for line in re.findall(r"^(?:proved|batch 0): .*$", README, re.MULTILINE):
        assert line in said, said[-4000:]
    assert len(world.local.read("tags")) == list(outcomes.values()).count("tag")
    dead = {record.value for record in world.local.read("tags.dead")}
    assert dead == {order.encode() for order, outcome in outcomes.items() if outcome == "dead letter"}
