"""What: none of the names in the certificate is the one that the client verifies: the advertised one, or that of the
bootstrap server. An address map does not change the name. Or not all clients take it for that: Java wants no `_` in a
name, librdkafka and Python want a `*` alone in its label and two dots behind it.
Why: the certificate was made for other names; a bootstrap server that is a gateway is not in the brokers' certificates;
an address stands there as a name (`dns:10.0.0.5`), and counts for no client.
Remedy: a certificate with this name among its alternative names, or the name of the certificate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brokernat.doctor.evidence import Client, Evidence
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.places import address, dialable
from brokernat.doctor.reading import Spot, spots

CODE = "BN402"


_CALLED = {"java": "Java", "librdkafka": "librdkafka", "python": "Python"}


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        tls = spot.look.tls
        if tls is None:
            continue
        seen = (f"names of the certificate: {', '.join(tls.names) or 'none'}",)
        broker = (f"add `{spot.look.name}` to the certificate's alternative names{_as_an_address(spot.look.name)}",)
        if tls.outcome == "name-mismatch":
            remedy = Remedy((_by_its_name(spot),), broker, _rules(spot))
            message = f"the certificate does not hold `{spot.look.name}`"
            yield Finding(CODE, Severity.ERROR, spot.subject, message, seen, remedy=remedy)
        for objection in tls.objections:
            if objection.outcome == "name-mismatch":
                yield _some_clients(spot, objection.clients, seen, broker)


def _some_clients(spot: Spot, clients: Sequence[Client], seen: tuple[str, ...], broker: tuple[str, ...]) -> Finding:
    """Java's clients are those that this is for first; what they refuse does not work."""
    who = " and ".join(_CALLED[each] for each in clients)
    message = f"not all clients take the certificate for `{spot.look.name}`: {who} do{'es' * (len(clients) == 1)} not"
    if "java" in clients:
        remedy = Remedy(broker=("advertise a name of letters, digits and hyphens; Java takes no other for one",))
        return Finding(CODE, Severity.ERROR, spot.subject, message, seen, remedy=remedy)
    return Finding(CODE, Severity.WARNING, spot.subject, message, seen, remedy=Remedy(broker=broker))


def _as_an_address(name: str) -> str:
    return "" if address(name) is None else ", as an address (`ip:`) and not as a name"


def _by_its_name(spot: Spot) -> str:
    named = _rules(spot)
    if not named:
        return "use a name that the certificate holds"
    return f"with this rule, bootstrap by the name that the certificate holds: {named[0].partition(' = ')[0]}"


def _rules(spot: Spot) -> tuple[str, ...]:
    """A client that comes in by the name needs a rule for it, and need not switch verification off."""
    whole = [name for name in spot.look.tls.names if dialable(name, 1)] if spot.look.tls else []
    if spot.path is not None or not whole:
        return ()
    return (f"{whole[0]}:{spot.look.endpoint.rpartition(':')[2]} = {spot.look.endpoint}",)


CHECK = Check(
    CODE,
    "The certificate does not hold the broker's name",
    "The certificate of {subjects} is made for other names.",
    _find,
)
