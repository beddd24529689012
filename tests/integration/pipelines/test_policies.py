"""Rows of docs/reference/policies.md that no other file shows; `tests/unit/pipelines/test_policies.py` has them all."""

from __future__ import annotations

import os
import signal

import pytest
from tests.integration.pipelines.conftest import TIMEOUT, Workplace, order

from brokernat.testbed.place import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.spark]

IMPATIENT = {
    "delivery.timeout.ms": "10000",
    "request.timeout.ms": "5000",
    "max.block.ms": "10000",
    "linger.ms": "0",
}


def test_too_many_dead_letters_and_an_old_reference_stop_the_run(workplace: Workplace) -> None:
    workplace.pipeline["sink"]["dead_letter_limit"] = "10% of 20"
    workplace.write([*(order(number) for number in range(30)), *[b"{"] * 10])
    ended = workplace.run("run", "--once", code=2)
    assert "10 of the last 40 records became dead letters (MalformedValue 10)" in ended.stderr
    assert "run `brokernat pipeline replay tags`" in ended.stderr
    # They are committed, so that a next start repeats nothing.
    assert workplace.offsets() == (0, 0)
    assert (len(workplace.read_tags()), len(workplace.read_dead())) == (30, 10)

    workplace.pipeline["references"]["customers"]["max_age"] = "1 hour"
    os.utime(workplace.folder / "customers.csv", (1_700_000_000, 1_700_000_000))
    workplace.write([order(30)])
    ended = workplace.run("run", "--once", code=2)
    assert "max_age is 1 hour" in ended.stderr
    assert len(workplace.read_tags()) == 30


@pytest.mark.soak
def test_a_sink_that_is_away_is_tried_again_in_the_same_run(workplace: Workplace) -> None:
    workplace.client["local"] = IMPATIENT
    workplace.write([order(number) for number in range(10)])
    sink = workplace.world.local
    (node,) = sink.nodes
    # One attempt of each task: what Spark tries again is not the point.
    with workplace.running("--master", "local[2,1]") as run:
        run.until(lambda: len(workplace.read_tags()) >= 10, "the first tags")
        sink.kill(node)
        workplace.write([order(number) for number in range(10, 20)])
        run.until(lambda: "attempt 2 starts in" in run.log.read_text(), "a second attempt")
        sink.start(node)
        run.until(lambda: len(workplace.read_tags()) >= 20, "the tags of the batch that was refused")
        run.signal_group(signal.SIGTERM)
        assert run.process.wait(TIMEOUT) == 143, run.log.read_text()
    begun, committed = workplace.offsets()
    assert begun == committed


@pytest.mark.soak
def test_a_leader_that_moves_to_an_unmapped_broker_ends_the_run(workplace: Workplace) -> None:
    from confluent_kafka import ElectionType, TopicPartition
    from confluent_kafka.admin import AdminClient

    source = workplace.world.hq
    *mapped, late = source.plan.brokers
    workplace.rules["hq"] = [f"{broker.advertised} = {broker.reachable}" for broker in mapped]
    (partition, *_) = (number for number, node in source.leaders(workplace.topic).items() if node == late.node_id)
    source.stop(late.node_id)
    try:
        wait_until(lambda: late.node_id not in source.leaders(workplace.topic).values(), "other leaders", timeout=60)
        workplace.write([order(number) for number in range(10)])
        with workplace.running() as run:
            run.until(lambda: len(workplace.read_tags()) >= 10, "the first tags")
            source.start(late.node_id)
            admin = AdminClient({"bootstrap.servers": ",".join(map(str, source.direct.bootstrap_servers))})
            place = TopicPartition(workplace.topic, partition)

            def moved() -> bool:
                # Refused until the broker has caught up.
                admin.elect_leaders(ElectionType.PREFERRED, [place]).result(60)
                return source.leaders(workplace.topic)[partition] == late.node_id

            run.until(moved, "the leader on the broker without a rule")
            workplace.write([order(10)], partition=partition)
            assert run.process.wait(TIMEOUT) == 5, run.log.read_text()
            assert f"no rule of the address map names the advertised endpoint {late.advertised}" in run.log.read_text()
            assert f"`{late.advertised} = HOST:PORT`" in run.log.read_text()
    finally:
        if not source.running(late.node_id):
            source.start(late.node_id)
