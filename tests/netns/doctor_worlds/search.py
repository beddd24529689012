"""What `discover` must and must not write as proven."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.kinds import LOGINS, NO_FRONTS, Dice, World, filtered, forwards, kind, others, some
from tests.netns.doctor_worlds.layout import (
    GATEWAY,
    GATEWAY_6,
    NODES,
    OTHER_BROKER,
    bound,
    door,
    front,
    gate,
    host,
    inside,
)
from tests.netns.doctor_worlds.middlebox import HTTP, Forward
from tests.netns.doctor_worlds.report import Client

from brokernat.address import Endpoint


def searched(servers: Iterable[Endpoint], candidates: Iterable[Endpoint], *more: str) -> Client:
    words = ("--candidates", ",".join(map(str, candidates)), *more)
    return Client(tuple(servers), more=words, command="discover")


def rules_of(nodes: Iterable[int], entry: Callable[[int], Endpoint] = gate) -> frozenset[str]:
    return frozenset(f"{front(node)}={entry(node)}" for node in nodes)


def gate_6(node: int) -> Endpoint:
    return Endpoint(GATEWAY_6, gate(node).port)


@kind()
def discover_all(dice: Dice) -> World:
    nodes = some(dice)
    demand = Demand(rules=rules_of(NODES), whole=True)
    return World(f"by {nodes}", searched(map(gate, nodes), map(gate, NODES)), demand, (forwards(NO_FRONTS),))


@kind(chance=True)
def discover_a_balancer(dice: Dice) -> World:
    over, pick, port = (
        dice.sample(NODES, dice.choice([2, 2, 3, 4])),
        dice.choice(["turns", "random", "source", "least"]),
        9300,
    )
    balancer, left = Endpoint(GATEWAY, port), others(*over)
    client = searched([*map(gate, left), balancer], [*map(gate, left), balancer])
    demand = Demand(rules=rules_of(left), said=("balancer|several nodes|different nodes|more than one|by turns",))
    changes = (forwards({**NO_FRONTS, balancer: Forward(tuple(map(bound, over)), pick=pick)}),)
    return World(f"{pick} over {over}", client, demand, changes)


@kind()
def discover_a_wrong_listener(dice: Dice) -> World:
    wrong = some(dice, dice.sample(NODES, 2))
    left = others(*wrong)
    client = searched(map(gate, left), [*map(gate, left), *(door("PUBLIC", node) for node in wrong)])
    demand = Demand(rules=rules_of(left), said=("listener",))
    return World(f"PUBLIC of {wrong}", client, demand, (forwards(NO_FRONTS),))


@kind(slow=True)
def discover_with_slow_answers(dice: Dice) -> World:
    delay = dice.choice([2.0, 3.0])
    slow = {gate(node): Forward((bound(node),), delay=delay) for node in NODES}
    demand = Demand(rules=rules_of(NODES), never=("no candidate leads",), said=(r"not known|time|slow",))
    return World(
        f"{delay} s", searched(map(gate, some(dice)), map(gate, NODES)), demand, (forwards({**NO_FRONTS, **slow}),)
    )


@kind(gate=False, chance=True)
def discover_two_balancers(dice: Dice) -> World:
    over, pick = dice.sample(NODES, 4), dice.choice(["turns", "random", "least"])
    balancers = {Endpoint(GATEWAY, 9300): over[:2], Endpoint(GATEWAY, 9301): over[2:]}
    changed = {end: Forward(tuple(map(bound, nodes)), pick=pick) for end, nodes in balancers.items()}
    client = searched([*balancers], [*balancers])
    return World(f"{pick} over {over}", client, Demand(rules=frozenset()), (forwards({**NO_FRONTS, **changed}),))


@kind(gate=False)
def discover_among_others(dice: Dice) -> World:
    """Candidates that are no broker of this cluster, and a node that has no candidate."""
    missing = dice.choice(NODES)
    left = others(missing)
    odd = {
        Endpoint(GATEWAY, 9300): Forward((OTHER_BROKER,)),
        Endpoint(GATEWAY, 9301): Forward(answers=HTTP),
        Endpoint(GATEWAY, 9302): Forward((bound(missing),), tls=True),
        Endpoint(GATEWAY, 9303): Forward((Endpoint(GATEWAY, 1),)),
    }
    client = searched(map(gate, left), [*odd, *map(gate, left)])
    demand = Demand(rules=rules_of(left), whole=True, said=(re.escape(str(front(missing))),))
    return World(f"none for {missing}", client, demand, (forwards({**NO_FRONTS, **odd}),))


@kind(gate=False)
def discover_by_ipv6(dice: Dice) -> World:
    sixes = {gate_6(node): Forward((bound(node),)) for node in NODES}
    demand = Demand(rules=rules_of(NODES, gate_6), whole=True)
    client = searched(map(gate_6, some(dice)), dice.sample([*sixes], 4))
    return World("[fd20:1::40]", client, demand, (forwards({**NO_FRONTS, **sixes}),))


@kind(gate=False)
def discover_with_a_silent_candidate(dice: Dice) -> World:
    quiet = dice.choice(NODES)
    left = others(quiet)
    client = searched(map(gate, left), map(gate, NODES))
    demand = Demand(rules=rules_of(left), whole=True, said=(re.escape(str(gate(quiet))),))
    return World(f"node {quiet}", client, demand, (forwards({**NO_FRONTS, gate(quiet): Forward(silent=True)}),))


@kind(gate=False)
def discover_shifted_ports(dice: Dice) -> World:
    """The gateway's ports lead to other nodes than their order makes one believe."""
    turned = dice.sample(NODES, 4)
    leads = dict(zip(NODES, turned, strict=True))
    changed = {gate(port): Forward((bound(node),)) for port, node in leads.items()}
    demand = Demand(rules=frozenset(f"{front(node)}={gate(port)}" for port, node in leads.items()), whole=True)
    return World(
        f"{leads}", searched(map(gate, some(dice)), map(gate, NODES)), demand, (forwards({**NO_FRONTS, **changed}),)
    )


