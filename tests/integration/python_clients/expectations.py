"""What a healthy run says, in one place."""

from typing import Any

from tests.integration.python_clients.libraries import Outcome
from tests.integration.python_clients.program import RECORDS

from brokernat.testbed import RunningCluster

ROLES = ("admin", "producer", "transactional", "group", "offsets")


def assert_healthy(outcome: Outcome, *clusters: RunningCluster) -> None:
    """Every role did its work on every cluster, each record came out where it was meant to, and nothing else did."""
    answer: dict[str, Any] = outcome.answer
    each = [RECORDS * len(cluster.nodes) for cluster in clusters]
    assert answer["admin"] == [True for _ in clusters], str(outcome)
    assert answer["producer"] == each, str(outcome)
    assert answer["transactional"] == [True for _ in clusters], str(outcome)
    assert answer["group"] == [
        {f"plain {cluster.name}": records, f"committed {cluster.name}": records}
        for cluster, records in zip(clusters, each, strict=True)
    ], str(outcome)
    assert answer["offsets"] == [list(range(len(cluster.nodes))) for cluster in clusters], str(outcome)


def assert_dialled(outcome: Outcome, cluster: RunningCluster) -> None:
    """The log says what was dialled for each node."""
    for node in cluster.nodes:
        assert f"translated {cluster.advertised[node]} -> {cluster.reachable[node]} " in outcome.log
