"""What: one listener name has different security protocols on different brokers.
Why: a client speaks one protocol to all brokers that it is told of, and these are those of one listener name.
Remedy: one protocol for a name; another name for another protocol.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import serving
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN826"


def _find(evidence: Evidence) -> Iterator[Finding]:
    brokers = serving(evidence)
    for name in dict.fromkeys(each.name for broker in brokers for each in broker.advertised):
        having = [broker for broker in brokers if any(each.name == name for each in broker.advertised)]
        spoken = {broker.name: broker.protocols[name] for broker in having if name in broker.protocols}
        if len(set(spoken.values())) > 1:
            seen = tuple(f"{broker}: {protocol}" for broker, protocol in spoken.items())
            remedy = Remedy(broker=("give one protocol to one name, on every broker",))
            message = f"it speaks {' and '.join(dict.fromkeys(spoken.values()))}"
            yield Finding(CODE, Severity.ERROR, f"listener {name}", message, seen, remedy=remedy)


CHECK = Check(
    CODE,
    "One listener name speaks different protocols",
    "Brokers speak different protocols under one listener name ({subjects}).",
    _find,
    (Need.FILES,),
)
