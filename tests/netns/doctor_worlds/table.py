"""The table of worlds: a function a class, which draws nodes, ports and counts from the dice that it is given."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.middlebox import HTTP, SSH, Forward, by_turns
from tests.netns.doctor_worlds.site import (
    CONTROLLER,
    DOMAIN,
    GATEWAY,
    NODES,
    NOWHERE,
    OTHER_BROKER,
    Client,
    Site,
    advertised,
    bound,
    door,
    front,
    gate,
    host,
    inside,
)

from brokernat.address import Endpoint

Change = Callable[[Site], AbstractContextManager[None]]
Dice = random.Random


@dataclass(frozen=True)
class World:
    """One world: what is changed at the site, what the client is given, what is demanded of the report."""

    what: str
    client: Client
    demand: Demand
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A class of worlds. `slow` ones restart brokers or wait for time-outs and stay out of the gate."""

    name: str
    draw: Callable[[Dice], World]
    chance: bool = False
    slow: bool = False
    healed: Client | None = None
    """A client that is given nothing wrong, None where the world's own is."""
    known_wrong: str = ""
    """Why the report is still wrong."""

    def variant(self, number: int) -> World:
        """The same for the same number."""
        return self.draw(random.Random(f"{self.name}/{number}"))


@contextmanager
def _all(site: Site, changes: Iterable[Change]) -> Any:
    with ExitStack() as stack:
        for each in changes:
            stack.enter_context(each(site))
        yield


def changed(site: Site, world: World) -> AbstractContextManager[None]:
    """The site as the world has it, while the block lasts."""
    return _all(site, world.changes)


KINDS: dict[str, Kind] = {}


def kind(**how: Any) -> Callable[[Callable[[Dice], World]], Callable[[Dice], World]]:
    """Add a class of worlds to the table."""

    def add(draw: Callable[[Dice], World]) -> Callable[[Dice], World]:
        name = draw.__name__.replace("_", "-")
        KINDS[name] = Kind(name, draw, **how)
        return draw

    return add


# Changes


def forwards(changed: Mapping[Endpoint, Forward | None]) -> Change:
    return lambda site: site.forwards(dict(changed))


def filtered(*rules: str) -> Change:
    return lambda site: site.filtered(*rules)


def names(**how: Any) -> Change:
    return lambda site: site.names(**how)


def dns(changed: Mapping[str, tuple[tuple[str, ...], ...]] | None = None, *hosts: str) -> Change:
    """A name server that knows the brokers' names, some of them otherwise."""
    right = {name(node): ((host(node),),) for node in NODES}

    def change(site: Site) -> AbstractContextManager[None]:
        return site.names(hosts=hosts, answers=by_turns({**right, **(changed or {})}))

    return change


def name(node: int) -> str:
    return advertised("NAMED", node).host


# What clients are given


def some(dice: Dice, nodes: Iterable[int] = NODES, *, least: int = 1) -> list[int]:
    """Nodes, at least one of them, in any order."""
    nodes = list(nodes)
    return dice.sample(nodes, dice.randint(min(least, len(nodes)), len(nodes)))


def others(*nodes: int) -> list[int]:
    return [node for node in NODES if node not in nodes]


def by_front(dice: Dice, nodes: Iterable[int] = NODES) -> Client:
    return Client(tuple(front(node) for node in some(dice, nodes)))


def by(listener: str, nodes: Iterable[int], *, names: bool = False) -> Client:
    ends = (advertised(listener, node) if names else door(listener, node) for node in nodes)
    return Client(tuple(ends), properties=LOGINS.get(listener, ()))


def mapped(dice: Dice, leads: Mapping[Endpoint, Endpoint], servers: Iterable[Endpoint] | None = None) -> Client:
    rules = tuple(f"{one} = {other}" for one, other in leads.items())
    return Client(tuple(servers or (gate(node) for node in some(dice))), rules)


