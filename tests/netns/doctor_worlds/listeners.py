"""Which listener a client enters, and what the brokers advertise there."""

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
    Dice,
    World,
    by,
    dns,
    forwards,
    kind,
    others,
    routed,
    some,
)
from tests.netns.doctor_worlds.layout import (
    CONTROLLER,
    DOMAIN,
    GATEWAY,
    NODES,
    NOWHERE,
    OTHER_BROKER,
    PEER,
    advertised,
    bound,
    door,
    front,
    gate,
    host_6,
    inside,
)
from tests.netns.doctor_worlds.middlebox import HTTP, MYSQL, REDIS, SMTP, SSH, Forward
from tests.netns.doctor_worlds.report import Client

from brokernat.address import Endpoint


@kind()
def mixed_listeners(dice: Dice) -> World:
    one, two = dice.sample(NODES, 2)
    servers = [front(one), door("PUBLIC", two), *(front(node) for node in some(dice, others(one, two)))]
    dice.shuffle(servers)
    return World(
        "FRONT and PUBLIC",
        Client(tuple(servers)),
        Demand(("listener",), codes=frozenset({"BN502"}), fix=(r"listener",)),
    )


@kind()
def lacks_the_listener(dice: Dice) -> World:
    demand = Demand((r"\b3\b", "PART|listener"), codes=frozenset({"BN503"}), never=(r"\b(is|may be|be) down\b",))
    return World("node 3 without PART", by("PART", some(dice, others(3))), demand)


@kind(slow=True)
def mixed_and_one_down(dice: Dice) -> World:
    down = dice.choice(NODES)
    one, two = dice.sample(others(down), 2)
    servers = [front(one), door("PUBLIC", two), door("PUBLIC", down)]
    demand = Demand(
        ("listener",), said=(rf"\b{down}\b.*\b(down|not run|no listener|none of its listeners)|down.*\b{down}\b",)
    )
    return World(f"node {down} down", Client(tuple(servers)), demand, (lambda site: site.ended(down),))


@kind(slow=True)
def down_and_all_led(dice: Dice) -> World:
    down = dice.choice(NODES)
    client = by("PUBLIC", some(dice))
    said = (rf"node {down}\b[^\n]*\b(down|not run|not running|no broker|refused)|down[^\n]*\b{down}\b",)
    demand = Demand(
        harmless=True, said=said, never=(ADD_LISTENER, "a listener that all brokers have", "stops? clients")
    )
    return World(f"node {down} down", client, demand, (lambda site: site.ended(down),))


@kind()
def a_reachable_listener_exists(dice: Dice) -> World:
    listener = dice.choice(["BOX", "FRONT"])
    # What is dead at the front is dead for all.
    client = by("BOX", some(dice)) if listener == "BOX" else Client(tuple(map(gate, some(dice))))
    return World(
        f"{listener} entered, PUBLIC reached",
        client,
        Demand(fix=(r"172\.20\.1\.4\d:9093",), never=(ADD_LISTENER, "listener PART works")),
        (forwards(NO_FRONTS), dns()),
    )


@kind()
def one_advertises_localhost(dice: Dice) -> World:
    client = by("ONE", some(dice))
    return World("node 2", client, Demand((r"\b2\b", "localhost"), never=(CLIENT_SETTINGS,)))


@kind(kraft=True)
def all_advertise_localhost(dice: Dice) -> World:
    listener = dice.choice(["LOCAL", "LOCALS"])
    there = dice.choice(["nothing", "http", "kafka"])
    ends = {Endpoint("127.0.0.1", advertised(listener, node).port) for node in NODES}
    servers = {"nothing": None, "http": Forward(answers=HTTP), "kafka": Forward((OTHER_BROKER,))}
    what = servers[there]
    changes = () if what is None else (lambda site: site.here(dict.fromkeys(ends, what)),)
    demand = Demand(
        ("localhost", r"\b(4|four|all|every|each)\b"),
        never=(NOT_KAFKA, "its own port", "another cluster", CLIENT_SETTINGS),
        codes=frozenset({"BN201"}),
    )
    return World(f"{listener}, {there} there", by(listener, some(dice)), demand, changes)


