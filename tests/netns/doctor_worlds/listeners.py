"""Which listener a client enters, and what the brokers advertise there."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.kinds import (
    ADD_LISTENER,
    CLIENT_SETTINGS,
    NO_FRONTS,
    NOT_KAFKA,
    Dice,
    World,
    by,
    dns,
    forwards,
    kind,
    others,
    some,
)
from tests.netns.doctor_worlds.layout import NODES, OTHER_BROKER, advertised, door, front, gate
from tests.netns.doctor_worlds.middlebox import HTTP, Forward
from tests.netns.doctor_worlds.report import Client

from brokernat.address import Endpoint


@kind()
def mixed_listeners(dice: Dice) -> World:
    one, two = dice.sample(NODES, 2)
    servers = [front(one), door("PUBLIC", two), *(front(node) for node in some(dice, others(one, two)))]
    dice.shuffle(servers)
    return World(
        "FRONT and PUBLIC",
        Client(tuple(servers)),
        Demand(("listener",), codes=frozenset({"BN502"}), fix=(r"listener",)),
    )


@kind()
def lacks_the_listener(dice: Dice) -> World:
    demand = Demand((r"\b3\b", "PART|listener"), codes=frozenset({"BN503"}), never=(r"\b(is|may be|be) down\b",))
    return World("node 3 without PART", by("PART", some(dice, others(3))), demand)


@kind(slow=True)
def mixed_and_one_down(dice: Dice) -> World:
    down = dice.choice(NODES)
    one, two = dice.sample(others(down), 2)
    servers = [front(one), door("PUBLIC", two), door("PUBLIC", down)]
    demand = Demand(
        ("listener",), said=(rf"\b{down}\b.*\b(down|not run|no listener|none of its listeners)|down.*\b{down}\b",)
    )
    return World(f"node {down} down", Client(tuple(servers)), demand, (lambda site: site.ended(down),))


@kind(slow=True)
def down_and_all_led(dice: Dice) -> World:
    down = dice.choice(NODES)
    client = by("PUBLIC", some(dice))
    said = (rf"node {down}\b[^\n]*\b(down|not run|not running|no broker|refused)|down[^\n]*\b{down}\b",)
    demand = Demand(
        harmless=True, said=said, never=(ADD_LISTENER, "a listener that all brokers have", "stops? clients")
    )
    return World(f"node {down} down", client, demand, (lambda site: site.ended(down),))


@kind()
def a_reachable_listener_exists(dice: Dice) -> World:
    listener = dice.choice(["BOX", "FRONT"])
    # What is dead at the front is dead for all.
    client = by("BOX", some(dice)) if listener == "BOX" else Client(tuple(map(gate, some(dice))))
    return World(
        f"{listener} entered, PUBLIC reached",
        client,
        Demand(fix=(r"172\.20\.1\.4\d:9093",), never=(ADD_LISTENER, "listener PART works")),
        (forwards(NO_FRONTS), dns()),
    )


@kind()
def one_advertises_localhost(dice: Dice) -> World:
    client = by("ONE", some(dice))
    return World("node 2", client, Demand((r"\b2\b", "localhost"), never=(CLIENT_SETTINGS,)))


@kind()
def all_advertise_localhost(dice: Dice) -> World:
    listener = dice.choice(["LOCAL", "LOCALS"])
    there = dice.choice(["nothing", "http", "kafka"])
    ends = {Endpoint("127.0.0.1", advertised(listener, node).port) for node in NODES}
    servers = {"nothing": None, "http": Forward(answers=HTTP), "kafka": Forward((OTHER_BROKER,))}
    what = servers[there]
    changes = () if what is None else (lambda site: site.here(dict.fromkeys(ends, what)),)
    demand = Demand(
        ("localhost", r"\b(4|four|all|every|each)\b"),
        never=(NOT_KAFKA, "a port of its own", "another cluster", CLIENT_SETTINGS),
        codes=frozenset({"BN201"}),
    )
    return World(f"{listener}, {there} there", by(listener, some(dice)), demand, changes)


@kind()
def names_that_only_their_place_knows(dice: Dice) -> World:
    listener, remedy = dice.choice(
        [
            ("BOX", "container|docker"),
            ("SVC", "port-forward|kubernetes|kubectl"),
            ("CLOUD", r"cloud|\baws\b|ec2|public"),
        ]
    )
    name = re.escape(advertised(listener, 1).host) + "|" + re.escape(advertised(listener, 2).host)
    demand = Demand((rf"node|{name}",), said=(remedy,), codes=frozenset({"BN301", "BN203"}))
    return World(listener, by(listener, some(dice)), demand, (dns(),))


@kind(gate=False)
def mixed_listeners_three_ways(dice: Dice) -> World:
    one, two, three = dice.sample(NODES, 3)
    servers = (front(one), door("PUBLIC", two), door("NAMED", three))
    demand = Demand(("listener",), codes=frozenset({"BN502"}), fix=("listener",), never=(CLIENT_SETTINGS,))
    return World("FRONT, PUBLIC and NAMED", Client(servers), demand, (dns(),))


@kind(gate=False)
def mixed_with_a_protected_listener(dice: Dice) -> World:
    one, two = dice.sample(NODES, 2)
    listener = dice.choice(["TLS", "LOGIN"])
    odd = door(listener, two)
    servers = [odd, front(one), *map(front, some(dice, others(one, two)))]
    demand = Demand((re.escape(str(odd)), f"{listener}|SASL"), never=(CLIENT_SETTINGS, ADD_LISTENER, NOT_KAFKA))
    return World(f"FRONT and {odd}", Client(tuple(servers)), demand)


@kind(gate=False)
def one_rule_for_four_localhosts(dice: Dice) -> World:
    node = dice.choice(NODES)
    client = replace(by("LOCAL", [node]), rules=(f"{advertised('LOCAL', node)} = {door('LOCAL', node)}",))
    demand = Demand(
        ("localhost|same", r"\b(4|four|all|every|each|several)\b|nodes"), never=(CLIENT_SETTINGS, NOT_KAFKA)
    )
    return World(f"node {node}", client, demand)
