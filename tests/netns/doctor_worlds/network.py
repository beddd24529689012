"""What stands between the client and the brokers, at one of them and at all; and two faults at once."""

from __future__ import annotations

import re

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.kinds import (
    ADD_LISTENER,
    CLIENT_SETTINGS,
    LOGINS,
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
    one_odd,
    others,
    routed,
    rule,
    some,
)
from tests.netns.doctor_worlds.layout import (
    CONTROLLER,
    GATEWAY,
    NODES,
    OTHER_BROKER,
    bound,
    door,
    front,
    gate,
    host,
    inside,
)
from tests.netns.doctor_worlds.middlebox import HTTP, MYSQL, REDIS, SMTP, SSH, ZOOKEEPER, Forward
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


@kind(chance=True)
def few_connections_at_once(dice: Dice) -> World:
    """A firewall counts the connections of a client; the doctor needs fewer at once than a client does."""
    most = dice.choice([2, 3])
    rule = f"in: tcp dport 9093 ct state new ct count over {most} reject with tcp reset"
    demand = Demand(("connection",), said=("limit",), never=(NOT_KAFKA, CLIENT_SETTINGS, ADD_LISTENER))
    return World(rule, by("PUBLIC", NODES), demand, (filtered(rule),))


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


@kind()
def another_server(dice: Dice) -> World:
    node = dice.choice(NODES)
    what, fault = dice.choice([("HTTP", Forward(answers=HTTP)), ("SSH", Forward(greets=SSH))])
    demand = one_odd(node, what, fix=("forward|proxy|port",), never=("use the port of a kafka",))
    return World(f"{what} for node {node}", around(dice, node), demand, (forwards({front(node): fault}),))


@kind(kraft=True)
def controller_port(dice: Dice) -> World:
    node = dice.choice(NODES)
    demand = one_odd(node, "controller", fix=("forward|proxy|port",), never=("use the port of a kafka",))
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
def tls_ends_before_what_is_advertised(dice: Dice) -> World:
    """A proxy ends TLS at what the client is given, and the brokers send it past the proxy to their plain listeners."""
    entries = {node: Endpoint(GATEWAY, 9300 + node) for node in some(dice)}
    properties = (
        ("security.protocol", "SSL"),
        ("ssl.truststore.type", "PEM"),
        ("ssl.truststore.location", "{folder}/../proxy.pem"),
        ("ssl.endpoint.identification.algorithm", ""),
    )
    demand = Demand(
        ("TLS", "unlike the bootstrap servers"),
        fix=("advertise the endpoints of the proxy", *(rule(front(node), entry) for node, entry in entries.items())),
        never=(CLIENT_SETTINGS, NOT_KAFKA),
        codes=frozenset({"BN401"}),
    )
    changes = (forwards({entry: Forward((bound(node),), tls=True) for node, entry in entries.items()}),)
    return World(f"at {list(entries)}", Client(tuple(entries.values()), properties=properties), demand, changes)


@kind()
def a_forward_that_takes_one_connection(dice: Dice) -> World:
    """As `socat` without `fork`: what opens one connection works, and clients open several."""
    node = dice.choice(NODES)
    demand = one_odd(node, r"refused", fix=("connection|forward",), never=(NOT_KAFKA,))
    changes = (forwards({front(node): Forward((bound(node),), once=True)}),)
    return World(f"node {node}", by_front(dice, others(node)), demand, changes)


@kind()
def a_bootstrap_server_of_another_kind(dice: Dice) -> World:
    what, server = dice.choice(
        [
            ("ZooKeeper", Forward(answers=ZOOKEEPER, word=b"srvr")),
            ("HTTPS", Forward(answers=HTTP, tls=True)),
            ("HTTP", Forward(answers=HTTP)),
        ]
    )
    end = Endpoint(GATEWAY, 9300)
    demand = Demand((f"{what} server",), fix=("port of a Kafka listener",), never=("security.protocol", ADD_LISTENER))
    return World(what, Client((end,)), demand, (forwards({end: server}),))


