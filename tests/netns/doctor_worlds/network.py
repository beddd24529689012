"""What stands between the client and the brokers, at one of them and at all; and two faults at once."""

from __future__ import annotations

from collections.abc import Callable

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.kinds import (
    ADD_LISTENER,
    CLIENT_SETTINGS,
    NOT_KAFKA,
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
    name,
    one_odd,
    others,
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
    host,
    inside,
)
from tests.netns.doctor_worlds.middlebox import HTTP, SSH, Forward
from tests.netns.doctor_worlds.report import Client

from brokernat.address import Endpoint


@kind()
def one_refused(dice: Dice) -> World:
    node = dice.choice(NODES)
    return World(
        f"node {node}",
        around(dice, node),
        one_odd(node, said=("refus",), fix=("forward|proxy|gateway|listens|runs",)),
        (forwards({front(node): None}),),
    )


@kind()
def firewall_drops_one(dice: Dice) -> World:
    node = dice.choice(NODES)
    rule = dice.choice(["tcp dport 9092 drop", "tcp dport {9092, 9093} drop", "tcp dport 9000-9200 drop"])
    demand = one_odd(node, said=("firewall|packet filter|dropped|drops",), never=(NOT_KAFKA,))
    return World(f"node {node}, {rule}", around(dice, node), demand, (filtered(f"in: ip daddr {host(node)} {rule}"),))


@kind()
def firewall_rejects_one(dice: Dice) -> World:
    node = dice.choice(NODES)
    how = dice.choice(
        ["reject with icmp admin-prohibited", "reject with icmp host-prohibited", "reject with icmp host-unreachable"]
    )
    rule = f"in: ip daddr {host(node)} tcp dport 9092 {how}"
    demand = one_odd(node, said=("firewall|packet filter|rejected|rejects|prohibited",), never=(NOT_KAFKA,))
    return World(f"node {node}, {how}", around(dice, node), demand, (filtered(rule),))


@kind(slow=True)
def data_dropped_after_the_handshake(dice: Dice) -> World:
    node = dice.choice(NODES)
    rule = f"in: ip daddr {host(node)} tcp dport 9092 tcp flags & psh == psh drop"
    demand = one_odd(node, r"silent|no answer|not answer|nothing|unanswered|hung|hang|timed out", never=(NOT_KAFKA,))
    return World(f"node {node}", around(dice, node), demand, (filtered(rule),))


@kind(slow=True)
def silent_peer(dice: Dice) -> World:
    quiet = some(dice, dice.sample(NODES, 2))
    demand = Demand(tuple(map(at, quiet)), never=(NOT_KAFKA, CLIENT_SETTINGS))
    return World(
        f"nodes {quiet}",
        around(dice, *quiet),
        demand,
        (forwards({front(node): Forward(silent=True) for node in quiet}),),
    )


@kind()
def hung_broker(dice: Dice) -> World:
    node = dice.choice(NODES)
    client = by("PUBLIC", some(dice, dice.choice([NODES, others(node)])))
    demand = Demand(
        (rf"\b{node}\b|{host(node)}:9093",),
        never=(NOT_KAFKA, CLIENT_SETTINGS, ADD_LISTENER),
        said=(r"silent|no answer|not answer|nothing|hung|hang|stuck|timed out",),
    )
    return World(f"node {node}", client, demand, (lambda site: site.stopped(node),))


@kind(slow=True)
def hung_and_fenced(dice: Dice) -> World:
    node = dice.choice(NODES)
    client = by("PUBLIC", [node, *some(dice, others(node))])
    demand = Demand(
        harmless=True,
        said=(rf"\b{node}\b|{host(node)}:9093", r"silent|no answer|not answer|nothing|hung|hang|stuck|timed out"),
        never=(NOT_KAFKA, ADD_LISTENER),
    )
    return World(f"node {node}", client, demand, (lambda site: site.stopped(node), lambda site: site.fenced(node)))


@kind()
def cut_after_the_header(dice: Dice) -> World:
    node, after = dice.choice(NODES), dice.choice([4, 8, 8, 9, 10, 20, 60])
    demand = one_odd(
        node,
        r"\bcuts?\b|clos|ends",
        said=(r"path|proxy|balancer|middlebox|between|gateway|forward|firewall",),
        never=(NOT_KAFKA,),
    )
    return World(
        f"node {node} after {after} bytes",
        around(dice, node),
        demand,
        (forwards({front(node): Forward((bound(node),), cut_after=after)}),),
    )


