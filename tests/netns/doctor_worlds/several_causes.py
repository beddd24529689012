"""Two and more independent causes at once: all of them are named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.kinds import (
    ADD_LISTENER,
    CLIENT_SETTINGS,
    NO_FRONTS,
    NOT_KAFKA,
    RIGHT,
    Dice,
    World,
    around,
    at,
    by,
    by_front,
    dns,
    filtered,
    forwards,
    kind,
    mapped,
    name,
    others,
    rule,
    some,
)
from tests.netns.doctor_worlds.layout import (
    CONTROLLER,
    GATEWAY,
    NODES,
    OTHER_BROKER,
    advertised,
    bound,
    door,
    front,
    gate,
    host,
    inside,
)
from tests.netns.doctor_worlds.middlebox import HTTP, SSH, Forward
from tests.netns.doctor_worlds.report import Client

from brokernat.address import Endpoint

FAULTS: dict[str, Callable[[int], Forward | None]] = {
    "refused": lambda node: None,
    "silent": lambda node: Forward(silent=True),
    "cut": lambda node: Forward((bound(node),), cut_after=8),
    "closed": lambda node: Forward(close_at_request=True),
    "HTTP": lambda node: Forward(answers=HTTP),
    "SSH": lambda node: Forward(greets=SSH),
    "TLS": lambda node: Forward((bound(node),), tls=True),
    "login": lambda node: Forward((inside("LOGIN", node),)),
    "cluster": lambda node: Forward((OTHER_BROKER,)),
    "controller": lambda node: Forward((CONTROLLER,)),
}


@kind()
def two_faults_at_two_nodes(dice: Dice) -> World:
    (one, two), (here, there) = dice.sample(NODES, 2), dice.sample(sorted(FAULTS), 2)
    changed = {front(one): FAULTS[here](one), front(two): FAULTS[there](two)}
    demand = Demand((at(one), at(two)), never=(CLIENT_SETTINGS, ADD_LISTENER, "use the port of a kafka"))
    return World(f"node {one} {here}, node {two} {there}", around(dice, one, two), demand, (forwards(changed),))


@kind()
def a_hosts_line_and_a_firewall(dice: Dice) -> World:
    one, two, other = dice.sample(NODES, 3)
    line = f"{host(other)} {name(one)}"
    rule = f"in: ip daddr {host(two)} tcp dport 9098 drop"
    demand = Demand(
        ("hosts", at(two, advertised("NAMED", two))),
        said=(line, "firewall|packet filter|dropped|drops"),
        never=(CLIENT_SETTINGS,),
    )
    return World(
        f"{line}, {rule}", by("NAMED", some(dice, others(one, two))), demand, (dns(None, line), filtered(rule))
    )


@kind()
def mixed_listeners_and_a_fault(dice: Dice) -> World:
    one, two, odd = dice.sample(NODES, 3)
    fault = dice.choice(sorted(FAULTS))
    client = Client((front(one), door("PUBLIC", two)))
    demand = Demand(
        ("listener", at(odd)), codes=frozenset({"BN502"}), never=(CLIENT_SETTINGS, "use the port of a kafka")
    )
    return World(f"node {odd} {fault}", client, demand, (forwards({front(odd): FAULTS[fault](odd)}),))


@kind(gate=False)
def three_faults_at_three_nodes(dice: Dice) -> World:
    nodes, faults = dice.sample(NODES, 3), dice.sample(sorted(FAULTS), 3)
    changed = {front(node): FAULTS[fault](node) for node, fault in zip(nodes, faults, strict=True)}
    demand = Demand(tuple(map(at, nodes)), never=(CLIENT_SETTINGS, ADD_LISTENER, "use the port of a kafka"))
    return World(f"nodes {nodes} {faults}", by_front(dice, others(*nodes)), demand, (forwards(changed),))


@kind(gate=False)
def the_same_fault_at_some_nodes(dice: Dice) -> World:
    nodes, fault = dice.sample(NODES, dice.choice([2, 3])), dice.choice(sorted(FAULTS))
    changed = {front(node): FAULTS[fault](node) for node in nodes}
    demand = Demand(tuple(map(at, nodes)), never=(CLIENT_SETTINGS, "use the port of a kafka"))
    return World(f"nodes {nodes} {fault}", by_front(dice, others(*nodes)), demand, (forwards(changed),))


@kind(gate=False)
def a_wrong_password_and_a_fault(dice: Dice) -> World:
    """Without a login nobody tells of the nodes, so the other fault is that of a bootstrap server."""
    node = dice.choice(NODES)
    end = door("LOGIN", node)
    client = by("LOGIN", dice.sample(NODES, 4))
    wrong = tuple((key, "mistyped" if key == "sasl.password" else value) for key, value in client.properties)
    demand = Demand(("password|credential|login",), said=(rf"{end}[^\n]*refused",), never=(ADD_LISTENER, NOT_KAFKA))
    change = filtered(f"in: ip daddr {host(node)} tcp dport {end.port} reject with tcp reset")
    return World(f"node {node} refused", replace(client, properties=wrong), demand, (change,))


@kind(gate=False)
def a_tunnel_and_a_fault(dice: Dice) -> World:
    node, fault = dice.choice(NODES), dice.choice(["refused", "HTTP", "TLS", "cluster"])
    client = by_front(dice, others(node))
    demand = Demand((at(node), r"\blarge|\bsize|mtu"), never=(CLIENT_SETTINGS, ADD_LISTENER))
    changes = (forwards({front(node): FAULTS[fault](node)}), filtered("out: oifname to-client meta length > 1400 drop"))
    return World(f"node {node} {fault}", client, demand, changes)


@kind(gate=False)
def a_slow_node_and_a_fault(dice: Dice) -> World:
    slow, node = dice.sample(NODES, 2)
    fault = dice.choice(["refused", "HTTP", "TLS", "login", "cluster"])
    changed = {front(slow): Forward((bound(slow),), delay=1.5), front(node): FAULTS[fault](node)}
    demand = Demand(
        (at(node),), said=(rf"(node {slow}|{host(slow)})[^\n]*(slow|latency|\d s\b)",), never=(CLIENT_SETTINGS,)
    )
    return World(f"node {slow} slow, node {node} {fault}", by_front(dice, others(node)), demand, (forwards(changed),))


@kind(gate=False, chance=True)
def resets_and_a_fault(dice: Dice) -> World:
    node, fault = dice.choice(NODES), dice.choice(["refused", "HTTP", "cluster", "login"])
    flaky = {front(each): Forward((bound(each),), reset_share=0.2) for each in others(node)}
    demand = Demand((at(node),), said=(r"reset|\d of \d",), never=(CLIENT_SETTINGS, ADD_LISTENER))
    client = Client(tuple(map(front, others(node))))
    return World(f"node {node} {fault}", client, demand, (forwards({**flaky, front(node): FAULTS[fault](node)}),))


@kind(gate=False)
def a_dead_bootstrap_server_and_a_fault(dice: Dice) -> World:
    node, fault = dice.choice(NODES), dice.choice(sorted(FAULTS))
    dead = Endpoint(GATEWAY, 9300)
    client = Client((dead, *map(front, some(dice, others(node)))))
    demand = Demand((at(node),), said=(rf"{dead}[^\n]*refused",), never=(CLIENT_SETTINGS, ADD_LISTENER))
    return World(f"{dead}, node {node} {fault}", client, demand, (forwards({front(node): FAULTS[fault](node)}),))


@kind(gate=False)
def map_swapped_and_a_dead_gate(dice: Dice) -> World:
    one, two, dead, last = dice.sample(NODES, 4)
    leads = {**RIGHT, front(one): gate(two), front(two): gate(one), front(dead): Endpoint(GATEWAY, 9700 + dead)}
    demand = Demand((rf"\b{one}\b", rf"\b{two}\b", at(dead)), fix=(rule(front(one), gate(one)),), never=(ADD_LISTENER,))
    return World(f"{one} and {two}, {dead} dead", mapped(dice, leads, [gate(last)]), demand, (forwards(NO_FRONTS),))


@kind(gate=False)
def map_with_a_balancer_and_a_chain(dice: Dice) -> World:
    balanced, chained, node = dice.sample(NODES, 3)
    balancer, middle = Endpoint(GATEWAY, 9300), Endpoint("10.77.0.1", 9092)
    leads = {**RIGHT, front(balanced): balancer, front(chained): middle, middle: gate(chained)}
    changes = (forwards({**NO_FRONTS, balancer: Forward(tuple(map(bound, NODES)))}),)
    demand = Demand(
        (at(balanced), r"chain|once|again|another rule|not .*twice"), fix=(rule(front(chained), gate(chained)),)
    )
    return World(f"{balanced} balanced, {chained} chained", mapped(dice, leads, [gate(node)]), demand, changes)


@kind(gate=False)
def a_hosts_line_an_unknown_name_and_a_refusal(dice: Dice) -> World:
    one, two, three, other = dice.sample(NODES, 4)
    line = f"{host(other)} {name(one)}"
    change = filtered(f"in: ip daddr {host(three)} tcp dport 9098 reject with tcp reset")
    demand = Demand(
        ("hosts", at(two, advertised("NAMED", two)), at(three, advertised("NAMED", three))),
        said=(line, "resolve|unknown", "refused"),
        never=(CLIENT_SETTINGS,),
    )
    client = by("NAMED", [other])
    return World(f"{line}, no {name(two)}, node {three}", client, demand, (dns({name(two): ((),)}, line), change))


@kind(gate=False)
def mixed_listeners_and_a_hosts_line(dice: Dice) -> World:
    one, two, three, other = dice.sample(NODES, 4)
    line = f"{host(other)} {name(three)}"
    client = Client((advertised("NAMED", one), door("PUBLIC", two)))
    return World(
        line, client, Demand(("listener", "hosts"), said=(line,), never=(CLIENT_SETTINGS,)), (dns(None, line),)
    )


def _fault_behind(dice: Dice, listener: str) -> World:
    """One node's port of a listener with TLS or login leads to a fault."""
    node, fault = dice.choice(NODES), dice.choice(sorted({*FAULTS} - {listener.lower()}))
    end, entry = door(listener, node), Endpoint(GATEWAY, 9300)
    changes = (
        forwards({entry: FAULTS[fault](node)}),
        filtered(f"nat: ip daddr {host(node)} tcp dport {end.port} dnat to {entry}"),
    )
    demand = Demand(
        (at(node, end), *({"HTTP", "SSH"} & {fault})),
        never=(CLIENT_SETTINGS, ADD_LISTENER, "use the port of a kafka"),
    )
    return World(f"node {node} {fault}", by(listener, some(dice, others(node))), demand, changes)


