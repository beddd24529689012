"""The plans of the worlds, which are pure: addresses, maps, and that nothing collides."""

from __future__ import annotations

from collections import Counter

import pytest

from brokernat.address import Endpoint, canonical_text
from brokernat.testbed import Advertise, Between, ClusterOptions, Listener, Protocol
from brokernat.testbed.loopback_plan import SLOTS, loopback_plan
from brokernat.testbed.netns_plan import netns_plan
from brokernat.testbed.topology import WorldPlan

_LISTENERS = (
    Listener("TOLD_HERE", Protocol.PLAINTEXT, advertised="localhost", nodes=(1,)),
    Listener("ON_ALL", Protocol.PLAINTEXT),
    Listener("ON_SOME", Protocol.SSL, advertised="kafka.invalid", nodes=(1, 3)),
)
_THREE, _ONE = ClusterOptions(listeners=_LISTENERS), ClusterOptions(brokers=1, listeners=_LISTENERS[:2])


def all_plans() -> list[WorldPlan]:
    """Every shape of a world."""
    loopback = [
        loopback_plan(
            slot, hq=ClusterOptions(brokers=5, advertise=kind), local=_ONE, second_hq=ClusterOptions(advertise=kind)
        )
        for slot in (SLOTS[0], SLOTS[-1])
        for kind in Advertise
    ]
    return loopback + [
        netns_plan("netns-1", hq=_THREE, local=_THREE, second_hq=_THREE, between=between) for between in Between
    ]


def test_loopback_addresses() -> None:
    plan = loopback_plan(17, hq=_THREE, local=_ONE)
    hq, local = plan.clusters
    assert [str(broker.advertised) for broker in hq.brokers] == [
        "127.17.1.23:9092",
        "127.17.1.24:9092",
        "127.17.1.25:9092",
    ]
    assert [str(forward.listen) for forward in plan.forwards] == [
        "127.17.3.40:9093",
        "127.17.3.40:9094",
        "127.17.3.40:9095",
    ]
    assert [str(forward.upstream) for forward in plan.forwards] == [
        "127.17.2.23:9092",
        "127.17.2.24:9092",
        "127.17.2.25:9092",
    ]
    assert (local.hidden, local.address_map(), local.bootstrap) == (False, None, (Endpoint("127.17.4.1", 19092),))


def test_situation_one_has_its_own_addresses() -> None:
    (hq,) = netns_plan("netns-1", hq=_THREE).clusters
    rules = hq.address_map()
    assert rules is not None
    assert canonical_text(rules) == (
        "192.168.1.23:9092=172.10.1.40:9093,192.168.1.24:9092=172.10.1.40:9094,192.168.1.25:9092=172.10.1.40:9095"
    )


def test_situation_two_keeps_ports_so_its_rules_are_host_to_host() -> None:
    plan = netns_plan("netns-1", hq=_THREE, between=Between.NFTABLES)
    rules = plan.clusters[0].address_map()
    assert rules is not None
    assert canonical_text(rules) == "192.168.1.23=10.99.1.23,192.168.1.24=10.99.1.24,192.168.1.25=10.99.1.25"
    assert [(nat.outside, nat.inside) for nat in plan.nats] == [
        ("10.99.1.23", "192.168.1.23"), ("10.99.1.24", "192.168.1.24"), ("10.99.1.25", "192.168.1.25"),
    ]  # fmt: skip


@pytest.mark.parametrize("plan", all_plans(), ids=lambda plan: plan.name)
def test_the_map_leads_from_each_advertised_endpoint_to_the_reachable_one(plan: WorldPlan) -> None:
    for cluster in plan.clusters:
        rules = cluster.address_map()
        for broker in cluster.brokers:
            dialled = rules.translate(broker.advertised).endpoint if rules else broker.advertised
            assert dialled == broker.reachable


@pytest.mark.parametrize("plan", all_plans(), ids=lambda plan: plan.name)
def test_two_headquarters_advertise_the_same_and_are_reached_apart(plan: WorldPlan) -> None:
    hq, hq2 = plan.clusters[0], plan.clusters[1]
    shared = min(len(hq.brokers), len(hq2.brokers))
    assert [broker.advertised for broker in hq.brokers[:shared]] == [
        broker.advertised for broker in hq2.brokers[:shared]
    ]
    assert set(hq.bootstrap).isdisjoint(hq2.bootstrap)


@pytest.mark.parametrize("plan", all_plans()[:6], ids=lambda plan: plan.name)
def test_on_loopback_nothing_binds_twice_or_where_something_is_dead(plan: WorldPlan) -> None:
    assert max(Counter(plan.binds()).values()) == 1
    assert set(plan.binds()).isdisjoint(plan.dead())


def test_listeners_that_a_test_adds_stand_on_the_brokers_that_it_names() -> None:
    plan = loopback_plan(17, hq=_THREE, local=_ONE)
    hq, local = plan.clusters
    by_node = {broker.node_id: {each.name: each for each in broker.more} for broker in hq.brokers}
    assert [list(names) for names in by_node.values()] == [
        ["TOLD_HERE", "ON_ALL", "ON_SOME"], ["ON_ALL"], ["ON_ALL", "ON_SOME"],
    ]  # fmt: skip
    assert by_node[2]["ON_ALL"].advertised == by_node[2]["ON_ALL"].bound == Endpoint("127.17.2.24", 9111)
    assert str(by_node[3]["ON_SOME"].advertised) == "kafka.invalid:9112"
    here = [broker.more[0] for broker in (hq.brokers[0], local.brokers[0])]
    assert [(each.bound.host, each.advertised.host) for each in here] == [("127.0.0.1", "localhost")] * 2
    assert here[0].bound.port != here[1].bound.port


def test_slots_do_not_meet() -> None:
    options = ClusterOptions(advertise=Advertise.IPV6, brokers=5)
    used = [set(plan.binds()) | set(plan.dead())
            for plan in (loopback_plan(slot, hq=options, local=_ONE, second_hq=options) for slot in SLOTS)]  # fmt: skip
    assert len(set().union(*used)) == sum(map(len, used))


def test_a_password_is_not_in_the_repr() -> None:
    assert "s3cret" not in repr(loopback_plan(10, hq=ClusterOptions(password="s3cret")))
