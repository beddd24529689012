"""What: a broker's file advertises a name that usually only its own network knows: of one label, or in `.internal`,
`.svc` or the like.
Why: Docker, Kubernetes and cloud hosts call themselves so. That is right for a listener that serves that network, and
wrong where the broker has no other one (then it is a warning).
Remedy: a second listener that advertises a name for clients elsewhere; or an address map at the client.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import serving
from brokernat.doctor.broker_files.told import where
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Confidence, Finding, Need, Remedy, Severity
from brokernat.doctor.places import inside_name

CODE = "BN824"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in serving(evidence):
        others = any(where(each.host) in ("anywhere", "same-machine") for each in broker.advertised)
        for each in broker.advertised:
            if inside_name(each.host):
                remedy = Remedy(
                    rules=(f"{each.endpoint} = HOST:PORT that can be dialled from there",),
                    broker=("add a listener that advertises a name which resolves for clients elsewhere",),
                )
                yield Finding(
                    CODE,
                    Severity.INFO if others else Severity.WARNING,
                    broker.name,
                    f"{each} is for clients that know this name: those in the broker's own network",
                    remedy=Remedy() if others else remedy,
                    confidence=Confidence.LIKELY,
                )


CHECK = Check(
    CODE,
    "A file advertises a name that only its own place knows",
    "The brokers advertise names that only their own network knows: {subjects}.",
    _find,
    (Need.FILES,),
)
