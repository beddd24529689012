"""The first line of a report: one sentence for whoever reads no further."""

from __future__ import annotations

from brokernat.doctor.diagnosis import Diagnosis
from brokernat.doctor.finding import Severity
from brokernat.plurals import counted

_ON_THE_WAY = {
    Severity.ERROR: "something stops clients on the way from here to the brokers",
    Severity.WARNING: "nothing stops clients on the way from here to the brokers, but something is doubtful",
    None: "nothing stops clients on the way from here to the brokers",
}
_IN_THE_FILES = {
    Severity.ERROR: "the brokers' files do not fit together",
    Severity.WARNING: "the brokers' files fit together, but something is doubtful",
    None: "the brokers' files fit together",
}


def worst(diagnosis: Diagnosis) -> Severity | None:
    """The gravest severity found, infos aside."""
    severities = {finding.severity for finding in diagnosis.findings}
    return next((each for each in (Severity.ERROR, Severity.WARNING) if each in severities), None)


def verdict(diagnosis: Diagnosis) -> str:
    """Half a sentence; what it is about, the cluster, stands before it."""
    evidence = diagnosis.evidence
    if not evidence.bootstraps:
        return _IN_THE_FILES[worst(diagnosis)]
    if not any(look.answers for look in evidence.bootstraps):
        return "no bootstrap server lets a client in from here"
    gravest = worst(diagnosis)
    if gravest is not Severity.ERROR and any(each.code == "BN004" for each in diagnosis.findings):
        return "nothing that was probed stops clients, and not all was probed in time"
    return _ON_THE_WAY[gravest]


def count(number: int, name: str) -> str:
    """`1 error`, `2 errors`, `no error`."""
    return counted(number, name) if number else f"no {name}"
