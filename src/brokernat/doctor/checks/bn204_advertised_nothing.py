"""What: an empty host, `0.0.0.0`, `::`, or a port that is none is advertised.
Why: `advertised.listeners` is missing and `listeners` is a wildcard, or a listener is not up yet.
Remedy: write `advertised.listeners` with a host and a port.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.places import address
from brokernat.doctor.reading import node

CODE = "BN204"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for path in evidence.paths:
        place = address(path.broker.host)
        if path.rule:
            # A rule makes something of it that can be dialled.
            continue
        if not path.broker.host or not 1 <= path.broker.port <= 65535 or (place is not None and place.is_unspecified):
            remedy = Remedy(broker=("write `advertised.listeners` with a host and a port that clients can dial",))
            yield Finding(CODE, Severity.ERROR, node(path), "nothing that a client could dial", remedy=remedy)


CHECK = Check(
    CODE,
    "A broker advertises no address at all",
    "The brokers advertise nothing that can be dialled ({subjects}).",
    _find,
    (Need.METADATA,),
)
