"""References that are no files, with what keeps them: a topic of a real broker."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.integration.pipelines.conftest import Workplace, order

from brokernat.testbed import Record

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture
def place(workplace: Workplace) -> Workplace:
    """Customers are a compacted topic of the cluster behind dead addresses; `customer_id` is the key of its records."""
    workplace.world.hq.create_topic(customers(workplace), configs={"cleanup.policy": "compact"})
    decode = {"format": "json", "schema": "name STRING NOT NULL"}
    topic = {"cluster": "hq", "topic": customers(workplace), "decode": decode}
    workplace.pipeline["references"] = {
        "customers": {"kafka": topic, "refresh": "every_batch", "version_column": "as_of"}
    }
    return workplace


def customers(place: Workplace) -> str:
    return f"{place.topic}-customers"


def put(place: Workplace, **names: str | bytes | None) -> None:
    """The names of customers; None removes one."""

    def value(name: str | bytes | None) -> bytes | None:
        return json.dumps({"name": name}).encode() if isinstance(name, str) else name

    records = [Record(key=key.encode(), value=value(name)) for key, name in names.items()]
    place.world.hq.write(customers(place), records)


def take_back(place: Workplace, customer: str, name: str) -> None:
    """A name in a transaction that is aborted."""
    from confluent_kafka import Producer

    servers = ",".join(map(str, place.world.hq.direct.bootstrap_servers))
    producer = Producer({"bootstrap.servers": servers, "transactional.id": customers(place)})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(customers(place), json.dumps({"name": name}), customer)
    assert producer.flush(60) == 0
    producer.abort_transaction(60)


def drained(place: Workplace, *numbers: int) -> dict[str, Any]:
    """The name in the tag of each order, None where it became a dead letter; and the report of the batch."""
    before = len(place.read_tags())
    place.write([order(number) for number in numbers])
    (batch,) = place.drain()
    assert batch["tags"] + batch["dead_letters"] == len(numbers)
    tags = (json.loads(record.value or b"") for record in place.read_tags()[before:])
    return (
        {f"o{number}": None for number in numbers} | {tag["order_id"]: tag["name"] for tag in tags} | {"batch": batch}
    )


def test_the_newest_committed_value_of_each_key_of_a_compacted_topic_is_joined(place: Workplace) -> None:
    put(place, c1="One", c2="Two", c3="Three")
    put(place, c2="Zwei", c3=None, c4="Four")
    take_back(place, "c1", "Nobody")
    found = drained(place, 1, 2, 3, 4)
    assert [found[each] for each in ("o1", "o2", "o3", "o4")] == ["One", "Zwei", None, "Four"]
    first = found["batch"]["references"]["customers"]
    # Records that change nothing are another version of the topic, and the same of its rows.
    put(place, c2="Zwei")
    assert drained(place, 2)["batch"]["references"]["customers"] == first
    put(place, c2=None, c3="Drei")
    found = drained(place, 2, 3)
    assert (found["o2"], found["o3"]) == (None, "Drei")
    assert found["batch"]["references"]["customers"] != first
    # A value that is not as the schema says: the last good version stays.
    put(place, c1=b'{"name": 1}')
    assert drained(place, 1)["o1"] == "One"
    checked = place.run("check")
    assert f"the topic {customers(place)} of cluster hq cannot be read: partition" in checked.stdout
    used = f"the run would use version {found['batch']['references']['customers']} of an earlier run"
    assert f"WrongType: field `name`: expected STRING, found BIGINT 1; {used}" in checked.stdout


def test_what_is_wrong_with_the_topic_of_a_reference_is_found_by_the_check(place: Workplace) -> None:
    kafka = place.pipeline["references"]["customers"]["kafka"]
    kafka["topic"] = place.topic
    place.write([order(1)], key=None)
    checked = place.run("check", code=2)
    assert f"`{place.topic}` is not compacted" in checked.stderr
    assert "--add-config cleanup.policy=compact" in checked.stderr
    assert "cannot be read: partition 0, offset 0: it has no key, so the row that it replaces" in checked.stdout
    kafka["topic"] = "no-such-topic"
    checked = place.run("check", code=2)
    assert "there is no topic `no-such-topic` in `hq`" in checked.stderr
