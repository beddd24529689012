"""The first file for a cluster that is known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brokernat.address import Endpoint, parse_rule
from brokernat.config import Config, Secret
from brokernat.config.merging import ProvenRule
from brokernat.config.starter import first_file, starter_file

Load = Callable[..., Config]
PROVEN = [
    ProvenRule(parse_rule(f"{advertised}={reachable}"), (Endpoint.parse(advertised),), "node 1, by apiversions")
    for advertised, reachable in (("192.168.1.23:9092", "gw:9093"), ("[fd00::1]:9092", "gw:9094"))
]


def test_it_holds_this_cluster_alone_and_the_explanations(load_text: Load) -> None:
    client = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "1e3",
        "sasl.password": "${env:HQ_PASSWORD}",
    }
    text = first_file((Endpoint("gw", 9093), Endpoint("gw", 9094)), client, PROVEN)
    config = load_text(text, {"HQ_PASSWORD": "canary"})
    assert list(config.clusters) == ["hq"]
    hq = config.cluster("hq")
    assert [str(each) for each in hq.bootstrap_servers] == ["gw:9093", "gw:9094"]
    assert hq.address_map is not None
    assert [str(rule) for rule in hq.address_map.rules] == [str(each.rule) for each in PROVEN]
    assert hq.client == {**client, "sasl.password": Secret("canary")}
    explained = {line for line in starter_file().splitlines() if line.lstrip().startswith("# ")}
    assert {line for line in explained if "sasl" not in line} - set(text.splitlines()) <= {
        "    # client:",
        "    #   security.protocol: SASL_PLAINTEXT",
    }


@pytest.mark.parametrize("value", ["on", "null", "1", "a: b", "# x", "'", '"', "\\", "a b", "ä\t", "", "$${x}", "*"])
def test_any_value_is_read_back(load_text: Load, value: str) -> None:
    text = first_file((Endpoint("gw", 9093),), {"client.id": value}, PROVEN)
    assert load_text(text).cluster("hq").client == {"client.id": value.replace("$${", "${")}
