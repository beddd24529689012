"""Names that lead elsewhere, and maps that are wrong."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.kinds import (
    ADD_LISTENER,
    CLIENT_SETTINGS,
    LOGINS,
    NO_FRONTS,
    NOT_KAFKA,
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
from tests.netns.doctor_worlds.layout import (
    GATEWAY,
    GATEWAY_6,
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
from tests.netns.doctor_worlds.middlebox import Forward
from tests.netns.doctor_worlds.report import Client

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
def names_that_lead_to_other_nodes(dice: Dice) -> World:
    """Records that are exchanged, or one that is another node's."""
    one, two = dice.sample(NODES, 2)
    changed = {name(one): ((host(two),),)}
    if dice.random() < 0.5:
        changed[name(two)] = ((host(one),),)
    demand = Demand(
        (at(one, advertised("NAMED", one)),),
        codes=frozenset({"BN601"}),
        fix=(rf"dns record[^\n]*{name(one)}[^\n]*{host(two)}",),
        never=("correct the forward", r"advertised\.listeners", CLIENT_SETTINGS),
    )
    return World(f"{changed}", by("NAMED", some(dice, others(one, two))), demand, (dns(changed),))


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
def map_with_a_rule_behind_an_old_one(dice: Dice) -> World:
    node = dice.choice(NODES)
    old = f"{front(node)} = {NOWHERE}:{gate(node).port}"
    rules = (old, *(f"{one} = {other}" for one, other in RIGHT.items()))
    client = Client(tuple(map(gate, some(dice, others(node)))), rules)
    demand = Demand(
        (r"stands before", str(front(node))),
        codes=frozenset({"BN607"}),
        fix=(rf"put `{front(node)}={gate(node)}` before|remove",),
        never=("firewall", ADD_LISTENER, CLIENT_SETTINGS),
    )
    return World(old, client, demand, (forwards(NO_FRONTS),))


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
    demand = Demand((at(node), "map|rule|dialled"), said=(f"leads to {re.escape(str(dead))}",), never=(ADD_LISTENER,))
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


@kind(slow=True, gate=False)
def a_name_with_a_dead_ipv6_address(dice: Dice) -> World:
    node = dice.choice(NODES)
    answers = (NOWHERE_6, host(node))
    demand = Demand(harmless=True, said=(NOWHERE_6, "dns|name server|record|resolve"), never=(CLIENT_SETTINGS,))
    client = by("NAMED", some(dice, others(node)))
    return World(f"{name(node)} is {answers}", client, demand, (dns({name(node): (answers,)}),))


@kind(gate=False)
def names_with_inside_addresses(dice: Dice) -> World:
    """The name server is asked from outside and answers as inside."""
    answers = {name(node): ((bound(node).host,),) for node in NODES}
    demand = Demand(
        (re.escape(name(1)),),
        said=(bound(1).host, bound(4).host, "name server|dns"),
        fix=("dns|name server|hosts|rule|map",),
        never=(CLIENT_SETTINGS, NOT_KAFKA),
    )
    client = Client(tuple(door("NAMED", node) for node in some(dice)))
    return World("10.9.0.x", client, demand, (dns(answers),))


@kind(gate=False)
def a_name_that_is_loopback(dice: Dice) -> World:
    node = dice.choice(NODES)
    there = dice.choice(["127.0.0.1", "127.0.1.1", GATEWAY])
    demand = Demand(
        (at(node, advertised("NAMED", node)),),
        said=(rf"{re.escape(name(node))}[^\n]*{there}|{there}[^\n]*{re.escape(name(node))}", "dns|name server|resolve"),
        never=(CLIENT_SETTINGS, ADD_LISTENER),
    )
    client = by("NAMED", some(dice, others(node)))
    return World(f"{name(node)} is {there}", client, demand, (dns({name(node): ((there,),)}),))