@kind()
def names_that_only_their_place_knows(dice: Dice) -> World:
    listener, remedy = dice.choice(
        [
            ("BOX", "container|docker"),
            ("SVC", "port-forward|kubernetes|kubectl"),
            ("CLOUD", r"cloud|\baws\b|ec2|public"),
        ]
    )
    name = re.escape(advertised(listener, 1).host) + "|" + re.escape(advertised(listener, 2).host)
    demand = Demand((rf"node|{name}",), said=(remedy,), codes=frozenset({"BN301", "BN203"}))
    return World(listener, by(listener, some(dice)), demand, (dns(),))


@kind(gate=False)
def mixed_listeners_three_ways(dice: Dice) -> World:
    one, two, three = dice.sample(NODES, 3)
    servers = (front(one), door("PUBLIC", two), door("NAMED", three))
    demand = Demand(("listener",), codes=frozenset({"BN502"}), fix=("listener",), never=(CLIENT_SETTINGS,))
    return World("FRONT, PUBLIC and NAMED", Client(servers), demand, (dns(),))


@kind(gate=False)
def mixed_with_a_protected_listener(dice: Dice) -> World:
    one, two = dice.sample(NODES, 2)
    listener = dice.choice(["TLS", "LOGIN"])
    odd = door(listener, two)
    servers = [odd, front(one), *map(front, some(dice, others(one, two)))]
    demand = Demand((re.escape(str(odd)), f"{listener}|SASL"), never=(CLIENT_SETTINGS, ADD_LISTENER, NOT_KAFKA))
    return World(f"FRONT and {odd}", Client(tuple(servers)), demand)


@kind(gate=False, kraft=True)
def one_rule_for_four_localhosts(dice: Dice) -> World:
    node = dice.choice(NODES)
    client = replace(by("LOCAL", [node]), rules=(f"{advertised('LOCAL', node)} = {door('LOCAL', node)}",))
    demand = Demand(
        ("localhost|same", r"\b(4|four|all|every|each|several)\b|nodes"), never=(CLIENT_SETTINGS, NOT_KAFKA)
    )
    return World(f"node {node}", client, demand)


@kind(gate=False, kraft=True)
def half_advertise_localhost(dice: Dice) -> World:
    client = by("HALF", some(dice, [2, 4]))
    never = (CLIENT_SETTINGS, NOT_KAFKA, "its own port")
    demand = Demand((r"\b1\b", r"\b3\b", "localhost"), fix=("advertise",), never=never)
    return World("nodes 1 and 3", client, demand)


@kind(gate=False)
def half_lack_the_listener(dice: Dice) -> World:
    demand = Demand(
        (r"\b2\b", r"\b4\b", "PAIR|listener"), codes=frozenset({"BN503"}), never=(r"\b(is|may be|be) down\b",)
    )
    return World("nodes 2 and 4 without PAIR", by("PAIR", some(dice, [1, 3])), demand)


@kind(gate=False)
def bootstrapped_at_two_clusters(dice: Dice) -> World:
    servers = [OTHER_BROKER, *map(front, some(dice))]
    dice.shuffle(servers)
    demand = Demand(
        ("cluster",), said=(re.escape(str(OTHER_BROKER)),), never=(CLIENT_SETTINGS, ADD_LISTENER, "correct the forward")
    )
    return World(f"{servers}", Client(tuple(servers)), demand)


@kind(gate=False)
def bootstrapped_at_the_inter_broker_listener(dice: Dice) -> World:
    entry, node = Endpoint(GATEWAY, 9300), dice.choice(NODES)
    peer = Endpoint(bound(node).host, PEER)
    demand = Demand(
        (r"10\.9\.0\.1\d|nodes",), fix=(r"172\.20\.1\.4\d:9093",), never=(ADD_LISTENER, CLIENT_SETTINGS, NOT_KAFKA)
    )
    return World(f"node {node}", Client((entry,)), demand, (forwards({entry: Forward((peer,))}),))


