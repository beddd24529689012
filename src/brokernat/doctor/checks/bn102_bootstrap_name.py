"""What: the resolver of this machine knows no address for the host of a bootstrap server.
Why: a typing error, a name of another network, or a missing search domain. Clients drop such an entry:
where another server answers, if only to refuse the login, they go on with that one, so this is a warning.
Remedy: correct the name, or use an address.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import nearly_in

CODE = "BN102"


def _find(evidence: Evidence) -> Iterator[Finding]:
    severity = Severity.WARNING if nearly_in(evidence) else Severity.ERROR
    for look in evidence.bootstraps:
        if look.dns_error:
            remedy = Remedy(
                client=("correct the name in `bootstrap_servers`, or write an address that is reached from here",)
            )
            message = "the name does not resolve on this machine"
            yield Finding(CODE, severity, f"bootstrap {look.endpoint}", message, (look.dns_error,), remedy=remedy)


CHECK = Check(
    CODE,
    "A bootstrap server's name does not resolve",
    "The name of {subjects} does not resolve on this machine.",
    _find,
)
