"""What: what is dialled for a node advertises other endpoints of the nodes than the bootstrap servers do.
Why: the rule leads to the right broker and the port of another listener. Metadata read there switches endpoints.
Remedy: the port of the same listener.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import dialled, same_listener

CODE = "BN603"


def _find(evidence: Evidence) -> Iterator[Finding]:
    answering = [look for look in evidence.bootstraps if look.answers]
    for spot in dialled(evidence):
        told = tuple(f"{each.node_id} {each.endpoint}" for each in spot.look.brokers or ())
        known = any(same_listener(spot.look, look) for look in answering)
        if told and spot.path is not None and spot.path.rule and not known:
            remedy = Remedy((f"let the rule `{spot.path.rule}` lead to the listener of the bootstrap servers",))
            message = f"{spot.look.endpoint} advertises another set of brokers"
            yield Finding(
                CODE,
                Severity.ERROR,
                spot.subject,
                message,
                (f"it says: {', '.join(told)}",),
                ("BN501", "BN601"),
                remedy,
            )


CHECK = Check(
    CODE,
    "The right node, on another listener",
    "The address map leads to another listener of the brokers: {subjects}.",
    _find,
    (
        Need.METADATA,
        Need.MAP,
    ),
)