@kind()
def closed_at_the_first_request(dice: Dice) -> World:
    node = dice.choice(NODES)
    fault = dice.choice([Forward(close_at_request=True), Forward((bound(node),), reset_share=1.0)])
    demand = one_odd(
        node,
        r"clos|reset",
        said=(r"path|proxy|balancer|middlebox|between|gateway|forward|firewall",),
        never=(NOT_KAFKA,),
    )
    return World(
        f"node {node}, {'reset' if fault.to else 'closed'}",
        around(dice, node),
        demand,
        (forwards({front(node): fault}),),
    )


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


@kind()
def another_server(dice: Dice) -> World:
    node = dice.choice(NODES)
    what, fault = dice.choice([("HTTP", Forward(answers=HTTP)), ("SSH", Forward(greets=SSH))])
    demand = one_odd(node, what, fix=("forward|proxy|port",), never=("give the port of a kafka",))
    return World(f"{what} for node {node}", around(dice, node), demand, (forwards({front(node): fault}),))


@kind()
def controller_port(dice: Dice) -> World:
    node = dice.choice(NODES)
    demand = one_odd(node, "controller", fix=("forward|proxy|port",), never=("give the port of a kafka",))
    return World(f"node {node}", around(dice, node), demand, (forwards({front(node): Forward((CONTROLLER,))}),))


@kind()
def another_cluster(dice: Dice) -> World:
    node = dice.choice(NODES)
    demand = one_odd(node, "cluster", fix=("forward|proxy|port",))
    return World(f"node {node}", around(dice, node), demand, (forwards({front(node): Forward((OTHER_BROKER,))}),))


@kind()
def tls_proxy_before_one(dice: Dice) -> World:
    node = dice.choice(NODES)
    fault = Forward((bound(node),), tls=True)
    demand = one_odd(node, "TLS", fix=("proxy|forward|terminat|listener",))
    return World(f"node {node}", around(dice, node), demand, (forwards({front(node): fault}),))


@kind()
def a_plain_listener_for_one_of_tls(dice: Dice) -> World:
    node = dice.choice(NODES)
    end = door("TLS", node)
    rule = f"nat: ip daddr {host(node)} tcp dport {end.port} dnat to {door('PUBLIC', node)}"
    demand = Demand((at(node, end), "TLS"), fix=("proxy|forward|listener",), never=(CLIENT_SETTINGS,))
    return World(f"node {node}", by("TLS", some(dice, others(node))), demand, (filtered(rule),))


@kind()
def forward_to_a_login(dice: Dice) -> World:
    node = dice.choice(NODES)
    demand = one_odd(node, "login|SASL", fix=("forward|proxy|port",))
    return World(
        f"node {node}",
        around(dice, node),
        demand,
        (forwards({front(node): Forward((inside("LOGIN", node),))}),),
    )


@kind()
def forward_to_another_node(dice: Dice) -> World:
    one, two = dice.sample(NODES, 2)
    both = dice.random() < 0.5
    changed: dict[Endpoint, Forward | None] = {front(one): Forward((bound(two),))}
    if both:
        changed[front(two)] = Forward((bound(one),))
    demand = Demand((at(one), rf"\b{two}\b"), codes=frozenset({"BN601"}), fix=("forward",), never=(CLIENT_SETTINGS,))
    return World(
        f"{one} leads to {two}{', and back' if both else ''}",
        around(dice, one, two),
        demand,
        (forwards(changed),),
    )


@kind()
def gateway_up_and_brokers_down(dice: Dice) -> World:
    faulty = dice.choice([list(NODES), [dice.choice(NODES)]])
    dead = Endpoint(GATEWAY, 1)
    changed: dict[Endpoint, Forward | None] = {front(node): Forward((dead,)) for node in faulty}
    client = by_front(dice, NODES if len(faulty) > 1 else others(*faulty))
    demand = Demand(
        (r"behind|gateway|forward|proxy|balancer|clos", *(map(at, faulty) if len(faulty) == 1 else ())),
        never=(NOT_KAFKA, CLIENT_SETTINGS),
    )
    return World(f"nodes {faulty}", client, demand, (forwards(changed),))


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
    demand = Demand((at(one), at(two)), never=(CLIENT_SETTINGS, ADD_LISTENER, "give the port of a kafka"))
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
        ("listener", at(odd)), codes=frozenset({"BN502"}), never=(CLIENT_SETTINGS, "give the port of a kafka")
    )
    return World(f"node {odd} {fault}", client, demand, (forwards({front(odd): FAULTS[fault](odd)}),))
