"""What: metadata names a host that the resolver of this machine does not know, and no rule leads elsewhere.
Why: the broker advertises a name of its own network. Clients log `UnknownHostException` or `Host resolution failure`.
Remedy: a rule of the address map; or a listener that advertises a name for this side.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import dialled, proven_line

CODE = "BN301"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in dialled(evidence):
        path = spot.path
        if path is not None and path.rule is None and spot.look.dns_error:
            remedy = Remedy(
                rules=proven_line(evidence, path),
                broker=("add a listener that advertises a name which resolves for clients",),
            )
            message = "the advertised name does not resolve on this machine"
            yield Finding(
                CODE, Severity.ERROR, spot.subject, message, (spot.look.dns_error,), ("BN201", "BN204", "BN502"), remedy
            )


CHECK = Check(
    CODE,
    "An advertised name does not resolve",
    "The bootstrap servers answer, and tell clients to dial names that do not resolve: {subjects}.",
    _find,
    (Need.METADATA,),
)
