"""What: the advertised endpoint takes no connection from here, and the endpoint of the rule does.
Why: this is what the map is for. A client without it will fail.
Remedy: none is needed; every client of this cluster needs the map.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Severity
from brokernat.doctor.reading import node, unreachable

CODE = "BN304"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for path in evidence.paths:
        if path.rule and path.direct and path.look and path.look.answers and unreachable(path.direct):
            seen = (f"advertised: {unreachable(path.direct)}", f"rule: {path.rule}")
            yield Finding(CODE, Severity.INFO, node(path), "reached through the address map only", seen)


CHECK = Check(
    CODE,
    "A node is reached only because of the map",
    "{subjects} are reached only through the address map.",
    _find,
    (
        Need.METADATA,
        Need.MAP,
    ),
)
