"""A source that changes under a pipeline: partitions are added, transactions are aborted, the topic is made again."""

from __future__ import annotations

import json
import signal

import pytest
from tests.integration.pipelines.conftest import TIMEOUT, Workplace, order
from tests.support.cluster_admin import delete_topics

from brokernat.testbed import RunningCluster
from brokernat.testbed.place import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.soak]


def add_partitions(cluster: RunningCluster, topic: str, total: int) -> None:
    from confluent_kafka.admin import AdminClient, NewPartitions  # type: ignore[attr-defined]

    admin = AdminClient({"bootstrap.servers": ",".join(map(str, cluster.direct.bootstrap_servers))})
    admin.create_partitions([NewPartitions(topic, total)])[topic].result(60)
    wait_until(lambda: len(cluster.leaders(topic)) == total, "the new partitions", timeout=60)


def delete_records(cluster: RunningCluster, topic: str, before: int) -> None:
    """Of partition 0, as retention does it."""
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": ",".join(map(str, cluster.direct.bootstrap_servers))})
    (deleted,) = admin.delete_records([TopicPartition(topic, 0, before)]).values()
    deleted.result(60)


def tagged(workplace: Workplace) -> set[str]:
    """The orders that have become tags."""
    return {json.loads(record.value or b"")["order_id"] for record in workplace.read_tags()}


def test_new_partitions_and_batches_of_nothing_but_markers_are_read_without_a_restart(workplace: Workplace) -> None:
    workplace.write([order(number) for number in range(9)])
    with workplace.running() as run:
        run.until(lambda: len(workplace.read_tags()) >= 9, "the first tags")
        add_partitions(workplace.world.hq, workplace.topic, 5)
        workplace.write([order(9)], partition=4)
        run.until(lambda: len(workplace.read_tags()) >= 10, "a tag from a new partition")
        _, committed = workplace.offsets()
        workplace.write_in_transactions([order(99)], commit=False)
        run.until(lambda: workplace.offsets()[1] > committed, "the batch of what was taken back")
        workplace.write([order(10)])
        # By its name: what was taken back would be the eleventh tag as well.
        run.until(lambda: "o10" in tagged(workplace), "a tag behind it")
        run.signal_group(signal.SIGTERM)
        assert run.process.wait(TIMEOUT) == 143, run.log.read_text()
    assert tagged(workplace) == {f"o{number}" for number in range(11)}
    found = json.loads(workplace.run("reconcile", "--format", "json").stdout)["partitions"]
    assert sum(partition["records"] for partition in found) == len(workplace.read_tags()) == 11
    assert sum(partition["missing"] for partition in found) == 0


def test_a_topic_that_was_made_again_is_not_read_from_where_the_old_one_ended(workplace: Workplace) -> None:
    workplace.write([order(number) for number in range(9)])
    workplace.drain()
    delete_topics(workplace.world.hq, workplace.topic)
    workplace.world.hq.create_topic(workplace.topic)
    # More than before: by their offsets alone nobody can tell.
    workplace.write([order(number) for number in range(30)])
    for command in (("run", "--once"), ("check",)):
        ended = workplace.run(*command, code=2)
        assert f"{workplace.topic} was deleted and recreated" in ended.stdout + ended.stderr
    assert len(workplace.read_tags()) == 9


def test_a_topic_that_is_removed_under_a_run_ends_it_and_the_check_names_it(workplace: Workplace) -> None:
    workplace.write([order(number) for number in range(9)])
    with workplace.running() as run:
        run.until(lambda: len(workplace.read_tags()) >= 9, "the first tags")
        delete_topics(workplace.world.hq, workplace.topic)
        code = run.process.wait(TIMEOUT)
    said = run.log.read_text()
    assert code == 6, said
    assert "a topic does not exist any more" in said
    assert "no record is lost" not in said
    assert f"there is no topic `{workplace.topic}` in `hq`" in workplace.run("check", code=5).stdout


def test_records_that_retention_took_before_they_were_read_are_not_passed_over(workplace: Workplace) -> None:
    workplace.write([order(number) for number in range(9)], partition=0)
    workplace.drain()
    workplace.write([order(number) for number in range(9, 20)], partition=0)
    delete_records(workplace.world.hq, workplace.topic, before=15)
    ended = workplace.run("run", "--once", code=6)
    assert "the source has removed the records" in ended.stderr
    assert "no record is lost" not in ended.stderr
    assert len(workplace.read_tags()) == 9
