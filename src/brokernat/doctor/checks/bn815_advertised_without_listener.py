"""What: `advertised.listeners` has a name that `listeners` does not have.
Why: what is advertised belongs to a port that is bound, and the name joins them. The broker does not start.
Remedy: a listener of that name, or another name.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import serving
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN815"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in serving(evidence):
        bound = {each.name for each in broker.listeners}
        for each in broker.advertised:
            if each.name not in bound:
                remedy = Remedy(broker=(f"add {each.name}://:{each.port} to `listeners`, or take it out here",))
                message = f"{each} is advertised, and no listener {each.name} is bound"
                seen = (f"listeners: {', '.join(map(str, broker.listeners))}",)
                yield Finding(CODE, Severity.ERROR, broker.name, message, seen, ("BN811",), remedy)


CHECK = Check(
    CODE,
    "A listener is advertised that does not exist",
    "Listeners are advertised that are not bound, so the broker does not start: {subjects}.",
    _find,
    (Need.FILES,),
)
