"""What: a listener is bound, and `advertised.listeners` leaves it out.
Why: who comes in on its port is answered with the brokers that advertise this name, and there is none: the client gets
an empty list, or waits for metadata.
Remedy: advertise it, or do not bind it.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import serving
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN816"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in serving(evidence):
        told = {each.name for each in broker.advertised}
        for each in broker.of_clients():
            if each.name not in told:
                remedy = Remedy(broker=(f"add {each.name}://HOST:{each.port} to `advertised.listeners`",))
                message = f"{each} is bound and not advertised: who comes in there is told of no broker here"
                yield Finding(CODE, Severity.WARNING, broker.name, message, because=("BN823",), remedy=remedy)


CHECK = Check(
    CODE,
    "A listener is not advertised",
    "Clients that come in on a listener that is not advertised are told of no broker: {subjects}.",
    _find,
    (Need.FILES,),
)
