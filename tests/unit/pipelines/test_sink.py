"""What a producer is made from; the write itself is in tests/integration."""

import pytest

from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.pipelines.preflight import overruled
from brokernat.pipelines.steps.sink import producer_options


def local(**client: str) -> Cluster:
    return Cluster(
        "local", (Endpoint.parse("localhost:9092"),), None, {k.replace("_", "."): v for k, v in client.items()}
    )


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_a_cluster_cannot_take_the_acknowledgements_away(acks: str) -> None:
    options = producer_options({"kafka.acks": acks, "kafka.delivery.timeout.ms": "5", "kafka.linger.ms": "7"})
    assert options["kafka.acks"] == "all"
    assert options["kafka.enable.idempotence"] == "true"
    assert (options["kafka.delivery.timeout.ms"], options["kafka.linger.ms"]) == ("5", "7")


@pytest.mark.parametrize("given", [{}, {"acks": "all"}, {"acks": "-1"}])
def test_nothing_is_said_where_nothing_is_overruled(given: dict[str, str]) -> None:
    assert list(overruled(local(**given))) == []


def test_what_is_overruled_is_said_before_the_run() -> None:
    (found,) = overruled(local(acks="1"))
    assert found.level == "warning"
    assert found.message == "acks=1 of cluster local is not used: a pipeline writes with acks=all"
    assert "`client:`" in (found.hint or "")
