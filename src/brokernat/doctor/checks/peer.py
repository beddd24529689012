"""What answers where a Kafka broker is expected, and what becomes of the answers on the path."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.checks.queries import at, probed_endpoints
from brokernat.doctor.checks.registry import check
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Finding, Remedy, Severity

_SAID = {
    "http": "an HTTP server answers",
    "ssh": "an SSH server answers",
    "silence": "connections are taken and nothing is ever said",
    "closed": "connections are taken and closed at the first request",
    "other": "what answers is no Kafka",
}


@check(
    "BN104",
    "Something else than Kafka answers",
    "{subjects} is not a Kafka broker{reason}.",
)
def not_kafka(evidence: Evidence) -> Iterator[Finding]:
    """What: the port takes connections, and what answers a Kafka request is HTTP, SSH, nothing at all, or unknown.
    Why: a wrong port, a proxy's own page, a gateway that takes connections for a broker which is down, or a broker that
    hangs.
    Remedy: the port of a Kafka listener.
    """
    for probed in probed_endpoints(evidence):
        said = _SAID.get(probed.look.speaks or "")
        if probed.look.slow:
            said = "it greets as Kafka does, and the request for the brokers is not answered in time"
        elif probed.look.sasl is not None and probed.look.sasl.outcome == "ok" and not probed.look.answers:
            said = "the login works and the brokers' list is not answered"
        if said and probed.look.complete and (probed.look.tls is None or probed.look.tls.outcome != "not-tls"):
            seen = (f"first bytes: {probed.look.first_bytes}",) if probed.look.first_bytes else ()
            remedy = Remedy(
                client=("give the port of a Kafka listener",),
                broker=("if a gateway listens here: see that the broker behind it runs",),
            )
            yield at(probed, Severity.ERROR, said, seen, remedy=remedy)


@check(
    "BN105",
    "A controller is given for a broker",
    "{subjects} is a controller's listener, where clients cannot read metadata.",
)
def controller_listener(evidence: Evidence) -> Iterator[Finding]:
    """What: what answers is a KRaft controller's own listener: it takes registrations of brokers and knows no metadata.
    Why: the port of `controller.listener.names` is given, often 9093. Clients get UNSUPPORTED_VERSION or are hung up
    on; admin tools say MISMATCHED_ENDPOINT_TYPE (KIP-919).
    Remedy: the port of a broker's listener.
    """
    for probed in probed_endpoints(evidence):
        if probed.look.speaks == "controller":
            remedy = Remedy(("give the port of a listener that is not in `controller.listener.names`",))
            message = "a KRaft controller answers, which serves brokers and no clients"
            seen = ("the requests that it knows: BrokerRegistration is among them, Metadata is not",)
            yield at(probed, Severity.ERROR, message, seen, remedy=remedy)
