"""What: `client.dns.lookup` asks for canonical names, and the name server has another name for a bootstrap server's
address. From then on clients call the server so: for TLS, for Kerberos, and for the address map.
Why: the reverse entry is a gateway's, a cloud provider's, or missing. Where the name does not lead back to the address,
Java takes the address itself for the name.
Remedy: `client.dns.lookup: use_all_dns_ips`, Kafka's default; or a right reverse entry.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity

CODE = "BN106"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for look in evidence.bootstraps:
        others = [name for name in look.canonical if name.rstrip(".").lower() != look.name.rstrip(".").lower()]
        if others:
            remedy = Remedy(
                ("set `client.dns.lookup: use_all_dns_ips`",), ("correct the reverse entries of the name server",)
            )
            message = f"clients take it for {', '.join(dict.fromkeys(others))}"
            seen = (f"client.dns.lookup: {evidence.dns_lookup}", f"addresses: {', '.join(look.addresses)}")
            yield Finding(CODE, Severity.WARNING, f"bootstrap {look.endpoint}", message, seen, remedy=remedy)


CHECK = Check(
    CODE,
    "A bootstrap server's canonical name is another",
    "The name server calls {subjects} something else.",
    _find,
)
