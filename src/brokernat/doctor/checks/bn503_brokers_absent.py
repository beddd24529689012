"""What: partitions, another bootstrap server, or another listener of the same node name node ids that the brokers' list
does not hold.
Why: a broker lacks the listener that the client came in on, so it is filtered out of the answer; or it is down.
Remedy: define the listener on every broker, or come in on another one.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence, Look
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import listener_of

CODE = "BN503"


def _find(evidence: Evidence) -> Iterator[Finding]:
    first = next(look for look in evidence.bootstraps if look.brokers is not None)
    if not any(look.brokers for look in evidence.bootstraps):
        remedy = Remedy(broker=("define this listener on every broker, or start those that are down",))
        yield Finding(CODE, Severity.ERROR, f"bootstrap {first.endpoint}", "it names no broker at all", remedy=remedy)
    for node_id, known in sorted(_expected(evidence, first).items()):
        lacking = [look for look in evidence.bootstraps if _lacks(look, node_id, first)]
        if not lacking:
            continue
        names = {name for look in lacking if (name := listener_of(evidence, look))}
        here = f"listener {', '.join(sorted(names))}" if names else "this listener"
        remedy = Remedy((_way_in(evidence, first),), (f"define {here} on every broker, or start those that are down",))
        told = tuple(f"not told by bootstrap {look.endpoint}" for look in lacking)
        yield Finding(CODE, Severity.ERROR, f"node {node_id}", f"not on {here}", (known, *told), ("BN502",), remedy)


def _expected(evidence: Evidence, first: Look) -> dict[int, str]:
    """Nodes that there are, and how that is known."""
    found = dict.fromkeys(evidence.replicas or (), "it holds partitions")
    for seen in evidence.listeners:
        if seen.look is not None and seen.look.cluster_id == first.cluster_id:
            for broker in seen.look.brokers or ():
                found.setdefault(broker.node_id, f"listener {seen.name} has it at {broker.endpoint}")
    for look in evidence.bootstraps:
        if look.cluster_id == first.cluster_id:
            for broker in look.brokers or ():
                found.setdefault(broker.node_id, f"bootstrap {look.endpoint} has it at {broker.endpoint}")
    return found


def _way_in(evidence: Evidence, first: Look) -> str:
    """A listener that works from here and knows the most; the brokers' own only where there is no other."""
    inner = dict(first.settings).get("inter.broker.listener.name")
    ways = [each for each in evidence.listeners if each.look is not None and each.look.brokers and not each.entered]
    best = max(
        ways, key=lambda each: (len(each.look.brokers or ()) if each.look else 0, each.name != inner), default=None
    )
    instead = f", as {best.name} at {best.endpoint}" if best is not None else ""
    return f"use bootstrap servers of a listener that all brokers have{instead}"


def _lacks(look: Look, node_id: int, first: Look) -> bool:
    if look.brokers is None or look.cluster_id != first.cluster_id:
        return False
    return node_id not in {broker.node_id for broker in look.brokers}


CHECK = Check(
    CODE,
    "Brokers are missing on this listener",
    "The bootstrap servers do not name all brokers, because a listener is missing or a broker is down: "
    "{subjects}{reason}.",
    _find,
    (Need.METADATA,),
)
