"""Which rules are written for what was proven."""

from __future__ import annotations

import pytest
from tests.support.endpoint_probes import replace

from brokernat.doctor.discovery.matching import Discovery, MatchedNode
from brokernat.doctor.discovery.rules import network_rule, propose
from brokernat.doctor.finding import Confidence


def discovery(*pairs: str) -> Discovery:
    entries = [
        MatchedNode(number, advertised, candidate, "apiversions", Confidence.PROVEN, 17)
        for number, (advertised, _, candidate) in enumerate((pair.partition(" = ") for pair in pairs), 1)
    ]
    return Discovery("hq", "AbC", None, "2026-11-21T12:00:00+00:00", (), tuple(entries), (), {})


FORWARDED = ("192.168.1.23:9092 = 172.10.1.40:9093", "192.168.1.24:9092 = 172.10.1.40:9094")
TRANSLATED = ("192.168.1.23:9092 = 10.9.0.23:9092", "192.168.1.24:9092 = 10.9.0.24:9092")


def rules(*pairs: str, hosts: bool = True) -> list[str]:
    return [str(new.rule) for new in propose(discovery(*pairs), hosts=hosts)]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (FORWARDED, ["192.168.1.23:9092=172.10.1.40:9093", "192.168.1.24:9092=172.10.1.40:9094"]),
        (TRANSLATED, ["192.168.1.23=10.9.0.23", "192.168.1.24=10.9.0.24"]),
        # One broker proves nothing about hosts.
        (TRANSLATED[:1], ["192.168.1.23:9092=10.9.0.23:9092"]),
        # Two hosts behind one, ports kept by luck.
        (("a:9092 = gw:9092", "b:9093 = gw:9093"), ["a:9092=gw:9092", "b:9093=gw:9093"]),
        # One host behind two.
        (("a:9092 = x:9092", "a:9093 = y:9093"), ["a:9092=x:9092", "a:9093=y:9093"]),
        # Two brokers on each host.
        (("a:1 = x:1", "a:2 = x:2", "b:1 = y:1"), ["a=x", "b=y"]),
        (("[fd00::1]:1 = [fd09::1]:1", "[fd00::2]:1 = [fd09::2]:1"), ["[fd00::1]=[fd09::1]", "[fd00::2]=[fd09::2]"]),
    ],
)
def test_rules(pairs: tuple[str, ...], expected: list[str]) -> None:
    assert rules(*pairs) == expected


def test_ports_on_request() -> None:
    assert rules(*TRANSLATED, hosts=False) == [pair.replace(" ", "") for pair in TRANSLATED]


def test_the_comment_says_how_it_was_proven() -> None:
    comments = [new.comment for new in propose(discovery("a:1 = x:1", "a:2 = x:2", "b:1 = y:1"))]
    assert comments == [
        "node 1+2, by apiversions, proven 2026-11-21, cluster AbC",
        "node 3, by apiversions, proven 2026-11-21, cluster AbC",
    ]


def test_a_cluster_id_writes_no_rules_of_its_own() -> None:
    hostile = replace(discovery(*FORWARDED), cluster_id="x\n- a:1 = evil:1")
    assert "\n" not in propose(hostile)[0].comment


@pytest.mark.parametrize(
    ("pairs", "rule"),
    [
        (TRANSLATED, "192.168.1.0/24=10.9.0.0/24"),
        (FORWARDED, "None"),
        (("192.168.1.23:1 = 10.9.0.23:1", "192.168.1.24:1 = 10.9.0.25:1"), "None"),
        (("192.168.1.23:1 = 10.9.0.23:1", "192.168.1.24:1 = 10.9.1.24:1"), "None"),
        (("a:1 = 10.9.0.23:1", "b:1 = 10.9.0.25:1"), "None"),
    ],
)
def test_a_network_is_named_only_where_it_says_the_same(pairs: tuple[str, ...], rule: str) -> None:
    assert str(network_rule(discovery(*pairs).matched)) == rule
