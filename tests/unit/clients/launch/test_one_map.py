"""The maps of several clusters in one process."""

import pytest
from tests.unit.clients.launch.conftest import cluster

from brokernat.address import Unmapped
from brokernat.clients.launch.one_map import one_map
from brokernat.errors import ConfigError

HQ = cluster("hq", "192.168.1.23:9092=172.10.1.40:9093")


def test_one_cluster_keeps_its_map() -> None:
    assert one_map([HQ]) == HQ.address_map


def test_no_map_at_all() -> None:
    assert one_map([cluster("local", None)]) is None
    assert one_map([cluster("opted-out", "")], Unmapped.FAIL) is None


@pytest.mark.parametrize(
    ("other", "unmapped"),
    [
        (cluster("audit", "10.0.0.1:9092=172.10.1.40:9193"), Unmapped.FAIL),
        (cluster("audit", "10.0.0.1:9092=172.10.1.40:9193", Unmapped.PASS), Unmapped.PASS),
        (cluster("local", None), Unmapped.PASS),
        (cluster("opted-out", ""), Unmapped.PASS),
    ],
)
def test_what_no_rule_names_is_refused_only_where_every_cluster_has_a_map_that_says_so(
    other: object, unmapped: Unmapped
) -> None:
    found = one_map([HQ, other])  # type: ignore[list-item]
    assert found is not None
    assert found.unmapped is unmapped
    assert one_map([HQ, other], Unmapped.FAIL).unmapped is Unmapped.FAIL  # type: ignore[list-item, union-attr]


@pytest.mark.parametrize("rules", ["192.168.1.23:9092=172.10.1.41:9093", "192.168.1.0/24=10.0.0.0/24,*.hq=gateway"])
def test_clusters_that_advertise_one_address_are_refused(rules: str) -> None:
    with pytest.raises(ConfigError, match=r"(hq2 and hq|hq and hq2) advertise the same addresses"):
        one_map([cluster("hq2", rules), HQ])


def test_the_same_rule_twice_is_one_meaning() -> None:
    assert one_map([HQ, cluster("again", "192.168.1.23:9092=172.10.1.40:9093")]) is not None


def test_a_rule_that_no_client_decides() -> None:
    with pytest.raises(ConfigError, match="node id"):
        one_map([cluster("hq", "*.hq:9092=gateway:{9092+id}")])