@kind(gate=False)
def a_fault_for_one_of_tls(dice: Dice) -> World:
    return _fault_behind(dice, "TLS")


@kind(gate=False)
def a_fault_for_one_of_login(dice: Dice) -> World:
    return _fault_behind(dice, "LOGIN")


@kind(gate=False)
def lacks_the_listener_and_a_firewall(dice: Dice) -> World:
    node = dice.choice(others(3))
    rule = f"in: ip daddr {host(node)} tcp dport 9094 drop"
    demand = Demand(
        (r"\b3\b", "PART|listener", at(node, door("PART", node))),
        said=("firewall|packet filter|dropped",),
        never=(CLIENT_SETTINGS,),
    )
    return World(rule, by("PART", others(3, node)), demand, (filtered(rule),))


@kind(gate=False)
def a_fault_and_little_time(dice: Dice) -> World:
    """What could not be found out in time is no all-clear."""
    node, fault = dice.choice(NODES), dice.choice(sorted({*FAULTS, "drop"}))
    seconds = dice.choice(["2", "3", "5"])
    change = (
        filtered(f"in: ip daddr {host(node)} tcp dport 9092 drop")
        if fault == "drop"
        else forwards({front(node): FAULTS[fault](node)})
    )
    client = replace(by_front(dice, others(node)), more=("--timeout", seconds))
    demand = Demand((at(node),), never=(CLIENT_SETTINGS, ADD_LISTENER, "use the port of a kafka"))
    return World(f"node {node} {fault} in {seconds} s", client, demand, (change,))


@kind(gate=False)
def a_coordinator_behind_a_fault(dice: Dice) -> World:
    """A group's coordinator is at the node that is not reached, or at another one."""
    node, fault = dice.choice(NODES), dice.choice(sorted(FAULTS))
    groups = tuple(word for number in range(3) for word in ("--group", f"billing-{number}"))
    client = replace(by_front(dice, others(node)), more=groups)
    demand = Demand((at(node),), never=(CLIENT_SETTINGS, ADD_LISTENER, "use the port of a kafka"))
    return World(f"node {node} {fault}", client, demand, (forwards({front(node): FAULTS[fault](node)}),))
