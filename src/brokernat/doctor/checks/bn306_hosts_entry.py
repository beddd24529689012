"""What: a line of this machine's hosts file decides where a name leads.
Why: it stands above the name server, on this machine only. It is not there in containers and on other hosts, it does
not follow when the broker moves, two clusters with the same names cannot both be meant, and nobody sees it in the
client's configuration.
Remedy: a rule of the address map, which belongs to one client and is checked; or a name server that says the same for
all.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence, Path
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import proven_line, spots, unreachable

CODE = "BN306"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        line = spot.look.hosts_entry
        if line is not None:
            yield Finding(
                CODE,
                Severity.WARNING if unreachable(spot.look) else Severity.INFO,
                spot.subject,
                "a line of this machine's hosts file decides where the name leads",
                (f"/etc/hosts: {line}",),
                remedy=_remedy(evidence, spot.path),
            )


def _remedy(evidence: Evidence, path: Path | None) -> Remedy:
    broker = ("advertise a name that the clients' name server knows",)
    if path is None:
        return Remedy(("give an address, or a name that the name server knows, as bootstrap server",), broker)
    return Remedy(("give the map the rule, and take the line out",), broker, proven_line(evidence, path))


CHECK = Check(
    CODE,
    "A hosts file entry decides this name",
    "A line of the hosts file decides where the brokers' names lead ({subjects}).",
    _find,
)
