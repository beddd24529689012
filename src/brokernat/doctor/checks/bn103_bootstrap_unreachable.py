"""What: no address of a bootstrap server takes a TCP connection. Refused: the host is there and nothing listens at the
port. No answer: a firewall drops the packets, or there is no such host. No route: this machine knows no way.
Why: a wrong port, a broker or gateway that is down, a firewall. Where another server answers, if only to refuse the
login, clients go on with that one, so this is a warning.
Remedy: correct the endpoint, start what should listen there, or have the port opened.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import nearly_in, unreachable

CODE = "BN103"


def _find(evidence: Evidence) -> Iterator[Finding]:
    severity = Severity.WARNING if nearly_in(evidence) else Severity.ERROR
    for look in evidence.bootstraps:
        reason = unreachable(look)
        if reason and not look.dns_error:
            remedy = Remedy(
                client=("correct the endpoint in `bootstrap_servers`, or have the port opened from here",),
                broker=("see that the broker or the gateway runs and listens at this port",),
            )
            yield Finding(CODE, severity, f"bootstrap {look.endpoint}", reason, remedy=remedy)


CHECK = Check(
    CODE,
    "A bootstrap server takes no connection",
    "{subjects} cannot be reached from here{reason}.",
    _find,
)