@kind(gate=False)
def crossed_hosts_lines(dice: Dice) -> World:
    one, two = dice.sample(NODES, 2)
    lines = (f"{host(two)} {name(one)}", f"{host(one)} {name(two)}")
    demand = Demand(("hosts",), said=lines, fix=("hosts",), never=("correct the forward", CLIENT_SETTINGS))
    return World("; ".join(lines), by("NAMED", some(dice, others(one, two))), demand, (dns(None, *lines),))


@kind(gate=False)
def hosts_lines_of_all_to_the_gateway(dice: Dice) -> World:
    lines = [f"{GATEWAY} {name(node)}" for node in NODES]
    client = Client(tuple(door("NAMED", node) for node in some(dice)))
    demand = Demand(("hosts",), said=(lines[0],), fix=("hosts",), never=(CLIENT_SETTINGS, NOT_KAFKA))
    return World(f"all to {GATEWAY}", client, demand, (dns(None, *lines),))


@kind(gate=False)
def map_without_a_node(dice: Dice) -> World:
    node = dice.choice(NODES)
    leads = {one: other for one, other in RIGHT.items() if one != front(node)}
    demand = Demand(
        (at(node), "map|rule"), fix=(rf"{re.escape(str(front(node)))} ?=",), never=(ADD_LISTENER, CLIENT_SETTINGS)
    )
    client = mapped(dice, leads, [gate(each) for each in some(dice, others(node))])
    return World(f"node {node}", client, demand, (forwards(NO_FRONTS),))


@kind(gate=False)
def map_shifted_by_one(dice: Dice) -> World:
    nodes = dice.sample(NODES, dice.choice([3, 4]))
    leads = {**RIGHT, **{front(one): gate(two) for one, two in zip(nodes, nodes[1:] + nodes[:1], strict=True)}}
    fix = tuple(rule(front(node), gate(node)) for node in nodes)
    demand = Demand(tuple(rf"\b{node}\b" for node in nodes), codes=frozenset({"BN601"}), fix=fix)
    return World(f"{nodes}", mapped(dice, leads), demand, (forwards(NO_FRONTS),))


@kind(gate=False)
def map_with_one_gate_twice(dice: Dice) -> World:
    node, other = dice.sample(NODES, 2)
    demand = Demand((at(node), rf"\b{other}\b"), never=(ADD_LISTENER, CLIENT_SETTINGS))
    client = mapped(dice, {**RIGHT, front(node): gate(other)}, [gate(other)])
    return World(f"{node} to {other}'s", client, demand, (forwards(NO_FRONTS),))


@kind(gate=False)
def map_by_hosts_where_ports_differ(dice: Dice) -> World:
    """`host = host` keeps the port, and the gateway has others."""
    leads = [f"{host(node)} = {GATEWAY}" for node in NODES]
    client = Client(tuple(map(gate, some(dice))), tuple(leads))
    demand = Demand(("map|rule",), said=(f"{GATEWAY}:9092",), never=(ADD_LISTENER, CLIENT_SETTINGS))
    return World("ports are kept", client, demand, (forwards(NO_FRONTS),))


@kind(gate=False)
def map_of_addresses_where_names_are_advertised(dice: Dice) -> World:
    leads = {Endpoint(host(node), 9102): door("SVC", node) for node in NODES}
    client = mapped(dice, leads, [door("SVC", node) for node in some(dice)])
    demand = Demand(
        ("map|rule",),
        fix=(rf"{re.escape(str(advertised('SVC', 1)))} ?=",),
        never=(CLIENT_SETTINGS,),
    )
    return World("SVC", client, demand, (dns(),))


@kind(gate=False)
def map_with_wrong_advertised_ports(dice: Dice) -> World:
    wrong = some(dice, least=2)
    leads = {(Endpoint(host(node), 9192) if node in wrong else front(node)): gate(node) for node in NODES}
    demand = Demand(
        ("map|rule",), fix=(rf"{re.escape(str(front(wrong[0])))} ?=",), never=(ADD_LISTENER, CLIENT_SETTINGS)
    )
    return World(f"nodes {wrong}", mapped(dice, leads), demand, (forwards(NO_FRONTS),))


