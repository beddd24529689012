"""The broker's side of an address map: a second listener that advertises what clients behind the NAT can dial.

INTERNAL keeps what brokers advertise today, so nobody inside notices. EXTERNAL advertises the reachable side of each
rule and binds the port that the gateway listens on, which the gateway then has to lead to. With that, clients need no
map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from brokernat.address import Endpoint
from brokernat.errors import Problem
from brokernat.render.forwards import Forward
from brokernat.render.listeners_plan import ListenersPlan, PlannedBroker, PlannedListener, Quorum, checked

INTERNAL, EXTERNAL = "INTERNAL", "EXTERNAL"
_ANOTHER_PORT = 10000


def plan_behind_nat(
    forwards: Sequence[Forward],
    node_ids: Mapping[Endpoint, int] | None = None,
    *,
    first_id: int = 1,
    protocol: str = "PLAINTEXT",
    quorum: Quorum = Quorum.COMBINED,
    controller: str | None = None,
) -> ListenersPlan:
    """Two listeners for each broker that the gateway leads to.

    Args:
        forwards: what the gateway does, in the order of the rules.
        node_ids: who advertises what, where it was seen; else nodes are counted from `first_id` on.
        protocol: what clients speak, on both listeners.

    Raises:
        ConfigError: an advertised endpoint belongs to no node that was seen.
    """
    brokers = []
    problems = []
    for number, forward in enumerate(forwards, start=first_id):
        node_id = number if node_ids is None else node_ids.get(forward.upstream)
        if node_id is None:
            message = f"nobody was seen to advertise {forward.upstream}, so its node id is not known"
            problems.append(Problem("unknown-node", message, "take the rule out, or give evidence that has the node"))
        else:
            brokers.append(_broker(node_id, forward, protocol))
    return replace(checked(brokers, INTERNAL, quorum, controller, problems), exists=True)


def forwards_to_make(plan: ListenersPlan) -> tuple[str, ...]:
    """What the gateway has to do then, as lines for people."""
    lines = []
    for broker in plan.brokers:
        inside, outside = broker.listeners
        lines.append(f"{outside.advertised} -> {inside.advertised.host}:{outside.bound_port}")
    return tuple(lines)


def _broker(node_id: int, forward: Forward, protocol: str) -> PlannedBroker:
    inside, outside = forward.upstream, forward.listen
    # A NAT that keeps ports would have both listeners on one.
    port = outside.port if outside.port != inside.port else (outside.port + _ANOTHER_PORT) % 2**16
    return PlannedBroker(
        node_id,
        (
            PlannedListener(INTERNAL, protocol, f":{inside.port}", inside.port, inside),
            PlannedListener(EXTERNAL, protocol, f":{port}", port, outside),
        ),
        None,
    )
