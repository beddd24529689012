"""An endpoint without a rule, and rules that lead to the wrong broker."""

import pytest
from tests.integration.python_clients.conftest import Orders
from tests.integration.python_clients.libraries import NEWEST_IN_THE_GATE, Library

from brokernat.testbed import LoopbackWorld

pytestmark = [pytest.mark.integration, NEWEST_IN_THE_GATE]


def _elsewhere(order: Orders, world: LoopbackWorld, unmapped: str, **conf: object) -> dict[str, object]:
    """Past the gateway, where advertised addresses can be dialled. No rule is for this cluster, and one node is known
    as bootstrap server."""
    first = world.hq.direct.bootstrap_servers[0]
    return order(
        world.hq, bootstrap=[str(first)], map="kafka.elsewhere = 127.0.0.1", unmapped=unmapped, replicas=1, conf=conf
    )


def test_pass_dials_what_no_rule_names(library: Library, plain: LoopbackWorld, order: Orders) -> None:
    outcome = library.exercise([_elsewhere(order, plain, "pass")], "admin", "producer")
    assert outcome.answer["admin"] == [True]
    assert outcome.answer["producer"] == [30]


def test_fail_names_the_rule_to_add(library: Library, plain: LoopbackWorld, order: Orders) -> None:
    """Although the brokers could be dialled. The bootstrap server goes on being used, the others are refused."""
    refused = plain.hq.direct.bootstrap_servers[1:]
    patience = {"delivery_timeout_ms": 8000, "request_timeout_ms": 6000, "max_block_ms": 30000}
    if library.driver == "aiokafka":
        patience = {"request_timeout_ms": 8000}
    hopeless = _elsewhere(order, plain, "fail", **patience)
    plain.hq.create_topic(str(hopeless["topic"]), partitions=3, replicas=1)
    outcome = library.exercise([hopeless], "producer")
    assert isinstance(outcome.answer["producer"], str)
    for endpoint in refused:
        line = f"no rule of the address map names the advertised endpoint {endpoint}; hint: add a rule"
        assert line in outcome.log
        assert f"`{endpoint} = HOST:PORT`" in outcome.log
        # Ours stands there once for each client; the library repeats it at each attempt.
        assert outcome.log.count(f"ERROR:brokernat.clients:refused (cluster hq): {line}") == 1
    if library.driver == "aiokafka":
        assert outcome.answer["producer"].startswith("RefusedNodeError: no rule of the address map names")
    else:
        assert outcome.answer["producer"].startswith("KafkaTimeoutError")


def test_rules_that_are_swapped(library: Library, plain: LoopbackWorld, order: Orders) -> None:
    """Brokers answer that they are not the leader: nothing is written anywhere, the call ends by its time-out."""
    one, two = plain.hq2.nodes
    advertised, reachable = plain.hq2.advertised, plain.hq2.reachable
    swapped = order(
        plain.hq2,
        map=f"{advertised[one]}={reachable[two]},{advertised[two]}={reachable[one]}",
        unmapped="fail",
        replicas=1,
        conf={"request_timeout_ms": 4000},
    )
    if library.driver == "kafka-python":
        swapped["conf"] = {"delivery_timeout_ms": 6000, "request_timeout_ms": 4000}
    plain.hq2.create_topic(swapped["topic"], partitions=2, replicas=1)
    outcome = library.exercise([swapped], "producer")
    assert isinstance(outcome.answer["producer"], str)
    assert plain.hq2.read(swapped["topic"]) == []
