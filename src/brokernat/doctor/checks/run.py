"""The run itself: what was not probed to its end, and what no other check explains."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.checks.queries import places, probed_endpoints
from brokernat.doctor.checks.registry import check, finding, warning
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Severity
from brokernat.text import counted


@check("BN004")
def not_all_probed(evidence: Evidence) -> Iterator[CheckFinding]:
    """Not everything was probed.

    Cause: Not everything was probed: {messages}.
    What: probes that `--timeout` cut short, or brokers beyond the 1,000 that are probed; what is missing is unknown,
    not wrong.
    Why: addresses that swallow packets cost time, and there were many of them; or what answers makes brokers up.
    Remedy: more time.
    """
    if evidence.unprobed:
        message = f"{counted(evidence.unprobed, 'more broker is', 'more brokers are')} advertised than are probed"
        yield warning(f"cluster {evidence.cluster}", message)
    for probed in probed_endpoints(evidence):
        if not probed.probe.complete:
            fix = "give the doctor more time: `--timeout SECONDS`"
            yield warning(probed.subject, "the time ran out before all was seen", client=fix, explains=(probed.doubt,))


@check("BN005", residual=True)
def unexplained(evidence: Evidence) -> Iterator[CheckFinding]:
    """A failure that no check explains.

    Cause: Clients fail at {subjects}, and nothing that was seen explains it{reason}.
    What: a stage of a client's way fails or is in doubt, and no other check has a reason for it.
    Why: nobody has described this fault yet.
    Remedy: read the evidence beside it; `--save FILE` keeps all of it for a report of a missing check.
    """
    for place in places(evidence):
        failure = place.failure
        if failure is None:
            continue
        severity = Severity.WARNING if failure.doubt else Severity.ERROR
        message = f"{failure.stage} at {failure.endpoint}: {failure.words}"
        seen = (failure.detail,) if failure.detail else ()
        yield finding(severity, place, message, seen, client="keep the evidence with `--save FILE`, and report it")