@kind(gate=False)
def hosts_lines_forget_one(dice: Dice) -> World:
    node = dice.choice(NODES)
    lines = [f"{host(each)} hq-kafka{each}" for each in others(node)]
    end = advertised("SHORT", node)
    demand = Demand(
        (at(node, end),), said=("resolve|unknown",), fix=("hosts|rule|map|dns",), never=(CLIENT_SETTINGS, ADD_LISTENER)
    )
    return World(f"no line for node {node}", by("SHORT", some(dice)), demand, (dns(None, *lines),))


@kind(gate=False)
def hosts_lines_shifted_by_one(dice: Dice) -> World:
    nodes = dice.sample(NODES, 3)
    lines = tuple(f"{host(two)} {name(one)}" for one, two in zip(nodes, nodes[1:] + nodes[:1], strict=True))
    demand = Demand(("hosts",), said=lines, fix=("hosts",), never=("correct the forward", CLIENT_SETTINGS))
    return World("; ".join(lines), by("NAMED", others(*nodes)), demand, (dns(None, *lines),))


@kind(gate=False)
def a_name_whose_ipv6_address_is_another_broker(dice: Dice) -> World:
    node, other = dice.sample(NODES, 2)
    six = Endpoint(GATEWAY_6, advertised("NAMED", node).port)
    changes = (dns({name(node): ((GATEWAY_6, host(node)),)}), forwards({six: Forward((inside("NAMED", other),))}))
    demand = Demand(
        (name(node), "dns|record|address|name server|resolve"),
        said=(rf"{GATEWAY_6}[^\n]*\b{other}\b|node {other}[^\n]*{GATEWAY_6}",),
        never=(CLIENT_SETTINGS,),
    )
    return World(f"{name(node)}, {six} is {other}", by("NAMED", some(dice, others(node))), demand, changes)


@kind(gate=False)
def map_of_hosts_swapped(dice: Dice) -> World:
    """Rules that nobody needs: what is advertised is reached."""
    one, two = dice.sample(NODES, 2)
    rules = (
        f"{host(one)} = {host(two)}",
        f"{host(two)} = {host(one)}",
        *(f"{host(n)} = {host(n)}" for n in others(one, two)),
    )
    demand = Demand(
        (rf"\b{one}\b", rf"\b{two}\b"),
        codes=frozenset({"BN601"}),
        fix=("rule|map",),
        never=("correct the forward", CLIENT_SETTINGS),
    )
    return World(f"{one} and {two}", Client(tuple(map(front, some(dice))), rules), demand)


@kind(gate=False)
def map_wildcard_to_one(dice: Dice) -> World:
    node = dice.choice(NODES)
    rules = (f"*.kafka-headless.prod.svc.cluster.local:9102 = {door('SVC', node)}",)
    demand = Demand(
        (rf"\b{node}\b",), codes=frozenset({"BN601", "BN607"}), fix=("rule|map",), never=(ADD_LISTENER, CLIENT_SETTINGS)
    )
    return World(f"all to {node}", Client((door("SVC", node),), rules), demand, (dns(),))


@kind(gate=False)
def map_that_nobody_needs_and_dead(dice: Dice) -> World:
    """What is advertised is reached; the rules lead to ports where nothing listens."""
    leads = {front(node): Endpoint(GATEWAY, 9700 + node) for node in NODES}
    demand = Demand(
        ("map|rule",),
        fix=("without|remove|no (map|rule)|take .* out|not need|delete|leave",),
        never=(ADD_LISTENER, CLIENT_SETTINGS),
    )
    return World("refused", mapped(dice, leads), demand)