LOGINS: dict[str, tuple[tuple[str, str], ...]] = {
    "LOGIN": (
        ("security.protocol", "SASL_PLAINTEXT"),
        ("sasl.mechanism", "PLAIN"),
        ("sasl.username", "app"),
        ("sasl.password", "canary-91fe"),
    ),
    "TLS": (
        ("security.protocol", "SSL"),
        ("ssl.truststore.location", "{folder}/trust.p12"),
        ("ssl.truststore.password", "testbed"),
        ("ssl.truststore.type", "PKCS12"),
    ),
}
NO_FRONTS: dict[Endpoint, Forward | None] = {front(node): None for node in NODES}
RIGHT = {front(node): gate(node) for node in NODES}
BY_PUBLIC = by("PUBLIC", NODES)
MAPPED = Client(tuple(RIGHT.values()), tuple(f"{one} = {other}" for one, other in RIGHT.items()))


# What an expert never says

NOT_KAFKA = r"not (a )?kafka|something else than kafka|give the port of a kafka"
CLIENT_SETTINGS = r"set `?security\.protocol|give the client a login|set `?sasl\."
ADD_LISTENER = r"add a listener"


def at(node: int, end: Endpoint | None = None) -> str:
    """The sentence names the node, or its endpoint."""
    return rf"nodes? [\d, and]*\b{node}\b|{re.escape(str(end or front(node)))}"


def one_odd(node: int, *headline: str, never: tuple[str, ...] = (), **more: Any) -> Demand:
    """One node's way is wrong: it is named, and nothing is advised that changes the client for all."""
    return Demand((at(node), *headline), never=(CLIENT_SETTINGS, *never), **more)


# Healthy and harmless


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
    pick, balancer = dice.choice(["turns", "random", "source"]), Endpoint(GATEWAY, 9300)
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


# Listeners


@kind(healed=BY_PUBLIC)
def mixed_listeners(dice: Dice) -> World:
    one, two = dice.sample(NODES, 2)
    servers = [front(one), door("PUBLIC", two), *(front(node) for node in some(dice, others(one, two)))]
    dice.shuffle(servers)
    return World(
        "FRONT and PUBLIC",
        Client(tuple(servers)),
        Demand(("listener",), codes=frozenset({"BN502"}), fix=(r"listener",)),
    )


@kind(healed=BY_PUBLIC)
def lacks_the_listener(dice: Dice) -> World:
    demand = Demand((r"\b3\b", "PART|listener"), codes=frozenset({"BN503"}), never=(r"\b(is|may be|be) down\b",))
    return World("node 3 without PART", by("PART", some(dice, others(3))), demand)


@kind(slow=True, healed=BY_PUBLIC)
def mixed_and_one_down(dice: Dice) -> World:
    down = dice.choice(NODES)
    one, two = dice.sample(others(down), 2)
    servers = [front(one), door("PUBLIC", two), door("PUBLIC", down)]
    demand = Demand(
        ("listener",), said=(rf"\b{down}\b.*\b(down|not run|no listener|none of its listeners)|down.*\b{down}\b",)
    )
    return World(f"node {down} down", Client(tuple(servers)), demand, (lambda site: site.killed(down),))


@kind(slow=True)
def down_and_all_led(dice: Dice) -> World:
    down = dice.choice(NODES)
    client = by("PUBLIC", some(dice))
    said = (rf"node {down}\b[^\n]*\b(down|not run|not running|no broker|refused)|down[^\n]*\b{down}\b",)
    demand = Demand(
        harmless=True, said=said, never=(ADD_LISTENER, "a listener that all brokers have", "stops? clients")
    )
    return World(f"node {down} down", client, demand, (lambda site: site.killed(down),))


@kind(healed=BY_PUBLIC)
def a_reachable_listener_exists(dice: Dice) -> World:
    listener = dice.choice(["BOX", "FRONT"])
    # What is dead at the front is dead for all.
    client = by("BOX", some(dice)) if listener == "BOX" else Client(tuple(map(gate, some(dice))))
    return World(
        f"{listener} entered, PUBLIC reached",
        client,
        Demand(fix=(r"172\.20\.1\.4\d:9093",), never=(ADD_LISTENER,)),
        (forwards(NO_FRONTS), dns()),
    )


