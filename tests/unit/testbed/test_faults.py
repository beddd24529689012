"""The rules of faults as text."""

from __future__ import annotations

from brokernat.address import Endpoint
from brokernat.testbed.faults import fault_rules


def test_a_rule_names_address_and_port_in_their_family() -> None:
    assert "ip daddr 172.10.1.40 tcp dport 9093 counter drop" in fault_rules(
        Endpoint("172.10.1.40", 9093), "counter drop"
    )
    assert "ip6 daddr fd00::1 tcp dport 9092 reject with tcp reset" in fault_rules(
        Endpoint("fd00::1", 9092), "reject with tcp reset"
    )
