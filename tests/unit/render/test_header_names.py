"""Names of chains and tables: short enough, safe, and different for different clusters."""

import pytest

from brokernat.render.header import identifier


@pytest.mark.parametrize(
    ("cluster", "name"),
    [("hq", "brokernat_hq"), ("HQ_2", "brokernat_HQ_2"), ("hq.v6", "brokernat_hq_v6_40c4"), ("a" * 40, None)],
)
def test_identifier(cluster: str, name: str | None) -> None:
    found = identifier(cluster)
    assert name is None or found == name
    assert len(found) <= 28


def test_what_differs_stays_different() -> None:
    names = ["hq.a", "hq-a", "hq_a", "hq a", "h" * 18, "h" * 19, "h" * 20, "日本", "中国"]
    assert len({identifier(name) for name in names}) == len(names)
