"""What: the port takes connections, and what answers a Kafka request is HTTP, SSH, nothing at all, or unknown.
Why: a wrong port, a proxy's own page, a gateway that takes connections for a broker which is down, or a broker that
hangs.
Remedy: the port of a Kafka listener.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

CODE = "BN104"
_SAID = {
    "http": "an HTTP server answers",
    "ssh": "an SSH server answers",
    "silence": "connections are taken and nothing is ever said",
    "closed": "connections are taken and closed at the first request",
    "other": "what answers is no Kafka",
}


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        said = _SAID.get(spot.look.speaks or "")
        if spot.look.slow:
            said = "it greets as Kafka does, and the request for the brokers is not answered in time"
        elif spot.look.sasl is not None and spot.look.sasl.outcome == "ok" and not spot.look.answers:
            said = "the login works and the brokers' list is not answered"
        if said and spot.look.complete and (spot.look.tls is None or spot.look.tls.outcome != "not-tls"):
            seen = (f"first bytes: {spot.look.first_bytes}",) if spot.look.first_bytes else ()
            remedy = Remedy(
                client=("give the port of a Kafka listener",),
                broker=("if a gateway listens here: see that the broker behind it runs",),
            )
            yield Finding(CODE, Severity.ERROR, spot.subject, said, seen, remedy=remedy)


CHECK = Check(
    CODE,
    "Something else than Kafka answers",
    "{subjects} is not a Kafka broker{reason}.",
    _find,
)