@kind()
def a_forward_to_another_node_with_tls(dice: Dice) -> World:
    """The certificate is the other node's, and who answers cannot be asked."""
    node, other = dice.sample(NODES, 2)
    end = door("TLS", node)
    rule = f"nat: ip daddr {host(node)} tcp dport {end.port} dnat to {door('TLS', other)}"
    demand = Demand(
        (at(node, end), rf"certificate of node {other}"), fix=("forward",), never=(CLIENT_SETTINGS, "alternative names")
    )
    return World(f"{node} leads to {other}", by("TLS", some(dice, others(node))), demand, (filtered(rule),))


@kind()
def a_web_server_for_a_client_with_tls(dice: Dice) -> World:
    """Its certificate is none that the client trusts, and no matter."""
    end = Endpoint(GATEWAY, 9300)
    demand = Demand(("HTTPS server",), fix=("port of a Kafka listener",), never=("trust store", "certificate"))
    changes = (forwards({end: Forward(answers=HTTP, tls=True)}),)
    return World("HTTPS", Client((end,), properties=LOGINS["TLS"]), demand, changes)


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


@kind(gate=False)
def a_server_of_another_kind(dice: Dice) -> World:
    node = dice.choice(NODES)
    what, fault = dice.choice(
        [
            ("MySQL|8.0.36", Forward(greets=MYSQL)),
            ("SMTP|mail", Forward(greets=SMTP)),
            ("Redis|-ERR", Forward(answers=REDIS)),
            ("HTTPS|TLS", Forward(tls=True, answers=HTTP)),
        ]
    )
    demand = one_odd(node, said=(what,), fix=("forward|proxy|port",), never=("use the port of a kafka",))
    return World(f"{what} for node {node}", around(dice, node), demand, (forwards({front(node): fault}),))


@kind(gate=False)
def forward_to_another_listener(dice: Dice) -> World:
    node, listener = dice.choice(NODES), dice.choice(["PUBLIC", "BOX", "LOCALS", "SVC", "NAMED"])
    demand = one_odd(node, "listener", fix=("forward|proxy|gateway|port",))
    changed = {front(node): Forward((inside(listener, node),))}
    return World(f"node {node} to {listener}", around(dice, node), demand, (forwards(changed),))


@kind(gate=False)
def crossed_ports_of_one_node(dice: Dice) -> World:
    """FRONT's port leads to PUBLIC and PUBLIC's to FRONT."""
    node = dice.choice(NODES)
    back = f"nat: ip daddr {host(node)} tcp dport 9093 dnat to {bound(node)}"
    changes = (forwards({front(node): Forward((inside("PUBLIC", node),))}), filtered(back))
    return World(f"node {node}", around(dice, node), one_odd(node, "listener", fix=("forward|proxy|port",)), changes)


@kind(gate=False)
def tls_proxy_before_all(dice: Dice) -> World:
    """Here the client's protocol is what is wrong: all are alike."""
    changed = {front(node): Forward((bound(node),), tls=True) for node in NODES}
    demand = Demand(("TLS",), fix=("security.protocol",), never=(NOT_KAFKA, ADD_LISTENER))
    return World("all", by_front(dice), demand, (forwards(changed),))


@kind(gate=False)
def a_foreign_certificate_for_one_of_tls(dice: Dice) -> World:
    node, entry = dice.choice(NODES), Endpoint(GATEWAY, 9300)
    end = door("TLS", node)
    changes = (
        forwards({entry: Forward((bound(node),), tls=True)}),
        filtered(f"nat: ip daddr {host(node)} tcp dport {end.port} dnat to {entry}"),
    )
    demand = Demand((at(node, end), "certificate|trust"), fix=("proxy|forward|terminat",), never=(CLIENT_SETTINGS,))
    return World(f"node {node}", by("TLS", some(dice, others(node))), demand, changes)


@kind(gate=False)
def a_plain_listener_for_one_of_login(dice: Dice) -> World:
    node = dice.choice(NODES)
    end = door("LOGIN", node)
    rule = f"nat: ip daddr {host(node)} tcp dport {end.port} dnat to {door('PUBLIC', node)}"
    demand = Demand((at(node, end), "login|SASL"), fix=("proxy|forward|listener",), never=(CLIENT_SETTINGS,))
    return World(f"node {node}", by("LOGIN", some(dice, others(node))), demand, (filtered(rule),))


