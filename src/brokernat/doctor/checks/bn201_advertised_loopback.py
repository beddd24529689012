"""What: `localhost` or a loopback address is advertised, and the bootstrap servers are on other machines.
Why: `advertised.listeners` was left at its default, or written for clients on the broker's host. On that host it works,
and is a warning there.
Remedy: advertise what clients can dial, on a listener of its own where both are needed; or a rule of the address map.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.places import is_loopback
from brokernat.doctor.reading import node, proven_line

CODE = "BN201"


def _find(evidence: Evidence) -> Iterator[Finding]:
    remote = any(not is_loopback(each) for look in evidence.bootstraps for each in look.addresses)
    home = {look.cluster_id for look in evidence.bootstraps if look.answers}
    for path in evidence.paths:
        if remote and is_loopback(path.broker.host):
            remedy = Remedy(
                rules=proven_line(evidence, path),
                broker=("advertise an endpoint that clients can dial in `advertised.listeners`",),
            )
            message = "the broker tells clients to dial their own machine"
            severity = Severity.INFO if path.rule else Severity.ERROR
            if not path.rule and path.look is not None and path.look.answers and path.look.cluster_id in home:
                severity, message = Severity.WARNING, f"{message}, which works on this one and on no other"
            yield Finding(CODE, severity, node(path), message, remedy=remedy)


CHECK = Check(
    CODE,
    "A broker advertises this machine's own address",
    "The brokers advertise a loopback address ({subjects}): clients elsewhere dial themselves.",
    _find,
    (Need.METADATA,),
)
