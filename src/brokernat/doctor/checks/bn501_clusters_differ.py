"""What: not all endpoints report one cluster id.
Why: a bootstrap server or a rule names a broker of another cluster. Clients mix their metadata, or loop.
Remedy: the endpoints of one cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import spots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from brokernat.doctor.evidence import Evidence

CODE = "BN501"


def _find(evidence: Evidence) -> Iterator[Finding]:
    seen: dict[str, list[str]] = {}
    for spot in spots(evidence):
        if spot.look.cluster_id:
            seen.setdefault(spot.look.cluster_id, []).append(spot.look.endpoint)
    if len(seen) > 1:
        told = tuple(f"{cluster}: {', '.join(dict.fromkeys(ends))}" for cluster, ends in seen.items())
        subject, message = f"cluster {evidence.cluster}", f"{len(seen)} cluster ids are answered"
        yield Finding(CODE, Severity.ERROR, subject, message, told, remedy=Remedy((_instead(seen),)))


def _instead(seen: Mapping[str, Sequence[str]]) -> str:
    """Which endpoints to take out, where most are of one cluster."""
    sizes = sorted((len(set(ends)) for ends in seen.values()), reverse=True)
    if sizes[0] == sizes[1]:
        return "give bootstrap servers and rules of one cluster"
    strangers = dict.fromkeys(end for ends in seen.values() if len(set(ends)) < sizes[0] for end in ends)
    return f"take out {', '.join(strangers)}: most endpoints are of another cluster"


CHECK = Check(
    CODE,
    "Endpoints lead to different clusters",
    "The endpoints that were given for {subjects} lead to different clusters.",
    _find,
    (Need.METADATA,),
)
