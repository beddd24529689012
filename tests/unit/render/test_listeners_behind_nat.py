"""An address map turned round."""

import pytest

from brokernat.address import AddressMap, Endpoint
from brokernat.errors import ConfigError
from brokernat.render import Forward, forwards
from brokernat.render.broker_files import broker_properties
from brokernat.render.listeners_plan import forwards_to_make, plan_behind_nat

SITUATION_1 = forwards(
    AddressMap.parse("192.168.1.23:9092 = 172.10.1.40:9093, 192.168.1.24:9092 = 172.10.1.40:9094"), ()
)


def test_situation_1() -> None:
    plan = plan_behind_nat(SITUATION_1, protocol="SASL_PLAINTEXT")
    settings = broker_properties(plan, plan.brokers[1])
    assert settings["advertised.listeners"] == "INTERNAL://192.168.1.24:9092,EXTERNAL://172.10.1.40:9094"
    assert settings["listeners"] == "INTERNAL://:9092,EXTERNAL://:9094,CONTROLLER://:9095"
    assert "INTERNAL:SASL_PLAINTEXT,EXTERNAL:SASL_PLAINTEXT" in settings["listener.security.protocol.map"]
    assert "controller.quorum.voters" not in settings
    assert forwards_to_make(plan)[1] == "172.10.1.40:9094 -> 192.168.1.24:9094"


def test_ports_that_are_kept_need_another_one_inside() -> None:
    plan = plan_behind_nat([Forward(Endpoint("10.9.0.1", 9092), Endpoint("10.1.0.1", 9092))])
    assert broker_properties(plan, plan.brokers[0])["listeners"].startswith("INTERNAL://:9092,EXTERNAL://:19092,")
    assert forwards_to_make(plan) == ("10.9.0.1:9092 -> 10.1.0.1:19092",)


@pytest.mark.parametrize(("port", "bound"), [(55535, 65535), (55536, 45536), (56000, 46000), (65535, 55535)])
def test_the_other_port_is_one_that_every_user_may_bind(port: int, bound: int) -> None:
    plan = plan_behind_nat([Forward(Endpoint("10.9.0.1", port), Endpoint("10.1.0.1", port))])
    assert forwards_to_make(plan) == (f"10.9.0.1:{port} -> 10.1.0.1:{bound}",)


def test_node_ids_as_they_were_seen() -> None:
    ids = {Endpoint("192.168.1.23", 9092): 8, Endpoint("192.168.1.24", 9092): 3}
    assert [broker.node_id for broker in plan_behind_nat(SITUATION_1, ids).brokers] == [8, 3]
    assert [broker.node_id for broker in plan_behind_nat(SITUATION_1, first_id=5).brokers] == [5, 6]
    with pytest.raises(ConfigError, match=r"no broker in the evidence advertises 192\.168\.1\.24:9092"):
        plan_behind_nat(SITUATION_1, {Endpoint("192.168.1.23", 9092): 8})
