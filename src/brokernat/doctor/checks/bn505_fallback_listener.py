"""What: one broker advertises an endpoint of another kind of address and another port than all its peers, which
agree, and it is not reached there.
Why: brokers that do not know the listener a client came in on may fall back to another one, as Redpanda does; or this
broker's `advertised.listeners` was forgotten.
Remedy: advertise the listener on this broker as on the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Confidence, Finding, Need, Remedy, Severity
from brokernat.doctor.places import address, network
from brokernat.doctor.reading import lets_in

CODE = "BN505"
# Of two, nobody can say which is the odd one.
_FEWEST = 3


def _find(evidence: Evidence) -> Iterator[Finding]:
    brokers = next(look.brokers for look in evidence.bootstraps if look.brokers is not None)
    kinds = [(_kind(each.host), each.port) for each in brokers]
    met = Counter(kinds)
    reached = {path.broker for path in evidence.paths if lets_in(path)}
    for broker, own in zip(brokers, kinds, strict=True):
        peers = [kind for kind, times in met.items() if times > (kind == own)]
        if len(brokers) < _FEWEST or len(peers) > 1 or broker in reached:
            continue
        kind, port = peers[0]
        if kind != own[0] and port != broker.port:
            remedy = Remedy(broker=("advertise the same listener on this node as on its peers",))
            message = f"its peers all advertise {kind} and port {port}"
            subject = f"node {broker.node_id} at {broker.endpoint}"
            yield Finding(CODE, Severity.WARNING, subject, message, remedy=remedy, confidence=Confidence.LIKELY)


def _kind(host: str) -> str:
    place = address(host)
    if place is None:
        return "names"
    return "public addresses" if place.is_global else f"addresses of {network(host)}"


CHECK = Check(
    CODE,
    "One broker seems to answer for another listener",
    "{subjects} is advertised unlike its peers.",
    _find,
    (Need.METADATA,),
)
