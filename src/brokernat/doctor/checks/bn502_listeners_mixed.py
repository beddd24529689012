"""What: bootstrap servers of one cluster advertise different sets of brokers.
Why: a broker answers with the endpoints of the listener NAME that the client came in on. With servers of several
listeners, each metadata update may bring other endpoints: brokers come and go.
Remedy: bootstrap servers of one listener.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import advertised_sets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brokernat.doctor.evidence import Evidence

CODE = "BN502"


def _find(evidence: Evidence) -> Iterator[Finding]:
    sets = advertised_sets(evidence)
    if len(sets) > 1 and len({look.cluster_id for looks in sets.values() for look in looks}) == 1:
        told = tuple(
            f"{', '.join(look.endpoint for look in looks)} say: {', '.join(each)}" for each, looks in sets.items()
        )
        remedy = Remedy(("give bootstrap servers of one listener",), ("define the listener on every broker",))
        message = f"{len(sets)} different sets of brokers are advertised"
        yield Finding(CODE, Severity.ERROR, f"cluster {evidence.cluster}", message, told, ("BN501",), remedy)


CHECK = Check(
    CODE,
    "Bootstrap servers belong to different listeners",
    "The bootstrap servers belong to different listeners, so a client's brokers change with the server that answers.",
    _find,
    (Need.METADATA,),
)
