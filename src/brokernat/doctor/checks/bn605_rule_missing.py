"""What: the map says `unmapped: fail`, and no rule names an endpoint that is advertised.
Why: a broker is new, or has another address or port than the map says.
Remedy: the rule; or `unmapped: pass` where the endpoint can be dialled as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.places import dialable
from brokernat.doctor.reading import node, proven_line

CODE = "BN605"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for path in evidence.paths:
        if path.look is None and dialable(path.broker.host, path.broker.port):
            remedy = Remedy(rules=proven_line(evidence, path))
            message = "no rule of the address map names it, so clients refuse to dial it"
            yield Finding(CODE, Severity.ERROR, node(path), message, because=("BN501", "BN502", "BN609"), remedy=remedy)


CHECK = Check(
    CODE,
    "An advertised endpoint has no rule",
    "The address map has no rule for {subjects}, and refuses what it has no rule for.",
    _find,
    (
        Need.METADATA,
        Need.MAP,
    ),
)