@kind(gate=False)
def map_swapped_and_a_hung_broker(dice: Dice) -> World:
    one, two, hung, last = dice.sample(NODES, 4)
    leads = {**RIGHT, front(one): gate(two), front(two): gate(one)}
    demand = Demand(
        (rf"\b{one}\b", rf"\b{two}\b", at(hung, gate(hung))),
        fix=(rule(front(one), gate(one)),),
        never=(ADD_LISTENER, CLIENT_SETTINGS, NOT_KAFKA),
    )
    changes = (forwards(NO_FRONTS), lambda site: site.stopped(hung))
    return World(f"{one} and {two}, {hung} hung", mapped(dice, leads, [gate(last)]), demand, changes)


@kind(slow=True, gate=False)
def map_swapped_and_a_broker_down(dice: Dice) -> World:
    one, two, down, last = dice.sample(NODES, 4)
    leads = {**RIGHT, front(one): gate(two), front(two): gate(one)}
    demand = Demand(
        (rf"\b{one}\b", rf"\b{two}\b"),
        said=(rf"\b{down}\b[^\n]*\b(down|not run|no broker|refused|clos)|(down|clos)[^\n]*\b{down}\b",),
        fix=(rule(front(one), gate(one)),),
        never=(ADD_LISTENER, CLIENT_SETTINGS, NOT_KAFKA),
    )
    changes = (forwards(NO_FRONTS), lambda site: site.ended(down))
    return World(f"{one} and {two}, {down} down", mapped(dice, leads, [gate(last)]), demand, changes)


@kind(gate=False)
def map_to_a_plain_port_of_tls(dice: Dice) -> World:
    node = dice.choice(NODES)
    entries = {each: Endpoint(GATEWAY, 9320 + each) for each in NODES}
    changed = {end: Forward((inside("PUBLIC" if each == node else "TLS", each),)) for each, end in entries.items()}
    leads = {door("TLS", each): end for each, end in entries.items()}
    client = mapped(dice, leads, [door("TLS", each) for each in some(dice, others(node))])
    demand = Demand(
        (at(node, door("TLS", node)), "TLS"),
        fix=("forward|proxy|rule|listener",),
        never=(CLIENT_SETTINGS, ADD_LISTENER),
    )
    return World(f"node {node}", replace(client, properties=LOGINS["TLS"]), demand, (forwards(dict(changed)),))


@kind(gate=False)
def map_of_ipv6_swapped(dice: Dice) -> World:
    one, two = dice.sample(NODES, 2)
    entries = {node: Endpoint(GATEWAY, 9310 + node) for node in NODES}
    changed = {end: Forward((inside("SIX", node),)) for node, end in entries.items()}
    leads = {door("SIX", node): entries[{one: two, two: one}.get(node, node)] for node in NODES}
    fix = (rule(door("SIX", one), entries[one]), rule(door("SIX", two), entries[two]))
    demand = Demand((rf"\b{one}\b", rf"\b{two}\b"), codes=frozenset({"BN601"}), fix=fix, never=(ADD_LISTENER,))
    return World(f"{one} and {two}", mapped(dice, leads, entries.values()), demand, (forwards(dict(changed)),))


@kind(gate=False)
def map_of_hosts_shifted(dice: Dice) -> World:
    """Rules of hosts in a ring: each leads to what the next one is for."""
    nodes = dice.sample(NODES, dice.choice([3, 4]))
    leads = {**{node: node for node in NODES}, **dict(zip(nodes, nodes[1:] + nodes[:1], strict=True))}
    rules = tuple(f"{host(node)} = {host(there)}" for node, there in leads.items())
    demand = Demand(
        tuple(rf"\b{node}\b" for node in nodes),
        codes=frozenset({"BN601"}),
        fix=("rule|map", rule(front(nodes[0]), front(nodes[0]))),
        never=("correct the forward", CLIENT_SETTINGS, "both steps"),
    )
    return World(f"{nodes}", Client(tuple(map(front, some(dice))), rules), demand)
