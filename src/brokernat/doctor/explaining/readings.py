"""Readings that rows of several families share, so that the same thing is said in the same words."""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.symptom import Reading, Role

MAP_RULE = (
    "give the client an address map with a rule for it (`brokernat discover` finds and proves the rule), or let the "
    "broker advertise to this side what it can dial"
)
LOOK_AT_BOOTSTRAP = (
    "compare `{endpoint}` with what the cluster's people gave: name, port, gateway, firewall; nothing has been learnt "
    "from the cluster yet, so no address map is involved"
)
LOGIN = "compare user and password with what the cluster's people gave; a secret's file may end in a blank or be stale"
MECHANISM = "set `sasl.mechanism` to one that the listener has, or give the port of the listener that has this one"
OTHER_PROTOCOL = "set `security.protocol` to the listener's, or give the port of the listener that speaks this one"

WRONG_BROKER = (
    "The client asked the leader or the coordinator, and somebody else answered. Repeated, the endpoint of one broker "
    "leads to another one: exchanged rules or ports, or a balancer."
)
LOOK_WHO_ANSWERS = (
    "compare where each advertised endpoint leads with who answers there: rules of the map, ports of the gateway, a "
    "balancer in between; once in a while it is only a leader that moved"
)

NO_COORDINATOR = (
    "The cluster answered that nobody coordinates the group now: `__consumer_offsets` has no leader, or its leader "
    "lacks the listener that the client came in on, or it could not be made (fewer brokers than "
    "`offsets.topic.replication.factor`). For a moment after a start it is normal."
)
LOOK_AT_OFFSETS_TOPIC = "when it lasts, look at the leaders of `__consumer_offsets` and at the listeners of all brokers"

UNREACHABLE: Final = {
    Role.BOOTSTRAP: Reading(
        "The bootstrap server {endpoint} takes no connection from here.", LOOK_AT_BOOTSTRAP, ("BN103",)
    ),
    Role.ADVERTISED: Reading(
        "Node {node} advertises {endpoint}, which takes no connection from here. Only metadata tells a client of node "
        "{node}, so a bootstrap server did answer.",
        MAP_RULE,
        ("BN302", "BN305"),
    ),
    Role.COORDINATOR: Reading(
        "The coordinator of this group or transaction is node {node}, whose endpoint {endpoint} takes no connection "
        "from here. It comes by another answer than the topics' leaders, so a fix of metadata alone does not reach it.",
        MAP_RULE,
        ("BN701", "BN302"),
    ),
    Role.UNNAMED: Reading("{endpoint} takes no connection from here.", MAP_RULE, ("BN103", "BN302")),
}
UNRESOLVED: Final = {
    Role.BOOTSTRAP: Reading(
        "The name of the bootstrap server {endpoint} does not resolve here.", LOOK_AT_BOOTSTRAP, ("BN102",)
    ),
    Role.ADVERTISED: Reading(
        "Node {node} advertises {endpoint}, and that name does not resolve here. A bootstrap server did answer.",
        MAP_RULE,
        ("BN301",),
    ),
    Role.COORDINATOR: Reading(
        "The coordinator's endpoint {endpoint} has a name that does not resolve here.", MAP_RULE, ("BN701", "BN301")
    ),
    Role.UNNAMED: Reading(
        "The name `{host}` does not resolve here. Unless it is a bootstrap server's, a broker advertises it.",
        MAP_RULE,
        ("BN301", "BN102"),
    ),
}
CUT_OFF: Final = {
    Role.BOOTSTRAP: Reading(
        "The bootstrap server {endpoint} took the connection and ended it without an answer that the client "
        "understands: a gateway with nothing behind it, a port of TLS or of another service, or a broker that closes.",
        OTHER_PROTOCOL + "; look whether something listens behind the gateway",
        ("BN103", "BN104", "BN401"),
    ),
    Role.ADVERTISED: Reading(
        "Node {node} at {endpoint} took the connection and ended it.",
        "look whether the broker is up behind that endpoint, and whether its port speaks the client's protocol",
        ("BN302", "BN305", "BN401"),
    ),
    Role.COORDINATOR: Reading(
        "The coordinator, node {node} at {endpoint}, took the connection and ended it.",
        "look whether the broker is up behind that endpoint, and whether its port speaks the client's protocol",
        ("BN701", "BN401"),
    ),
    Role.UNNAMED: Reading(
        "{endpoint} took the connection and ended it.",
        OTHER_PROTOCOL + "; look whether something listens behind the gateway",
        ("BN103", "BN401"),
    ),
}
