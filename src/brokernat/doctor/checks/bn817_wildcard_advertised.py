"""What: a broker advertises 0.0.0.0 or [::], by its own words or because `advertised.listeners` is missing.
Why: that means "every address of this machine" to who binds, and nothing to who dials. Kafka refuses to start with
0.0.0.0; it takes [::], and clients then dial themselves.
Remedy: advertise a name or an address that clients can dial; what is bound can stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import serving
from brokernat.doctor.broker_files.told import where
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN817"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in serving(evidence):
        for each in broker.advertised:
            if where(each.host) == "nowhere":
                default = "" if broker.advertised_setting else ", because `advertised.listeners` is not set"
                remedy = Remedy(broker=(f"advertise {each.name}://HOST:{each.port} with a host that clients can dial",))
                yield Finding(CODE, Severity.ERROR, broker.name, f"advertises {each}{default}", remedy=remedy)


CHECK = Check(
    CODE,
    "A broker advertises every address",
    "Brokers advertise an address that nobody can dial: {subjects}.",
    _find,
    (Need.FILES,),
)
