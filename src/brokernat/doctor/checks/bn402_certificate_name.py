"""What: none of the names in the certificate is the one that the client verifies: the advertised one, or that of the
bootstrap server. An address map does not change the name.
Why: the certificate was made for other names; a bootstrap server that is a gateway is not in the brokers' certificates.
Remedy: a certificate with this name among its alternative names, or the name of the certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brokernat.doctor.evidence import Evidence
    from brokernat.doctor.reading import Spot

CODE = "BN402"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        if spot.look.tls is not None and spot.look.tls.outcome == "name-mismatch":
            seen = (f"names of the certificate: {', '.join(spot.look.tls.names) or 'none'}",)
            remedy = Remedy(
                (_by_its_name(spot),), (f"add `{spot.look.name}` to the certificate's alternative names",), _rules(spot)
            )
            message = f"the certificate does not hold `{spot.look.name}`"
            yield Finding(CODE, Severity.ERROR, spot.subject, message, seen, remedy=remedy)


def _by_its_name(spot: Spot) -> str:
    named = _rules(spot)
    if not named:
        return "use a name that the certificate holds"
    return f"with this rule, bootstrap by the name that the certificate holds: {named[0].partition(' = ')[0]}"


def _rules(spot: Spot) -> tuple[str, ...]:
    """A client that comes in by the name needs a rule for it, and need not switch verification off."""
    whole = [name for name in spot.look.tls.names if not name.startswith("*")] if spot.look.tls else []
    if spot.path is not None or not whole:
        return ()
    return (f"{whole[0]}:{spot.look.endpoint.rpartition(':')[2]} = {spot.look.endpoint}",)


CHECK = Check(
    CODE,
    "The certificate does not hold the broker's name",
    "The certificate of {subjects} is made for other names.",
    _find,
)
