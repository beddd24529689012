"""What stops no client, and must not be accused."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.kinds import (
    NO_FRONTS,
    NOT_KAFKA,
    RIGHT,
    Dice,
    World,
    by,
    by_front,
    dns,
    filtered,
    forwards,
    kind,
    mapped,
    others,
    some,
)
from tests.netns.doctor_worlds.layout import (
    DOMAIN,
    GATEWAY,
    NODES,
    NOWHERE,
    NOWHERE_6,
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
from tests.netns.doctor_worlds.site import Site

from brokernat.address import Endpoint


@kind()
def healthy(dice: Dice) -> World:
    listener = dice.choice(["FRONT", "PUBLIC", "LOGIN", "TLS", "NAMED", "MAP"])
    nodes = some(dice)
    if listener == "FRONT":
        client = Client(tuple(map(front, nodes)))
    elif listener == "MAP":
        client = mapped(dice, RIGHT)
    else:
        client = by(listener, nodes, names=listener == "NAMED")
    return World(listener, client, Demand(harmless=True), (dns(),) if listener == "NAMED" else ())


@kind()
def a_password_in_the_clear(dice: Dice) -> World:
    said = ("clear|unencrypted|not encrypted|without tls|readable",)
    return World("PLAIN without TLS", by("LOGIN", some(dice)), Demand(harmless=True, said=said))


@kind(chance=True)
def healthy_under_resets(dice: Dice) -> World:
    share = dice.choice([0.2, 0.25, 0.3])
    flaky = {front(node): Forward((bound(node),), reset_share=share) for node in NODES}
    demand = Demand(harmless=True, said=(r"reset|\d of \d|closed",), never=(NOT_KAFKA,))
    return World(
        f"{share:.0%} of connections reset", Client(tuple(map(front, some(dice, least=2)))), demand, (forwards(flaky),)
    )


@kind(slow=True)
def healthy_and_slow(dice: Dice) -> World:
    delay = dice.choice([1.5, 2.0, 3.0])
    slow = {front(node): Forward((bound(node),), delay=delay) for node in NODES}
    client = replace(by_front(dice), more=dice.choice([(), ("--timeout", "60")]))
    return World(
        f"answers take {delay} s {client.more}",
        client,
        Demand(harmless=True, said=(r"slow|latency|takes? |\d(\.\d)? ?s\b",), never=(NOT_KAFKA,)),
        (forwards(slow),),
    )


@kind(chance=True, slow=True)
def healthy_under_packet_loss(dice: Dice) -> World:
    share = dice.choice([10, 20, 30])
    rule = f"tcp sport {{9092, 9093}} numgen random mod 100 < {share} drop"
    client = dice.choice([by_front(dice), by("PUBLIC", some(dice))])
    demand = Demand(harmless=True, said=(r"loss|lost|slow|latency|\d of \d|\d(\.\d)? s\b",), never=(NOT_KAFKA,))
    return World(f"{share} % loss", client, demand, (filtered(f"out: {rule}"),))


@kind()
def healthy_with_one_connection_per_address(dice: Dice) -> World:
    return World(
        "max.connections.per.ip=1",
        by("PUBLIC", some(dice)),
        Demand(harmless=True, never=(NOT_KAFKA,)),
        (Site.second_address,),
    )


@kind(chance=True)
def healthy_behind_a_balancer(dice: Dice) -> World:
    """The bootstrap server leads to any broker, as a balancer's address does; what is advertised is right."""
    pick, balancer = dice.choice(["turns", "random", "source", "least"]), Endpoint(GATEWAY, 9300)
    listener = dice.choice(["FRONT", "PUBLIC"])
    to = tuple(bound(node) if listener == "FRONT" else door(listener, node) for node in some(dice, least=2))
    return World(
        f"{pick} to {listener}",
        Client((balancer,)),
        Demand(harmless=True),
        (forwards({balancer: Forward(to, pick=pick)}),),
    )


@kind()
def one_bootstrap_server_is_dead(dice: Dice) -> World:
    node = dice.choice(NODES)
    dead, what = dice.choice(
        [
            (Endpoint(GATEWAY, 9300), "refused"),
            (Endpoint(NOWHERE, 9092), "no host"),
            (Endpoint(f"old-kafka.{DOMAIN}", 9092), "no name"),
        ]
    )
    servers = [dead, front(node), *map(front, some(dice, others(node)))]
    dice.shuffle(servers)
    return World(what, Client(tuple(servers)), Demand(harmless=True, said=(re.escape(str(dead)),)), (dns(),))


@kind(gate=False)
def healthy_by_a_name_of_all(dice: Dice) -> World:
    """One bootstrap name that has the addresses of some brokers, as a round robin of DNS or a headless service."""
    alias, nodes = Endpoint(f"kafka.{DOMAIN}", 9093), some(dice, least=2)
    answers = dice.choice([(tuple(map(host, nodes)),), tuple((host(node),) for node in nodes)])
    return World(f"{answers}", Client((alias,)), Demand(harmless=True), (dns({alias.host: answers}),))


@kind(slow=True, gate=False)
def a_bootstrap_name_with_a_dead_address(dice: Dice) -> World:
    alias, dead = Endpoint(f"kafka.{DOMAIN}", 9093), dice.choice([NOWHERE, NOWHERE_6])
    answers = [dead, *map(host, some(dice))]
    demand = Demand(harmless=True, said=(dead,), never=(NOT_KAFKA,))
    return World(f"{answers}", Client((alias,)), demand, (dns({alias.host: (tuple(answers),)}),))


