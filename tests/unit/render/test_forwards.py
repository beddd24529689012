"""The map read backwards: what a gateway listens at, and where that leads."""

import pytest

from brokernat.address import AddressMap, Endpoint
from brokernat.errors import NotExpressibleError
from brokernat.render import forwards


def _forwards(rules: str, *bootstrap: str) -> list[str]:
    found = forwards(AddressMap.parse(rules), map(Endpoint.parse, bootstrap))
    return [f"{forward.listen} {forward.upstream}" for forward in found]


@pytest.mark.parametrize(
    ("rules", "bootstrap", "found"),
    [
        ("a:1 = gw:2, b:1 = gw:3", [], ["gw:2 a:1", "gw:3 b:1"]),
        ("a = 10.9.0.1", ["10.9.0.1:9092", "10.9.0.1:9093", "x:1"], ["10.9.0.1:9092 a:9092", "10.9.0.1:9093 a:9093"]),
        ("10.1.0.0/24 = 10.9.0.0/24", ["10.9.0.7:9092", "10.8.0.7:1"], ["10.9.0.7:9092 10.1.0.7:9092"]),
        ("fd00:1::/64 = fd00:9::/64", ["[fd00:9::7]:1"], ["[fd00:9::7]:1 [fd00:1::7]:1"]),
        # Two names of one broker.
        ("a:1 = gw:2, 10.0.0.1:1 = gw:2", [], ["gw:2 a:1"]),
        # Never used, since the first match wins.
        ("a:1 = gw:2, a:1 = gw:3", [], ["gw:2 a:1"]),
        # Dialled as it is: a gateway would dial itself.
        ("a:1 = a:1, b:1 = gw:1", [], ["gw:1 b:1"]),
    ],
)
def test_forwards(rules: str, bootstrap: list[str], found: list[str]) -> None:
    assert _forwards(rules, *bootstrap) == found


@pytest.mark.parametrize("rule", ["kafka-1=10.9.0.1", "10.1.0.0/24=10.9.0.0/24"])
def test_a_port_that_nobody_knows(rule: str) -> None:
    with pytest.raises(NotExpressibleError, match=f"  {rule}: it keeps the port, and no bootstrap server"):
        _forwards(rule, "10.8.0.1:9092")
