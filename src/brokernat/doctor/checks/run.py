"""Checks of the run itself: incomplete probes, and failures that no other check explains."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.checks.places import places, probed_endpoints
from brokernat.doctor.checks.registry import check, error, warning
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding
from brokernat.text import counted


@check("BN004")
def not_all_probed(evidence: Evidence) -> Iterator[CheckFinding]:
    """Not everything was probed.

    Cause: Not everything was probed: {messages}.
    What: `--timeout` ended some probes early, or there are more than the 1,000 brokers that are probed. The missing
    results are unknown, not wrong.
    Why: many addresses drop packets, which takes time; or the peer advertises brokers that do not exist.
    Remedy: give the doctor more time with `--timeout`.
    """
    if evidence.unprobed:
        message = f"{counted(evidence.unprobed, 'advertised broker was', 'advertised brokers were')} not probed"
        yield warning(evidence.subject, message)
    for probed in probed_endpoints(evidence):
        if not probed.probe.complete:
            message = "the time ran out before every probe finished"
            fix = "give the doctor more time: `--timeout SECONDS`"
            yield warning(probed.subject, message, client=fix, explains=(probed.doubt,))


@check("BN005", residual=True)
def unexplained(evidence: Evidence) -> Iterator[CheckFinding]:
    """A failure that no check explains.

    Cause: Clients fail at {subjects}, and no check explains it{reason}.
    What: a client stage fails or is uncertain, and no other check explains it.
    Why: no check describes this fault yet.
    Remedy: read the evidence of the finding; `--save FILE` keeps all evidence for a bug report.
    """
    for place in places(evidence):
        if failure := place.failure:
            report = warning if failure.doubt else error
            message = f"{failure.stage} at {failure.endpoint}: {failure.words}"
            seen = (failure.detail,) if failure.detail else ()
            yield report(place, message, seen, client="keep the evidence with `--save FILE`, and report it")