@kind(gate=False, chance=True)
def discover_under_resets(dice: Dice) -> World:
    changed = {gate(node): Forward((bound(node),), reset_share=0.2) for node in NODES}
    client = searched(map(gate, NODES), map(gate, NODES))
    return World("20 %", client, Demand(rules=rules_of(NODES)), (forwards({**NO_FRONTS, **changed}),))


@kind(gate=False)
def discover_with_a_login(dice: Dice) -> World:
    entries = {node: Endpoint(GATEWAY, 9310 + node) for node in NODES}
    changed = {end: Forward((inside("LOGIN", node),)) for node, end in entries.items()}
    hidden = (
        "in: iifname to-client ip daddr { " + ", ".join(map(host, NODES)) + " } tcp dport 9100 reject with tcp reset"
    )
    demand = Demand(rules=frozenset(f"{door('LOGIN', node)}={end}" for node, end in entries.items()), whole=True)
    client = searched([entries[node] for node in some(dice)], entries.values(), "--send-login")
    client = replace(client, properties=LOGINS["LOGIN"])
    return World("LOGIN", client, demand, (forwards(dict(changed)), filtered(hidden)))


@kind(gate=False, chance=True)
def discover_a_balancer_beside_the_right_ones(dice: Dice) -> World:
    balancer, pick = Endpoint(GATEWAY, 9300), dice.choice(["turns", "random", "source", "least"])
    over = tuple(map(bound, dice.sample(NODES, dice.choice([2, 3, 4]))))
    candidates = dice.sample([balancer, *map(gate, NODES)], 5)
    # One that leads this client to the same node each time cannot be told from that node's own port.
    demand = Demand(rules=rules_of(NODES), whole=pick != "source")
    changes = (forwards({**NO_FRONTS, balancer: Forward(over, pick=pick)}),)
    return World(f"{pick} over {over}", searched([balancer], candidates), demand, changes)


@kind(slow=True, gate=False)
def discover_with_a_broker_down(dice: Dice) -> World:
    down = dice.choice(NODES)
    left = others(down)
    demand = Demand(rules=rules_of(left), whole=True)
    changes = (forwards(NO_FRONTS), lambda site: site.ended(down))
    return World(f"node {down} down", searched(map(gate, left), map(gate, NODES)), demand, changes)
