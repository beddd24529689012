"""Every kind of rule against every way to say it: what is refused, and why."""

import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat.address import AddressMap
from brokernat.errors import NotExpressibleError
from brokernat.render.expressible import Means, require_expressible

RULES = """
    192.168.1.23:9092 = 172.10.1.40:9093
    192.168.1.23:9092 = 172.10.1.40:9092
    192.168.1.23 = 10.9.0.1
    192.168.1.23 = [fd00::1]
    [fd00::1]:9092 = [fd00::2]:9093
    10.1.0.0/24 = 10.9.0.0/24
    fd00:1::/64 = fd00:9::/64
    kafka-1:9092 = 10.9.0.1:9093
    kafka-1:9092 = 10.9.0.1:9092
    kafka-1 = [fd00::1]
    kafka-1 = gateway
    192.168.1.23 = gateway
    *.hq.internal:9092 = gateway:9093
    *.hq.internal = gateway
    *.hq.internal:9092 = gateway:{9092+id}
"""


@pytest.mark.parametrize("means", Means)
def test_refusals(means: Means, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(NotExpressibleError) as error:
        require_expressible(AddressMap.parse(RULES), means)
    assert error.value.report() == snapshot


@pytest.mark.parametrize("means", Means)
def test_an_empty_map_is_said_by_everything(means: Means) -> None:
    require_expressible(AddressMap(()), means)


@pytest.mark.parametrize(
    ("rules", "means", "instead"),
    [
        ("192.168.1.23 = 10.9.0.1", Means.HOSTS, "`iptables` or `nftables`"),
        ("kafka-1 = 10.9.0.1", Means.DNAT, "`hosts`"),
        ("192.168.1.23 = 10.9.0.1, kafka-1 = 10.9.0.2", Means.HOSTS, None),
        ("192.168.1.23 = 10.9.0.1, kafka-1 = 10.9.0.2", Means.DNAT, None),
        ("*.hq.internal = 10.9.0.1", Means.HOSTS, None),
        ("kafka-1:9092 = 10.9.0.1:9093", Means.DNAT, None),
    ],
)
def test_only_what_can_express_the_whole_map_is_advised(rules: str, means: Means, instead: str | None) -> None:
    with pytest.raises(NotExpressibleError) as error:
        require_expressible(AddressMap.parse(rules), means)
    advised = "give the map to the clients themselves (`brokernat map export`)"
    assert error.value.hint == (f"{advised}, or use {instead}" if instead else advised)
