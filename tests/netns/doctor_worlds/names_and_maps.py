"""Names that lead elsewhere, and maps that are wrong."""

from __future__ import annotations

import re

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.kinds import (
    ADD_LISTENER,
    CLIENT_SETTINGS,
    NO_FRONTS,
    RIGHT,
    Change,
    Dice,
    World,
    at,
    by,
    dns,
    forwards,
    kind,
    mapped,
    name,
    names,
    others,
    rule,
    some,
)
from tests.netns.doctor_worlds.layout import GATEWAY, NODES, NOWHERE, advertised, bound, door, front, gate, host
from tests.netns.doctor_worlds.middlebox import Forward

from brokernat.address import Endpoint


@kind()
def hosts_line_to_another_broker(dice: Dice) -> World:
    node, other = dice.sample(NODES, 2)
    line = f"{host(other)} {name(node)}"
    demand = Demand((r"hosts",), said=(line,), fix=("hosts",), never=("correct the forward", CLIENT_SETTINGS))
    return World(line, by("NAMED", some(dice, others(node))), demand, (dns(None, line),))


@kind()
def hosts_line_to_a_dead_address(dice: Dice) -> World:
    node, dead = dice.choice(NODES), dice.choice([NOWHERE, "127.0.1.1", "127.0.0.1", "10.99.99.99"])
    line = f"{dead} {name(node)}"
    demand = Demand((r"hosts",), said=(line,), fix=("hosts",), never=(ADD_LISTENER, CLIENT_SETTINGS))
    return World(line, by("NAMED", some(dice, others(node))), demand, (dns(None, line),))


@kind(slow=True)
def a_name_with_a_dead_address(dice: Dice) -> World:
    node = dice.choice(NODES)
    ends = [host(node), NOWHERE]
    dice.shuffle(ends)
    demand = Demand(harmless=True, said=(NOWHERE, "dns|name server|record|resolve"), never=(CLIENT_SETTINGS,))
    return World(
        f"{name(node)} is {ends}", by("NAMED", some(dice, others(node))), demand, (dns({name(node): (tuple(ends),)}),)
    )


@kind()
def a_name_of_two_brokers(dice: Dice) -> World:
    node, other = dice.sample(NODES, 2)
    answers = dice.choice([((host(node), host(other)),), ((host(node),), (host(other),))])
    demand = Demand(
        (name(node), "dns|record|address|name server|resolve"),
        said=(rf"{host(other)}[^\n]*\b{other}\b|node {other}[^\n]*{host(other)}",),
        never=(CLIENT_SETTINGS,),
    )
    return World(
        f"{name(node)} is {answers}", by("NAMED", some(dice, others(node))), demand, (dns({name(node): answers}),)
    )


@kind()
def a_name_that_is_unknown(dice: Dice) -> World:
    node = dice.choice(NODES)
    demand = Demand(
        (at(node, advertised("NAMED", node)),),
        said=("resolve|unknown",),
        never=("resolv.conf|name server (is|does)", CLIENT_SETTINGS),
    )
    return World(name(node), by("NAMED", some(dice, others(node))), demand, (dns({name(node): ((),)}),))


@kind(slow=True)
def dead_name_server(dice: Dice) -> World:
    how = dice.choice(["refuses", "is silent"])
    changes: tuple[Change, ...] = (names(servers=["172.20.1.54" if how == "is silent" else GATEWAY]),)
    demand = Demand((r"name server|resolver|dns",), never=(ADD_LISTENER,))
    return World(how, by("NAMED", some(dice)), demand, changes)


@kind()
def map_swapped(dice: Dice) -> World:
    one, two = dice.sample(NODES, 2)
    leads = {**RIGHT, front(one): gate(two), front(two): gate(one)}
    return World(
        f"{one} and {two}",
        mapped(dice, leads),
        Demand((rf"\b{one}\b", rf"\b{two}\b"), codes=frozenset({"BN601"}), fix=(rule(front(one), gate(one)),)),
        (forwards(NO_FRONTS),),
    )


