"""The fewest findings that explain every failure, the more specific ones first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.doctor.conftest import WITHOUT_MAP

from brokernat.doctor.checks import Check
from brokernat.doctor.checks.registry import finding
from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Failure, Remedy, Severity

A, B, C = (Failure(f"{name}:9092", "connect") for name in "abc")


def check(code: str, *found: CheckFinding, explains: tuple[str, ...] = (), residual: bool = False) -> Check:
    def find(_: Evidence) -> Iterator[CheckFinding]:
        yield from found

    cause = "at {subjects}{reason}."
    return Check(code, code, cause, find, "what.", "why.", "remedy.", frozenset(explains), (), residual)


def about(*explains: Failure, severity: Severity = Severity.ERROR, follows: tuple[Failure, ...] = ()) -> CheckFinding:
    subject = ", ".join(each.endpoint for each in explains) or "the cluster"
    remedy = Remedy(("do it",))
    return finding(severity, subject, "no", remedy=remedy, explains=explains, follows=follows)


def diagnosed(*checks: Check) -> Diagnosis:
    return diagnose(WITHOUT_MAP, checks)


@pytest.mark.parametrize(
    ("checks", "causes"),
    [
        ((check("X1", about(A)), check("X2", about(B))), ["X1", "X2"]),
        ((check("X1", about(A)), check("X2", about(A, B))), ["X2"]),
        ((check("X1", about(A), about(B)), check("X2", about(B), about(C))), ["X1", "X2"]),
        ((check("X1", about(A)), check("X2", about(A), explains=("X1",))), ["X2"]),
        ((check("X1", about(A, B)), check("X2", about(A), explains=("X1",))), ["X1"]),
        ((check("X1", about(A)), check("X2", about())), ["X1", "X2"]),
        ((check("X1", about(A)), check("X2", about(), explains=("X1",))), ["X2", "X1"]),
        ((check("X1", about(A)), check("X2", about(follows=(A,)))), ["X1"]),
        ((check("X1", about(A, severity=Severity.WARNING)), check("X2", about(follows=(A,)))), ["X2"]),
        ((check("X1", about(A, severity=Severity.WARNING), explains=("X2",)), check("X2", about(A))), ["X2"]),
    ],
    ids=[
        "independent",
        "one-covers-the-other",
        "overlapping",
        "the-more-specific",
        "specific-about-a-part",
        "one-without-a-failure",
        "specific-elsewhere-goes-first",
        "rests-on-a-failure",
        "a-warning-is-no-reason",
        "a-warning-explains-no-error",
    ],
)
def test_causes(checks: tuple[Check, ...], causes: list[str]) -> None:
    assert [each.code for each in diagnosed(*checks).causes] == causes


def test_what_follows_has_no_remedy_and_names_the_reason() -> None:
    found = diagnosed(check("X1", about(A)), check("X2", about(A), explains=("X1",)))
    assert {each.code: (each.because, each.remedy.client) for each in found.findings} == {
        "X1": (("X2",), ()),
        "X2": ((), ("do it",)),
    }


def test_a_residual_check_keeps_what_nobody_explains() -> None:
    found = diagnosed(check("X0", about(A), about(B), residual=True), check("X1", about(A, severity=Severity.WARNING)))
    assert [(each.code, each.subject) for each in found.findings] == [("X0", "b:9092"), ("X1", "a:9092")]


def test_likely_stays_in_the_sentence() -> None:
    likely = finding(Severity.ERROR, "b", "no", confidence=Confidence.LIKELY)
    assert diagnosed(check("X1", likely)).causes[0].sentence == "Probably at b: no."
    assert diagnosed(check("X1", likely, about(A))).causes[0].sentence.startswith("At b")