@kind(healed=BY_PUBLIC)
def one_advertises_localhost(dice: Dice) -> World:
    client = by("ONE", some(dice))
    return World("node 2", client, Demand((r"\b2\b", "localhost"), never=(CLIENT_SETTINGS,)))


@kind(healed=BY_PUBLIC)
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


@kind(healed=BY_PUBLIC)
def container_names(dice: Dice) -> World:
    demand = Demand((r"f3a9c2d17b4e|0b7e55d1a9c4|9d2c41e8f06a|c5518e0d3b72|node",), said=("container|docker",))
    return World("BOX", by("BOX", some(dice)), demand, (dns(),))


# One node's place in the network


@kind()
def one_refused(dice: Dice) -> World:
    node = dice.choice(NODES)
    return World(
        f"node {node}", by_front(dice, others(node)), one_odd(node, said=("refus",)), (forwards({front(node): None}),)
    )


@kind()
def firewall_drops_one(dice: Dice) -> World:
    node = dice.choice(NODES)
    rule = dice.choice(["tcp dport 9092 drop", "tcp dport {9092, 9093} drop", "tcp dport 9000-9200 drop"])
    demand = one_odd(node, said=("firewall|packet filter|dropped|drops",), never=(NOT_KAFKA,))
    return World(
        f"node {node}, {rule}", by_front(dice, others(node)), demand, (filtered(f"in: ip daddr {host(node)} {rule}"),)
    )


@kind()
def firewall_rejects_one(dice: Dice) -> World:
    node = dice.choice(NODES)
    how = dice.choice(
        ["reject with icmp admin-prohibited", "reject with icmp host-prohibited", "reject with icmp host-unreachable"]
    )
    rule = f"in: ip daddr {host(node)} tcp dport 9092 {how}"
    demand = one_odd(node, said=("firewall|packet filter|rejected|rejects|prohibited",), never=(NOT_KAFKA,))
    return World(f"node {node}, {how}", by_front(dice, others(node)), demand, (filtered(rule),))


@kind()
def data_dropped_after_the_handshake(dice: Dice) -> World:
    node = dice.choice(NODES)
    rule = f"in: ip daddr {host(node)} tcp dport 9092 tcp flags & psh == psh drop"
    demand = one_odd(node, r"silent|no answer|not answer|nothing|unanswered|hung|hang|timed out", never=(NOT_KAFKA,))
    return World(f"node {node}", by_front(dice, others(node)), demand, (filtered(rule),))