@kind(gate=False)
def firewall_drops_some(dice: Dice) -> World:
    nodes = dice.sample(NODES, dice.choice([2, 3]))
    hosts = ", ".join(map(host, nodes))
    how = dice.choice(["drop", "reject with icmp admin-prohibited"])
    demand = Demand(
        tuple(map(at, nodes)), said=("firewall|packet filter",), never=(NOT_KAFKA, ADD_LISTENER, CLIENT_SETTINGS)
    )
    changes = (filtered(f"in: ip daddr {{ {hosts} }} tcp dport 9092 {how}"),)
    return World(f"nodes {nodes}, {how}", by_front(dice, others(*nodes)), demand, changes)


@kind(slow=True, gate=False)
def firewall_drops_all_that_is_advertised(dice: Dice) -> World:
    hosts = ", ".join(map(host, NODES))
    demand = Demand(
        (r"\b(4|four|all|every|each|nodes? 1, 2)\b|and 1 more",),
        fix=(r"172\.20\.1\.4\d:9093",),
        never=(ADD_LISTENER, CLIENT_SETTINGS),
    )
    client = Client(tuple(map(gate, some(dice))))
    changes = (filtered(f"in: iifname to-client ip daddr {{ {hosts} }} tcp dport 9092 drop"),)
    return World("PUBLIC reached", client, demand, changes)


@kind(gate=False)
def one_broker_that_is_reached_by_a_forward_only(dice: Dice) -> World:
    """A cluster of one broker: there is no neighbour to hold it against."""
    entry, how = Endpoint(GATEWAY, 9300), dice.choice(["drop", "reject with tcp reset"])
    changes = (
        forwards({entry: Forward((OTHER_BROKER,))}),
        filtered(f"in: iifname to-client ip daddr {OTHER_BROKER.host} tcp dport {OTHER_BROKER.port} {how}"),
    )
    demand = Demand(
        (re.escape(str(OTHER_BROKER)),), fix=(rule(OTHER_BROKER, entry),), never=(CLIENT_SETTINGS, "another cluster")
    )
    return World(how, Client((entry,)), demand, changes)


@kind(gate=False)
def forwards_shifted_by_one(dice: Dice) -> World:
    nodes = dice.sample(NODES, dice.choice([3, 4]))
    changed = {front(one): Forward((bound(two),)) for one, two in zip(nodes, nodes[1:] + nodes[:1], strict=True)}
    demand = Demand(
        tuple(rf"\b{node}\b" for node in nodes),
        codes=frozenset({"BN601"}),
        fix=("forward",),
        never=(CLIENT_SETTINGS, ADD_LISTENER),
    )
    return World(f"{nodes}", by_front(dice), demand, (forwards(dict(changed)),))


@kind(gate=False)
def two_forwards_to_one_node(dice: Dice) -> World:
    one, two, third = dice.sample(NODES, 3)
    changed = {front(each): Forward((bound(third),)) for each in (one, two)}
    demand = Demand(
        (at(one), at(two), rf"\b{third}\b"),
        codes=frozenset({"BN601", "BN607"}),
        fix=("forward",),
        never=(CLIENT_SETTINGS, ADD_LISTENER),
    )
    return World(f"{one} and {two} to {third}", by_front(dice), demand, (forwards(dict(changed)),))


@kind(gate=False, chance=True)
def a_balancer_where_nodes_are_advertised(dice: Dice) -> World:
    node, over = dice.choice(NODES), tuple(map(bound, dice.sample(NODES, dice.choice([2, 4]))))
    faulty, pick = dice.choice([[node], list(NODES)]), dice.choice(["turns", "least"])
    changed = {front(each): Forward(over, pick=pick) for each in faulty}
    demand = Demand(
        (at(node) if len(faulty) == 1 else "node", "balancer|several|different|by turns|another|other|node"),
        said=("balancer|several nodes|different nodes|by turns",),
        fix=("forward|balancer|port",),
        never=(CLIENT_SETTINGS, ADD_LISTENER),
    )
    return World(f"{pick} over {over} for {faulty}", by_front(dice), demand, (forwards(dict(changed)),))