@kind(gate=False)
def one_slow_node(dice: Dice) -> World:
    node, delay = dice.choice(NODES), dice.choice([1.0, 1.5, 2.0])
    said = (rf"(node {node}\b|{host(node)})[^\n]*(slow|latency|\d s\b)",)
    change = forwards({front(node): Forward((bound(node),), delay=delay)})
    client = by_front(dice, dice.choice([NODES, others(node)]))
    return World(
        f"node {node} takes {delay} s", client, Demand(harmless=True, said=said, never=(NOT_KAFKA,)), (change,)
    )


@kind(chance=True, slow=True, gate=False)
def one_lossy_node(dice: Dice) -> World:
    node = dice.choice(NODES)
    rule = f"out: ip saddr {host(node)} tcp sport {{9092, 9093}} numgen random mod 100 < 25 drop"
    demand = Demand(harmless=True, never=(NOT_KAFKA,))
    return World(f"node {node}", dice.choice([by_front(dice), by("PUBLIC", some(dice))]), demand, (filtered(rule),))


@kind(gate=False)
def a_map_that_heals(dice: Dice) -> World:
    listener = dice.choice(["LOCALS", "BOX", "SVC", "CLOUD", "ONE"])
    leads = {advertised(listener, node): door(listener, node) for node in NODES}
    if listener == "ONE":
        leads = {end: Endpoint(host(2), end.port) for end in leads if end.host == "localhost"}
    client = mapped(dice, leads, [door(listener, node) for node in some(dice)])
    return World(listener, client, Demand(harmless=True), (dns(),))


@kind(gate=False)
def a_map_with_rules_for_others(dice: Dice) -> World:
    more = {
        Endpoint(f"192.0.2.{20 + node}", 9092): Endpoint(GATEWAY, 9400 + node) for node in range(dice.choice([1, 5]))
    }
    return World(f"{len(more)} more", mapped(dice, {**RIGHT, **more}), Demand(harmless=True), (forwards(NO_FRONTS),))


@kind(gate=False)
def one_bootstrap_server_is_no_broker(dice: Dice) -> World:
    """Clients go on to the next one."""
    odd = Endpoint(GATEWAY, 9300)
    what = dice.choice(
        [Forward(answers=HTTP), Forward(greets=SSH), Forward(silent=True), Forward(close_at_request=True)]
    )
    servers = [odd, *map(front, some(dice))]
    dice.shuffle(servers)
    demand = Demand(harmless=True, said=(re.escape(str(odd)),))
    return World(f"{what}", Client(tuple(servers)), demand, (forwards({odd: what}),))


@kind(gate=False)
def healthy_by_ipv6(dice: Dice) -> World:
    return World("SIX", by("SIX", some(dice)), Demand(harmless=True))


@kind(gate=False)
def healthy_by_hosts_lines(dice: Dice) -> World:
    lines = [f"{host(node)} hq-kafka{node}" for node in NODES]
    return World("SHORT", by("SHORT", some(dice)), Demand(harmless=True), (dns(None, *lines),))


@kind(gate=False)
def a_firewall_that_counts_connections(dice: Dice) -> World:
    """More than a few at once are refused, or new ones are let in one after the other."""
    node = dice.choice(NODES)
    limit = dice.choice(["ct count over 2 reject with tcp reset", "limit rate over 1/second burst 1 packets drop"])
    rule = f"in: ip daddr {host(node)} tcp dport 9092 ct state new {limit}"
    return World(f"node {node}, {limit}", by_front(dice), Demand(harmless=True, never=(NOT_KAFKA,)), (filtered(rule),))


@kind(gate=False, chance=True)
def one_flaky_node(dice: Dice) -> World:
    node = dice.choice(NODES)
    change = forwards({front(node): Forward((bound(node),), reset_share=dice.choice([0.2, 0.3]))})
    return World(f"node {node}", by_front(dice, others(node)), Demand(harmless=True, never=(NOT_KAFKA,)), (change,))


@kind(gate=False)
def a_map_of_ipv6(dice: Dice) -> World:
    entries = {node: Endpoint(GATEWAY, 9310 + node) for node in NODES}
    changed = {end: Forward((inside("SIX", node),)) for node, end in entries.items()}
    client = mapped(
        dice, {door("SIX", node): end for node, end in entries.items()}, [*entries.values()][: dice.randint(1, 4)]
    )
    return World("SIX by IPv4", client, Demand(harmless=True), (forwards(dict(changed)),))


@kind(gate=False)
def a_map_for_half_of_the_nodes(dice: Dice) -> World:
    """The others are reached as they advertise, and `unmapped: pass` lets clients do so."""
    nodes = dice.sample(NODES, 2)
    client = mapped(dice, {front(node): gate(node) for node in nodes})
    return World(f"{nodes}", replace(client, unmapped="pass"), Demand(harmless=True))


@kind(gate=False)
def a_hosts_line_that_a_rule_overrules(dice: Dice) -> World:
    node, other = dice.sample(NODES, 2)
    leads = {advertised("NAMED", each): Endpoint(host(each), 9098) for each in NODES}
    client = mapped(dice, leads, [door("NAMED", each) for each in some(dice)])
    line = f"{host(other)} {advertised('NAMED', node).host}"
    return World(line, client, Demand(harmless=True), (dns(None, line),))
