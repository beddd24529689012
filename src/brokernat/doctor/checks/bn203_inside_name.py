"""What: the advertised name has one label, or ends in `.svc`, `.internal`, `.local`, `.cluster.local` or the like, or
is a container's id; and the node does not answer here.
Why: Docker, Kubernetes and cloud hosts call themselves so; other machines cannot know the name.
Remedy: a rule of the address map; or a listener that advertises a name for this side.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Confidence, Finding, Need, Remedy, Severity
from brokernat.doctor.places import inside_name
from brokernat.doctor.reading import lets_in, node, proven_line

CODE = "BN203"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for path in evidence.paths:
        if not path.rule and inside_name(path.broker.host) and not lets_in(path):
            remedy = Remedy(
                rules=proven_line(evidence, path),
                broker=("add a listener that advertises a name which resolves for clients",),
            )
            yield Finding(
                CODE,
                Severity.WARNING,
                node(path),
                "a name that usually only the brokers' own network knows",
                remedy=remedy,
                confidence=Confidence.LIKELY,
            )


CHECK = Check(
    CODE,
    "A broker advertises a name that only its own place knows",
    "The brokers advertise names ({subjects}) that only their own network knows.",
    _find,
    (Need.METADATA,),
)