@kind()
def silent_peer(dice: Dice) -> World:
    quiet = some(dice, dice.sample(NODES, 2))
    demand = Demand(tuple(map(at, quiet)), never=(NOT_KAFKA, CLIENT_SETTINGS))
    return World(
        f"nodes {quiet}",
        by_front(dice, others(*quiet)),
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
        by_front(dice, others(node)),
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
        by_front(dice, others(node)),
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


@kind()
def large_answers_vanish(dice: Dice) -> World:
    node, largest = dice.choice(NODES), dice.choice([1100, 1448, 2000, 4096, 7000])
    faulty = dice.choice([[node], list(NODES)])
    changed = {front(each): Forward((bound(each),), largest_answer=largest) for each in faulty}
    client = by_front(dice, others(node) if len(faulty) == 1 else NODES)
    demand = Demand(
        (at(node), SIZE) if len(faulty) == 1 else (SIZE,),
        said=(r"mtu|tunnel|middlebox|vpn",),
        never=(NOT_KAFKA, CLIENT_SETTINGS),
    )
    return World(f"nodes {faulty} above {largest} bytes", client, demand, (forwards(changed),))


@kind()
def large_requests_vanish(dice: Dice) -> World:
    node, largest = dice.choice(NODES), dice.choice([600, 1000, 1400, 4096, 7000])
    faulty = dice.choice([[node], list(NODES)])
    changed = {front(each): Forward((bound(each),), largest_request=largest) for each in faulty}
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
    client = by_front(dice, others(node)) if port == 9092 else by("PUBLIC", some(dice, others(node)))
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
    return World(f"{what} for node {node}", by_front(dice, others(node)), demand, (forwards({front(node): fault}),))


@kind()
def controller_port(dice: Dice) -> World:
    node = dice.choice(NODES)
    demand = one_odd(node, "controller", fix=("forward|proxy|port",), never=("give the port of a kafka",))
    return World(
        f"node {node}", by_front(dice, others(node)), demand, (forwards({front(node): Forward((CONTROLLER,))}),)
    )


@kind()
def another_cluster(dice: Dice) -> World:
    node = dice.choice(NODES)
    demand = one_odd(node, "cluster", fix=("forward|proxy|port",))
    return World(
        f"node {node}", by_front(dice, others(node)), demand, (forwards({front(node): Forward((OTHER_BROKER,))}),)
    )


@kind()
def tls_proxy_before_one(dice: Dice) -> World:
    node = dice.choice(NODES)
    fault = Forward((bound(node),), tls=True)
    demand = one_odd(node, "TLS", fix=("proxy|forward|terminat|listener",))
    return World(f"node {node}", by_front(dice, others(node)), demand, (forwards({front(node): fault}),))


@kind()
def a_plain_listener_for_one_of_tls(dice: Dice) -> World:
    node = dice.choice(NODES)
    end = door("TLS", node)
    rule = f"nat: ip daddr {host(node)} tcp dport {end.port} redirect to :{door('PUBLIC', node).port}"
    demand = Demand((at(node, end), "TLS"), fix=("proxy|forward|listener",), never=(CLIENT_SETTINGS,))
    return World(f"node {node}", by("TLS", some(dice, others(node))), demand, (filtered(rule),))


@kind()
def forward_to_a_login(dice: Dice) -> World:
    node = dice.choice(NODES)
    demand = one_odd(node, "login|SASL", fix=("forward|proxy|port",))
    return World(
        f"node {node}",
        by_front(dice, others(node)),
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
        by_front(dice, others(one, two)),
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


# Names


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


@kind()
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


@kind()
def dead_name_server(dice: Dice) -> World:
    how = dice.choice(["refuses", "is silent"])
    changes: tuple[Change, ...] = (names(servers=["172.20.1.54" if how == "is silent" else GATEWAY]),)
    demand = Demand((r"name server|resolver|dns",), never=(ADD_LISTENER,))
    return World(how, by("NAMED", some(dice)), demand, changes)


# Maps


def rule(advertised: Endpoint, reachable: Endpoint) -> str:
    """The line of a map."""
    return rf"{re.escape(str(advertised))} ?= ?{re.escape(str(reachable))}"


@kind(healed=MAPPED)
def map_swapped(dice: Dice) -> World:
    one, two = dice.sample(NODES, 2)
    leads = {**RIGHT, front(one): gate(two), front(two): gate(one)}
    return World(
        f"{one} and {two}",
        mapped(dice, leads),
        Demand((rf"\b{one}\b", rf"\b{two}\b"), codes=frozenset({"BN601"}), fix=(rule(front(one), gate(one)),)),
        (forwards(NO_FRONTS),),
    )


@kind(healed=MAPPED)
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


@kind(healed=MAPPED)
def map_chained(dice: Dice) -> World:
    node, other = dice.sample(NODES, 2)
    middle = Endpoint("10.77.0.1", 9092)
    leads = {**RIGHT, front(node): middle, middle: gate(node)}
    demand = Demand((r"chain|once|again|another rule|not .*twice",), fix=(rule(front(node), gate(node)),))
    return World(f"node {node}", mapped(dice, leads, [gate(other)]), demand, (forwards(NO_FRONTS),))


@kind(healed=MAPPED)
def map_of_another_cluster(dice: Dice) -> World:
    leads = {Endpoint(f"192.0.2.{20 + node}", 9092): gate(node) for node in NODES}
    return World(
        "192.0.2.x",
        mapped(dice, leads),
        Demand((r"map|rule",), codes=frozenset({"BN609", "BN605"})),
        (forwards(NO_FRONTS),),
    )


@kind(healed=MAPPED)
def map_with_wrong_ports(dice: Dice) -> World:
    wrong = some(dice)
    leads = {**RIGHT, **{front(node): Endpoint(GATEWAY, 9700 + node) for node in wrong}}
    servers = [gate(node) for node in some(dice)]
    demand = Demand((at(wrong[0]) if len(wrong) == 1 else r"node|map|rule", "refus|map|rule"), never=(ADD_LISTENER,))
    return World(f"nodes {wrong}", mapped(dice, leads, servers), demand, (forwards(NO_FRONTS),))


@kind(healed=MAPPED)
def map_to_one_node(dice: Dice) -> World:
    node = dice.choice(NODES)
    leads = dict.fromkeys(RIGHT, gate(node))
    return World(
        f"all to {node}",
        mapped(dice, leads, [gate(node)]),
        Demand((r"node", rf"\b{node}\b"), codes=frozenset({"BN601", "BN607"})),
        (forwards(NO_FRONTS),),
    )


@kind(healed=MAPPED)
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


# Two causes at once

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
    demand = Demand((at(one), at(two)), never=(CLIENT_SETTINGS, "give the port of a kafka"))
    return World(
        f"node {one} {here}, node {two} {there}", by_front(dice, others(one, two)), demand, (forwards(changed),)
    )


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


@kind(healed=BY_PUBLIC)
def mixed_listeners_and_a_fault(dice: Dice) -> World:
    one, two, odd = dice.sample(NODES, 3)
    fault = dice.choice(sorted(FAULTS))
    client = Client((front(one), door("PUBLIC", two)))
    demand = Demand(
        ("listener", at(odd)), codes=frozenset({"BN502"}), never=(CLIENT_SETTINGS, "give the port of a kafka")
    )
    return World(f"node {odd} {fault}", client, demand, (forwards({front(odd): FAULTS[fault](odd)}),))


# Discover


def searched(servers: Iterable[Endpoint], candidates: Iterable[Endpoint], *more: str) -> Client:
    words = ("--candidates", ",".join(map(str, candidates)), *more)
    return Client(tuple(servers), more=words, command="discover")


def rules_of(nodes: Iterable[int]) -> frozenset[str]:
    return frozenset(f"{front(node)}={gate(node)}" for node in nodes)


@kind(healed=MAPPED)
def discover_all(dice: Dice) -> World:
    nodes = some(dice)
    demand = Demand(rules=rules_of(NODES), whole=True)
    return World(f"by {nodes}", searched(map(gate, nodes), map(gate, NODES)), demand, (forwards(NO_FRONTS),))


@kind(chance=True, healed=MAPPED)
def discover_a_balancer(dice: Dice) -> World:
    over, pick, port = dice.sample(NODES, dice.choice([2, 2, 3, 4])), dice.choice(["turns", "random", "source"]), 9300
    balancer, left = Endpoint(GATEWAY, port), others(*over)
    client = searched([*map(gate, left), balancer], [*map(gate, left), balancer])
    demand = Demand(rules=rules_of(left), said=("balancer|several nodes|different nodes|more than one|by turns",))
    changes = (forwards({**NO_FRONTS, balancer: Forward(tuple(map(bound, over)), pick=pick)}),)
    return World(f"{pick} over {over}", client, demand, changes)


@kind(healed=MAPPED)
def discover_a_wrong_listener(dice: Dice) -> World:
    wrong = some(dice, dice.sample(NODES, 2))
    left = others(*wrong)
    client = searched(map(gate, left), [*map(gate, left), *(door("PUBLIC", node) for node in wrong)])
    demand = Demand(rules=rules_of(left), said=("listener",))
    return World(f"PUBLIC of {wrong}", client, demand, (forwards(NO_FRONTS),))


@kind(slow=True, healed=MAPPED)
def discover_with_slow_answers(dice: Dice) -> World:
    delay = dice.choice([2.0, 3.0])
    slow = {gate(node): Forward((bound(node),), delay=delay) for node in NODES}
    demand = Demand(rules=rules_of(NODES), never=("no candidate leads",), said=(r"not known|time|slow",))
    return World(
        f"{delay} s", searched(map(gate, some(dice)), map(gate, NODES)), demand, (forwards({**NO_FRONTS, **slow}),)
    )
