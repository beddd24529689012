"""Paths on which small messages pass and large ones do not."""

from __future__ import annotations

from collections.abc import Callable

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.kinds import (
    CLIENT_SETTINGS,
    NOT_KAFKA,
    Dice,
    World,
    around,
    at,
    by,
    by_front,
    filtered,
    forwards,
    kind,
    others,
    some,
)
from tests.netns.doctor_worlds.layout import GATEWAY, NODES, bound, door, front, gate, host
from tests.netns.doctor_worlds.middlebox import Forward
from tests.netns.doctor_worlds.report import Client

SIZE = r"\blarge|\bsize|mtu|bytes|\bcuts?\b|big"


@kind()
def cut_in_a_large_answer(dice: Dice) -> World:
    node, after = dice.choice(NODES), dice.choice([1000, 1460, 2000, 3000, 6000])
    faulty = dice.choice([[node], list(NODES)])
    changed = {front(each): Forward((bound(each),), cut_after=after) for each in faulty}
    client = by_front(dice, others(node) if len(faulty) == 1 else NODES)
    demand = Demand((at(node), SIZE) if len(faulty) == 1 else (SIZE,), never=(NOT_KAFKA, CLIENT_SETTINGS))
    return World(f"nodes {faulty} after {after} bytes", client, demand, (forwards(changed),))


@kind(slow=True)
def large_answers_vanish(dice: Dice) -> World:
    sizes = [1100, 1448, 2000, 4096, 7000]
    return large_ones_vanish(dice, sizes, lambda node, size: Forward((bound(node),), largest_answer=size))


@kind(slow=True)
def large_requests_vanish(dice: Dice) -> World:
    sizes = [600, 1000, 1400, 4096, 7000]
    return large_ones_vanish(dice, sizes, lambda node, size: Forward((bound(node),), largest_request=size))


def large_ones_vanish(dice: Dice, sizes: list[int], limited: Callable[[int, int], Forward]) -> World:
    node, largest = dice.choice(NODES), dice.choice(sizes)
    faulty = dice.choice([[node], list(NODES)])
    changed = {front(each): limited(each, largest) for each in faulty}
    client = by_front(dice, others(node) if len(faulty) == 1 else NODES)
    demand = Demand(
        (at(node), SIZE) if len(faulty) == 1 else (SIZE,),
        said=(r"mtu|tunnel|middlebox|vpn",),
        never=(NOT_KAFKA, CLIENT_SETTINGS),
    )
    return World(f"nodes {faulty} above {largest} bytes", client, demand, (forwards(changed),))


@kind()
def large_packets_vanish(dice: Dice) -> World:
    """As in a tunnel with a smaller MTU and no ICMP: the kernel sends the large segment again and again."""
    node, largest, way = dice.choice(NODES), dice.choice([1280, 1400, 1420]), dice.choice(["in", "out"])
    port = dice.choice([9092, 9093])
    match = f"ip daddr {host(node)} tcp dport {port}" if way == "in" else f"ip saddr {host(node)} tcp sport {port}"
    end = front(node) if port == 9092 else door("PUBLIC", node)
    client = around(dice, node) if port == 9092 else by("PUBLIC", some(dice, others(node)))
    demand = Demand((at(node, end), SIZE), said=(r"mtu|tunnel|middlebox|vpn",), never=(NOT_KAFKA, CLIENT_SETTINGS))
    return World(
        f"node {node}:{port} {way} above {largest}",
        client,
        demand,
        (filtered(f"{way}: {match} meta length > {largest} drop"),),
    )


@kind(gate=False)
def large_packets_vanish_for_all(dice: Dice) -> World:
    """The tunnel is on the client's side: the same at each node and at each port."""
    largest, way = dice.choice([1280, 1400]), dice.choice(["in: iifname", "out: oifname"])
    client = dice.choice([by_front(dice), by("PUBLIC", some(dice))])
    rule = f"{way} to-client meta length > {largest} drop"
    changes = (filtered(rule),)
    demand = Demand((SIZE,), said=(r"mtu|tunnel|middlebox|vpn",), never=(NOT_KAFKA, CLIENT_SETTINGS))
    return World(f"{rule} by {client.servers[0]}", client, demand, changes)


@kind(slow=True, gate=False)
def requests_vanish_at_one_and_answers_at_another(dice: Dice) -> World:
    one, two = dice.sample(NODES, 2)
    changed = {
        front(one): Forward((bound(one),), largest_request=1000),
        front(two): Forward((bound(two),), largest_answer=2000),
    }
    demand = Demand((at(one), at(two), SIZE), never=(NOT_KAFKA, CLIENT_SETTINGS))
    return World(f"requests of {one}, answers of {two}", by_front(dice, others(one, two)), demand, (forwards(changed),))


@kind(gate=False)
def large_packets_vanish_at_the_gateway(dice: Dice) -> World:
    """With a map: the port of one node, or the gateway's host."""
    node, way, largest = dice.choice(NODES), dice.choice(["in", "out"]), dice.choice([1280, 1400])
    client = Client(tuple(map(gate, some(dice, others(node)))), tuple(f"{front(n)} = {gate(n)}" for n in NODES))
    match = f"ip daddr {GATEWAY} tcp dport" if way == "in" else f"ip saddr {GATEWAY} tcp sport"
    changes = (filtered(f"{way}: {match} {gate(node).port} meta length > {largest} drop"),)
    demand = Demand(
        (at(node, gate(node)), SIZE), said=(r"mtu|tunnel|middlebox|vpn",), never=(NOT_KAFKA, CLIENT_SETTINGS)
    )
    return World(f"{way} above {largest} at {gate(node)}", client, demand, changes)


@kind(gate=False)
def large_packets_vanish_with_tls(dice: Dice) -> World:
    node, way, largest = dice.choice(NODES), dice.choice(["in", "out"]), dice.choice([1280, 1400])
    end = door("TLS", node)
    match = f"ip daddr {end.host} tcp dport" if way == "in" else f"ip saddr {end.host} tcp sport"
    changes = (filtered(f"{way}: {match} {end.port} meta length > {largest} drop"),)
    demand = Demand((at(node, end), SIZE), said=(r"mtu|tunnel|middlebox|vpn",), never=(NOT_KAFKA, CLIENT_SETTINGS))
    return World(f"{way} above {largest} at {end}", by("TLS", some(dice, others(node))), demand, changes)


@kind()
def certificates_vanish(dice: Dice) -> World:
    """The handshake of TLS gets no further than the broker's certificates."""
    largest = dice.choice([600, 800, 900])
    rule = f"out: tcp sport 9101 meta length > {largest} drop"
    demand = Demand(
        (SIZE,), said=(r"mtu|tunnel|middlebox|vpn",), fix=("mtu",), never=(NOT_KAFKA, CLIENT_SETTINGS, "thread dump")
    )
    return World(rule, by("TLS", some(dice)), demand, (filtered(rule),))
