"""What: a rule names the advertised endpoint, and what it leads to does not resolve or takes no connection.
Why: a wrong host or port in the rule, a forward that is missing at the gateway, a broker that is down.
Remedy: correct the rule, or the forward.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import dialled, unreachable

CODE = "BN305"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in dialled(evidence):
        path, reason = spot.path, unreachable(spot.look)
        if path is not None and path.rule and reason:
            remedy = Remedy(
                (f"correct the rule `{path.rule}`",), ("see that the forward to this node is there and the node runs",)
            )
            message = f"the rule leads to {spot.look.endpoint}: {reason}"
            yield Finding(
                CODE, Severity.ERROR, spot.subject, message, (f"rule: {path.rule}",), ("BN103", "BN102"), remedy
            )


CHECK = Check(
    CODE,
    "A node is not reached even with the map",
    "The address map leads to endpoints that cannot be reached: {subjects}.",
    _find,
    (
        Need.METADATA,
        Need.MAP,
    ),
)