@kind(gate=False)
def no_route_to_one(dice: Dice) -> World:
    """A route of the client's own machine, as a VPN leaves it."""
    node, how = dice.choice(NODES), dice.choice(["unreachable", "prohibit", "blackhole"])
    demand = one_odd(node, fix=(rf"ip route get {host(node)}",), never=(NOT_KAFKA, r"172\.20[^\n]*works from here"))
    return World(f"{how} node {node}", around(dice, node), demand, (routed(f"{how} {host(node)}/32"),))


@kind(gate=False)
def firewall_by_ipv6(dice: Dice) -> World:
    node = dice.choice(NODES)
    how = dice.choice(["drop", "reject with icmpv6 admin-prohibited"])
    end = door("SIX", node)
    demand = Demand(
        (at(node, end),),
        said=("firewall|packet filter|dropped|rejects",),
        never=(CLIENT_SETTINGS, ADD_LISTENER, NOT_KAFKA),
    )
    change = filtered(f"in6: ip6 daddr {end.host} tcp dport {end.port} {how}")
    return World(f"node {node} {how}", by("SIX", some(dice, others(node))), demand, (change,))


@kind(gate=False)
def a_preface_before_the_requests_of_one(dice: Dice) -> World:
    """A proxy that sends the PROXY protocol's line to a broker, which closes."""
    node = dice.choice(NODES)
    preface = b"PROXY TCP4 172.20.9.10 172.20.1.41 51234 9092\r\n"
    demand = one_odd(
        node,
        r"clos|reset",
        said=(r"path|proxy|balancer|middlebox|between|gateway|forward|firewall",),
        never=(NOT_KAFKA,),
    )
    changes = (forwards({front(node): Forward((bound(node),), preface=preface)}),)
    return World(f"node {node}", around(dice, node), demand, changes)


@kind(gate=False)
def garbled_answers_of_one(dice: Dice) -> World:
    node = dice.choice(NODES)
    demand = one_odd(node, fix=("path|proxy|balancer|middlebox|between|gateway|forward|firewall",))
    changes = (forwards({front(node): Forward((bound(node),), garbles=True)}),)
    return World(f"node {node}", around(dice, node), demand, changes)


@kind(gate=False)
def firewall_drops_a_port_of_the_gateway(dice: Dice) -> World:
    node = dice.choice(NODES)
    how = dice.choice(["drop", "reject with icmp admin-prohibited"])
    end = gate(node)
    client = Client(tuple(map(gate, some(dice, others(node)))), tuple(f"{front(n)} = {gate(n)}" for n in NODES))
    demand = Demand(
        (at(node, end),),
        said=("firewall|packet filter|dropped|rejects", re.escape(str(end))),
        never=(CLIENT_SETTINGS, ADD_LISTENER),
    )
    changes = (filtered(f"in: ip daddr {end.host} tcp dport {end.port} {how}"),)
    return World(f"{end} {how}", client, demand, changes)


@kind(gate=False)
def a_hung_broker_behind_the_gateway(dice: Dice) -> World:
    node = dice.choice(NODES)
    client = Client(tuple(map(gate, some(dice, others(node)))), tuple(f"{front(n)} = {gate(n)}" for n in NODES))
    demand = Demand(
        (at(node, gate(node)),),
        said=(r"silent|no answer|not answer|nothing|hung|hang|stuck|timed out",),
        never=(NOT_KAFKA, CLIENT_SETTINGS, ADD_LISTENER),
    )
    return World(f"node {node}", client, demand, (lambda site: site.stopped(node),))


@kind(slow=True, gate=False)
def a_firewall_and_a_broker_down(dice: Dice) -> World:
    node, down = dice.sample(NODES, 2)
    demand = Demand(
        (at(node, door("PUBLIC", node)),),
        said=(
            "firewall|packet filter|dropped|drops",
            rf"\b{down}\b[^\n]*\b(down|not run|no broker|refused)|down[^\n]*\b{down}\b",
        ),
        never=(CLIENT_SETTINGS, ADD_LISTENER),
    )
    changes = (lambda site: site.ended(down), filtered(f"in: ip daddr {host(node)} tcp dport 9093 drop"))
    return World(f"node {node} dropped, {down} down", by("PUBLIC", others(node, down)), demand, changes)