@kind()
def map_reversed(dice: Dice) -> World:
    turned = dice.choice([list(NODES), some(dice, dice.sample(NODES, 2))])
    leads = {
        (gate(node) if node in turned else front(node)): (front(node) if node in turned else gate(node))
        for node in NODES
    }
    demand = Demand(
        (r"sides|revers|exchang|wrong way|turned|swap",),
        fix=(rule(front(turned[0]), gate(turned[0])),),
        never=("correct `?bootstrap_servers",),
    )
    return World(f"rules of {turned}", mapped(dice, leads), demand, (forwards(NO_FRONTS),))


@kind()
def map_chained(dice: Dice) -> World:
    node, other = dice.sample(NODES, 2)
    middle = Endpoint("10.77.0.1", 9092)
    leads = {**RIGHT, front(node): middle, middle: gate(node)}
    demand = Demand((r"chain|once|again|another rule|not .*twice",), fix=(rule(front(node), gate(node)),))
    return World(f"node {node}", mapped(dice, leads, [gate(other)]), demand, (forwards(NO_FRONTS),))


@kind()
def map_of_another_cluster(dice: Dice) -> World:
    leads = {Endpoint(f"192.0.2.{20 + node}", 9092): gate(node) for node in NODES}
    return World(
        "192.0.2.x",
        mapped(dice, leads),
        Demand((r"map|rule",), codes=frozenset({"BN609", "BN605"})),
        (forwards(NO_FRONTS),),
    )


@kind()
def map_with_wrong_ports(dice: Dice) -> World:
    wrong = some(dice)
    leads = {**RIGHT, **{front(node): Endpoint(GATEWAY, 9700 + node) for node in wrong}}
    servers = [gate(node) for node in some(dice)]
    demand = Demand((at(wrong[0]) if len(wrong) == 1 else r"node|map|rule", "refus|map|rule"), never=(ADD_LISTENER,))
    return World(f"nodes {wrong}", mapped(dice, leads, servers), demand, (forwards(NO_FRONTS),))


@kind()
def map_that_rewrites_the_bootstrap_servers(dice: Dice) -> World:
    node = dice.choice(NODES)
    dead = Endpoint(GATEWAY, 9700 + node)
    servers = [front(node), *map(front, some(dice, others(node)))]
    demand = Demand((at(node), "map|rule|dialled"), said=(f"dialled at {re.escape(str(dead))}",), never=(ADD_LISTENER,))
    return World(
        f"node {node} to {dead}", mapped(dice, {**RIGHT, front(node): dead}, servers), demand, (forwards(NO_FRONTS),)
    )


@kind()
def map_to_one_node(dice: Dice) -> World:
    node = dice.choice(NODES)
    leads = dict.fromkeys(RIGHT, gate(node))
    return World(
        f"all to {node}",
        mapped(dice, leads, [gate(node)]),
        Demand((r"node", rf"\b{node}\b"), codes=frozenset({"BN601", "BN607"})),
        (forwards(NO_FRONTS),),
    )


@kind()
def map_with_a_balancer_and_a_wrong_listener(dice: Dice) -> World:
    balanced, wrong = dice.sample(NODES, 2)
    balancer = Endpoint(GATEWAY, 9300)
    leads = {**RIGHT, front(balanced): balancer, front(wrong): door("PUBLIC", wrong)}
    over = tuple(map(bound, dice.sample(NODES, dice.choice([2, 3, 4]))))
    demand = Demand((at(balanced), at(wrong), "listener"), never=(CLIENT_SETTINGS,))
    return World(
        f"node {balanced} balanced, node {wrong} by PUBLIC",
        mapped(dice, leads, [gate(others(balanced)[0])]),
        demand,
        (forwards({**NO_FRONTS, balancer: Forward(over)}),),
    )
