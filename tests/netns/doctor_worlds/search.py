"""What `discover` must and must not write as proven."""

from __future__ import annotations

from collections.abc import Iterable

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.kinds import NO_FRONTS, Dice, World, forwards, kind, others, some
from tests.netns.doctor_worlds.layout import GATEWAY, NODES, bound, door, front, gate
from tests.netns.doctor_worlds.middlebox import Forward
from tests.netns.doctor_worlds.report import Client

from brokernat.address import Endpoint


def searched(servers: Iterable[Endpoint], candidates: Iterable[Endpoint], *more: str) -> Client:
    words = ("--candidates", ",".join(map(str, candidates)), *more)
    return Client(tuple(servers), more=words, command="discover")


def rules_of(nodes: Iterable[int]) -> frozenset[str]:
    return frozenset(f"{front(node)}={gate(node)}" for node in nodes)


@kind()
def discover_all(dice: Dice) -> World:
    nodes = some(dice)
    demand = Demand(rules=rules_of(NODES), whole=True)
    return World(f"by {nodes}", searched(map(gate, nodes), map(gate, NODES)), demand, (forwards(NO_FRONTS),))


@kind(chance=True)
def discover_a_balancer(dice: Dice) -> World:
    over, pick, port = dice.sample(NODES, dice.choice([2, 2, 3, 4])), dice.choice(["turns", "random", "source"]), 9300
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
