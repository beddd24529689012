"""What: no rule of the address map names any endpoint that is advertised now, or a bootstrap server.
Why: the map was written for another cluster or another listener, or the brokers have moved since.
Remedy: write the map anew, from what is advertised now.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import proven_lines

CODE = "BN609"
_SHOWN = 3


def _find(evidence: Evidence) -> Iterator[Finding]:
    used = any(path.rule for path in evidence.paths) or any(look.rule for look in evidence.bootstraps)
    if not evidence.rules or not evidence.paths or used:
        return
    advertised = ", ".join(path.broker.endpoint for path in evidence.paths[:_SHOWN])
    more = f" and {len(evidence.paths) - _SHOWN} more" if len(evidence.paths) > _SHOWN else ""
    severity = Severity.ERROR if evidence.unmapped == "fail" else Severity.WARNING
    message = "no rule names an endpoint that is advertised"
    seen = (f"advertised: {advertised}{more}", f"first rule: {evidence.rules[0]}")
    remedy = Remedy(("write the map anew: `brokernat discover` finds it",), rules=proven_lines(evidence))
    subject = f"cluster {evidence.cluster}"
    yield Finding(CODE, severity, subject, message, seen, ("BN501", "BN502"), remedy)


CHECK = Check(
    CODE,
    "The map is for other endpoints",
    "The address map names none of the endpoints that {subjects} advertises now.",
    _find,
    (Need.METADATA, Need.MAP),
)
