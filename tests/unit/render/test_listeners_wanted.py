"""Listeners as one plans them, and every reason why a broker or a client would not have them."""

from collections.abc import Mapping
from typing import Any

import pytest

from brokernat.address import Endpoint
from brokernat.errors import ConfigError
from brokernat.render.listeners_plan import ListenersPlan, Quorum, Wanted, filled, named, plan_listeners

IN_AND_OUT = {"INTERNAL": "kafka-{id}:19092", "EXTERNAL": "gateway.example:{9092+id}"}


def plan(advertised: Mapping[str, str], nodes: int = 2, **more: Any) -> ListenersPlan:
    return plan_listeners(Wanted(advertised, **{"bound": {}, "protocols": {}, **more}), range(1, nodes + 1))


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("a:1", "a:1"),
        ("k{id}:1", "k7:1"),
        ("g:{9092+id}", "g:9099"),
        ("{id}.{100+id}:1", "7.107:1"),
        ("{x}:1", "{x}:1"),
    ],
)
def test_templates(template: str, text: str) -> None:
    assert filled(template, 7) == text


def test_a_plan() -> None:
    found = plan(IN_AND_OUT, protocols={"EXTERNAL": "sasl_ssl"}, bound={"INTERNAL": "10.0.0.{id}:29092"})
    one, two = found.brokers
    assert [(each.name, each.bound, str(each.advertised), each.protocol) for each in two.listeners] == [
        ("INTERNAL", "10.0.0.2:29092", "kafka-2:19092", "PLAINTEXT"),
        ("EXTERNAL", ":9094", "gateway.example:9094", "SASL_SSL"),
    ]
    assert found.inter_broker == "INTERNAL"
    # 9093 and 9094 are a listener's on one node or the other.
    assert one.controller == Endpoint("kafka-1", 9095)


def test_where_controllers_are() -> None:
    assert plan(IN_AND_OUT, controller="c{id}:9999").brokers[1].controller == Endpoint("c2", 9999)
    assert plan(IN_AND_OUT, quorum=Quorum.SEPARATE).brokers[0].controller is None


@pytest.mark.parametrize(
    ("advertised", "more", "said"),
    [
        ({}, {}, ["no listener is given"]),
        ({"CONTROLLER": "c{id}:1"}, {}, ["CONTROLLER is the quorum's own listener"]),
        ({"A": "h:1"}, {}, ["A of node 1 and A of node 2 would both advertise h:1"]),
        ({"A": "h{id}:1", "B": "h{id}:1"}, {"bound": {"B": "2"}}, ["both advertise h1:1", "both advertise h2:1"]),
        ({"A": "h{id}:1", "B": "g{id}:1"}, {}, [f"A and B of node {n} would both bind port 1" for n in (1, 2)]),
        ({"A": "0.0.0.0:{1+id}"}, {}, ["A would advertise 0.0.0.0:2, which nobody", "A would advertise 0.0.0.0:3"]),
        ({"A": "[::]:{1+id}"}, {}, ["A would advertise [::]:2, which nobody can", "A would advertise [::]:3"]),
        ({"A": "h{id}"}, {}, ["endpoint `h1`: the port is missing", "endpoint `h2`: the port is missing"]),
        ({"A": "A://h{id}:1"}, {}, ["a protocol is no part of an endpoint"] * 2),
        ({"A": "g:{65535+id}"}, {}, ["`65536` is not a port", "`65537` is not a port"]),
        ({"A": "h{id}:1"}, {"bound": {"A": "h:x"}}, ["--bind A=h:x has no port"]),
        ({"A": "h{id}:1"}, {"bound": {"A": "9" * 5000}}, [f"--bind A={'9' * 5000} has no port"]),
        ({"A": "h{id}:1"}, {"bound": {"B": "1"}}, ["--bind names B, which no `--listener` defines"]),
        ({"A": "h{id}:1"}, {"protocols": {"B": "SSL"}}, ["--protocol names B"]),
        ({"A": "h{id}:1"}, {"protocols": {"A": "TLS"}}, ["A cannot speak `TLS`"]),
        ({"A": "h{id}:1"}, {"inter_broker": "B"}, ["--inter-broker names B"]),
        ({"A": "h{id}:1"}, {"controller": "h{id}:1"}, ["the controllers' port 1 of node 1 is that of a listener"]),
    ],
)
def test_refused_with_every_reason(advertised: dict[str, str], more: dict[str, Any], said: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        plan(advertised, **more)
    messages = [problem.message for problem in caught.value.problems]
    assert len(messages) == len(said)
    assert all(part in message for part, message in zip(said, messages, strict=True))
    assert all(problem.hint for problem in caught.value.problems)


def test_options_by_name() -> None:
    assert named(["a=b:1", " B = c=d "], "--x") == {"A": "b:1", "B": "c=d"}
    with pytest.raises(ConfigError) as caught:
        named(["a", "=b", "a b=c", "x=1", "X=2"], "--listener")
    assert len(caught.value.problems) == 4


def test_the_port_of_a_hint_exists() -> None:
    wanted = Wanted({"A": "a-{id}:60000", "B": "b-{id}:60000"}, {}, {})
    with pytest.raises(ConfigError) as caught:
        plan_listeners(wanted, [1])
    assert "`--bind B=50000`" in str(caught.value.problems[0].hint)
