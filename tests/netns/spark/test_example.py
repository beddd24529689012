"""`examples/tags` as it stands there, on headquarters' addresses as it names them."""

import re
import shutil
from pathlib import Path

import pytest
from tests.netns.spark.pipeline_file import PipelineFile
from tests.netns.spark.spark_place import SparkPlace

from brokernat.testbed import NetnsWorld, Record

pytestmark = pytest.mark.netns

EXAMPLE = Path(__file__).parents[3] / "examples" / "tags"
README = (EXAMPLE / "README.md").read_text()


def test_each_order_becomes_what_the_example_says(
    world: NetnsWorld, spark: SparkPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = world.hq.plan.options
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    file = folder / "brokernat.yaml"
    file.write_text(file.read_text().replace("localhost:19092", str(world.local.cluster.bootstrap_servers[0])))
    (folder / "secrets").mkdir()
    (folder / "secrets" / "hq-password").write_text(options.password)
    monkeypatch.setenv("HQ_USER", options.username)
    outcomes = dict(re.findall(r"^\| `([^`]+)` \| (tag|dead letter|filtered)\b", README, re.MULTILINE))
    world.hq.create_topic("orders", partitions=1)
    world.hq.write("orders", [Record(order.encode()) for order in outcomes])
    for topic in ("tags", "tags.dead"):
        world.local.create_topic(topic)

    run = spark.run(PipelineFile(file).words("run", "tags", "--once", "--master", "local[2]"))

    assert run.process.returncode == 0, run.tail()
    said = run.log.read_text()
    # How fast it was is not promised.
    for line in re.findall(r"^((?:proved|batch 0): [^;\n]*)", README, re.MULTILINE):
        assert line in said, said[-4000:]
    tags, dead = world.local.read("tags"), world.local.read("tags.dead")
    assert len(tags) == list(outcomes.values()).count("tag")
    assert {record.value for record in dead} == {
        order.encode() for order, outcome in outcomes.items() if outcome == "dead letter"
    }
    for kind in re.findall(r"dead letter, `(\w+)`", README):
        assert any(
            record.header("__connect.errors.exception.class.name") == b"brokernat." + kind.encode() for record in dead
        )
    (shown,) = re.findall(r"^key     (\S+)\nvalue   (\S+)$", README, re.MULTILINE)
    assert shown in [((tag.key or b"").decode(), (tag.value or b"").decode()) for tag in tags]
    assert f"{world.hq.cluster_id}/orders/0/0".encode() in {tag.header("brokernat-src") for tag in tags}
