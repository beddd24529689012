"""What: every node is reached as it is advertised, and none of them is a bootstrap server.
Why: the bootstrap servers are a balancer's or a virtual address, which is usual; what clients need is to reach the
nodes as well, and they do.
Remedy: none is needed. A firewall rule must allow the nodes' endpoints too, not the bootstrap servers' alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence, Look
from brokernat.doctor.finding import Check, Finding, Need, Severity

CODE = "BN206"


def _find(evidence: Evidence) -> Iterator[Finding]:
    if evidence.rules or not evidence.paths or not all(path.look and path.look.answers for path in evidence.paths):
        return
    places = {place for look in evidence.bootstraps for place in _places(look)}
    if not any(path.look and places & _places(path.look) for path in evidence.paths):
        message = "no node advertises one of the bootstrap servers, as behind a virtual address"
        yield Finding(CODE, Severity.INFO, f"cluster {evidence.cluster}", message)


def _places(look: Look) -> set[str]:
    """The endpoint, and what its name led to."""
    port = look.endpoint.rpartition(":")[2]
    return {look.endpoint, *(f"{address}:{port}" for address in look.addresses)}


CHECK = Check(
    CODE,
    "No node is a bootstrap server",
    "No node of {subjects} advertises a bootstrap server.",
    _find,
    (Need.METADATA,),
)
