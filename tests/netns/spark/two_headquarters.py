"""Two clusters with the same advertised addresses, topic, partitions and offsets, read by one application at once."""

import uuid
from collections import Counter
from pathlib import Path

from tests.netns.spark.pipeline_file import cluster_section, write_file
from tests.netns.spark.spark_place import SparkPlace

from brokernat.testbed import Record, RunningCluster

JOB = Path(__file__).parent / "jobs" / "two_headquarters.py"
PARTITIONS = 3
RECORDS = 1_000
"""Of each partition on each side."""


def assert_no_record_crosses_over(
    first: RunningCluster, second: RunningCluster, local: RunningCluster, spark: SparkPlace, folder: Path
) -> None:
    """Every record comes once, and the side that the job read it from is the side that it was written to."""
    assert first.advertised == second.advertised
    run = uuid.uuid4().hex[:8]
    topic, sink = f"same-{run}", f"merged-{run}"
    for side in (first, second):
        side.create_topic(topic, partitions=PARTITIONS)
        numbers = [(partition, number) for partition in range(PARTITIONS) for number in range(RECORDS)]
        side.write(topic, [_record(side, topic, *place) for place in numbers])
    local.create_topic(sink)
    clusters = {cluster.name: cluster_section(cluster.cluster) for cluster in (first, second, local)}
    file = write_file(folder, clusters, {})

    job = spark.run([str(JOB), str(file), topic, sink, str(folder / "checkpoint")])

    assert job.process.returncode == 0, job.tail()
    merged = local.read(sink)
    places = [(record.value, record.header("read-from")) for record in merged]
    crossed = [place for place in places if place[0] != place[1]]
    assert not crossed, f"{len(crossed)} records crossed over: {crossed[:3]}"
    assert len(merged) == len(set(places)) == 2 * PARTITIONS * RECORDS
    assert Counter((value or b"").split(b"/")[0] for value, _ in places) == {
        side.name.encode(): PARTITIONS * RECORDS for side in (first, second)
    }


def _record(side: RunningCluster, topic: str, partition: int, number: int) -> Record:
    place = f"{side.name}/{topic}/{partition}/{number}"
    return Record(place.encode(), partition=partition)
