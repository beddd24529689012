"""What: not all endpoints report one cluster id.
Why: a bootstrap server or a rule names a broker of another cluster. Clients mix their metadata, or loop.
Remedy: the endpoints of one cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import spots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brokernat.doctor.evidence import Evidence

CODE = "BN501"


def _find(evidence: Evidence) -> Iterator[Finding]:
    seen: dict[str, list[str]] = {}
    for spot in spots(evidence):
        if spot.look.cluster_id:
            seen.setdefault(spot.look.cluster_id, []).append(spot.look.endpoint)
    if len(seen) > 1:
        told = tuple(f"{cluster}: {', '.join(dict.fromkeys(ends))}" for cluster, ends in seen.items())
        remedy = Remedy(("give bootstrap servers and rules of one cluster",))
        yield Finding(
            CODE, Severity.ERROR, f"cluster {evidence.cluster}", f"{len(seen)} cluster ids", told, remedy=remedy
        )


CHECK = Check(
    CODE,
    "Endpoints lead to different clusters",
    "The endpoints lead to different clusters: {subjects}.",
    _find,
    (Need.METADATA,),
)