@kind(gate=False, kraft=True)
def bootstrapped_at_a_controller(dice: Dice) -> World:
    entry = Endpoint(GATEWAY, 9300)
    demand = Demand(("controller",), said=(re.escape(str(entry)),), never=(CLIENT_SETTINGS, ADD_LISTENER))
    return World("node 1", Client((entry,)), demand, (forwards({entry: Forward((CONTROLLER,))}),))


@kind(gate=False)
def a_client_of_another_protocol(dice: Dice) -> World:
    """Here it is the client's settings that are wrong: all brokers are alike."""
    scram = tuple((key, "SCRAM-SHA-256" if key == "sasl.mechanism" else value) for key, value in LOGINS["LOGIN"])
    over_tls = tuple((key, "SASL_SSL" if key == "security.protocol" else value) for key, value in LOGINS["LOGIN"])
    listener, properties, fix = dice.choice(
        [
            ("TLS", (), "security.protocol"),
            ("LOGIN", (), "security.protocol"),
            ("PUBLIC", LOGINS["TLS"], "security.protocol"),
            ("PUBLIC", LOGINS["LOGIN"], "security.protocol"),
            ("LOGIN", scram, "sasl.mechanism"),
            ("LOGIN", over_tls, "security.protocol"),
            ("TLS", LOGINS["LOGIN"], "security.protocol"),
        ]
    )
    client = replace(by(listener, some(dice)), properties=tuple(properties))
    demand = Demand(("TLS|SASL|login|mechanism",), fix=(re.escape(fix),), never=(ADD_LISTENER, NOT_KAFKA))
    return World(f"{listener} with {dict(properties)}", client, demand)


@kind(gate=False)
def short_names(dice: Dice) -> World:
    demand = Demand(
        ("hq-kafka",),
        said=("resolve|unknown",),
        fix=("hosts|domain|search|map|rule|dns",),
        codes=frozenset({"BN301", "BN203"}),
        never=(CLIENT_SETTINGS, NOT_KAFKA),
    )
    return World("hq-kafka1", by("SHORT", some(dice)), demand, (dns(),))


@kind(gate=False)
def all_bootstrap_servers_dead_differently(dice: Dice) -> World:
    ends = [Endpoint(GATEWAY, 9300), Endpoint(NOWHERE, 9092), Endpoint(f"old-kafka.{DOMAIN}", 9092)]
    dice.shuffle(ends)
    said = (r"9300[^\n]*refused", rf"{NOWHERE}", r"old-kafka[^\n]*(resolve|unknown|not known|name)")
    demand = Demand(("bootstrap",), said=said, never=(CLIENT_SETTINGS, NOT_KAFKA), exits=frozenset({3}))
    return World(f"{ends}", Client(tuple(ends)), demand, (dns(),))


@kind(gate=False)
def no_ipv6_here(dice: Dice) -> World:
    """The brokers advertise addresses of IPv6, and the client's machine has no route to them."""
    entries = {Endpoint(GATEWAY, 9310 + node): Forward((inside("SIX", node),)) for node in NODES}
    routes = [f"unreachable {host_6(node)}/128" for node in NODES]
    demand = Demand(
        (r"fd20:1::4|nodes",),
        said=("route|IPv6",),
        fix=(r"172\.20\.1\.4\d:9093",),
        never=(ADD_LISTENER, CLIENT_SETTINGS),
    )
    client = Client(tuple(dice.sample(sorted(entries), 2)))
    return World("SIX by IPv4", client, demand, (forwards(dict(entries)), routed(*routes)))


@kind(gate=False)
def a_client_of_tls_at_another_server(dice: Dice) -> World:
    """No protocol of the client's makes it a broker."""
    entry = Endpoint(GATEWAY, 9300)
    what, fault = dice.choice(
        [
            ("HTTP", Forward(answers=HTTP)),
            ("SSH", Forward(greets=SSH)),
            ("MySQL", Forward(greets=MYSQL)),
            ("SMTP", Forward(greets=SMTP)),
            ("Redis", Forward(answers=REDIS)),
        ]
    )
    demand = Demand((re.escape(str(entry)), what), never=(CLIENT_SETTINGS, ADD_LISTENER))
    return World(what, Client((entry,), properties=LOGINS["TLS"]), demand, (forwards({entry: fault}),))
