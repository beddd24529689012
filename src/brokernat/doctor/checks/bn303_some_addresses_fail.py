"""What: a name has several addresses (A, AAAA) and not all take a connection.
Why: IPv6 without a route, or an old record. Clients try them in the order of the resolver, so it fails now and then.
`localhost` is left out: it has both kinds of address everywhere, and refuses at once on the wrong one.
Remedy: correct the records.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.places import is_loopback
from brokernat.doctor.reading import spots

CODE = "BN303"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        failed = [f"{each.address}: {each.outcome}" for each in spot.look.attempts if each.outcome != "connected"]
        if spot.look.connected and failed and not all(is_loopback(each) for each in spot.look.addresses):
            remedy = Remedy(client=("remove the addresses that do not work from DNS or from the hosts file",))
            message = "some addresses of the name take no connection"
            yield Finding(CODE, Severity.WARNING, spot.subject, message, tuple(failed), remedy=remedy)


CHECK = Check(
    CODE,
    "Some addresses of a name take no connection",
    "Some addresses of {subjects} take no connection.",
    _find,
)
