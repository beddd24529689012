"""What: no endpoint that is advertised now is matched by the rule, and no bootstrap server.
Why: the broker was removed or has another address; or the rule has a typing error.
Remedy: remove or correct it.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import hidden_rules

CODE = "BN606"


def _find(evidence: Evidence) -> Iterator[Finding]:
    used = {path.rule for path in evidence.paths}
    if used.isdisjoint(evidence.rules or ()):
        # BN609 says it of the whole map.
        return
    used |= {look.rule for look in evidence.bootstraps}
    hidden = hidden_rules(evidence)
    missing = set(evidence.replicas or ()) - {path.broker.node_id for path in evidence.paths}
    # A rule for a broker that is down is not to be removed.
    unless = f", unless it is for node {', '.join(map(str, sorted(missing)))}, which is missing" if missing else ""
    for rule in evidence.rules or ():
        if rule not in used and rule not in hidden:
            remedy = Remedy((f"remove or correct `{rule}`{unless}",))
            yield Finding(
                CODE, Severity.WARNING, f"rule {rule}", "no advertised endpoint is matched by it", remedy=remedy
            )


CHECK = Check(
    CODE,
    "A rule is never used",
    "{subjects} is never used.",
    _find,
    (
        Need.METADATA,
        Need.MAP,
    ),
)
