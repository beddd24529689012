"""One sentence for whoever reads no further."""

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped, reached, refused
from tests.unit.doctor.reports.test_json_v1 import WITH_FILES

from brokernat.doctor.checks.registry import finding
from brokernat.doctor.diagnosis import Cause, diagnose
from brokernat.doctor.evidence import BrokerFile, Evidence, Identity
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy, Severity
from brokernat.doctor.reports.summary import by_code, count, remedy_of, verdict, worst

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
TWICE = BrokerFile("b", (("listeners", "A://:9092,B://:9092"),))
FIRST = HEALTHY.paths[0]
UNPROVEN = replace(FIRST, probe=replace(reached(1, "gw:1"), identity=Identity(None, "none")))
DOUBTFUL = replace(HEALTHY, paths=(UNPROVEN, *HEALTHY.paths[1:]))


@pytest.mark.parametrize(
    ("evidence", "gravest", "sentence"),
    [
        (HEALTHY, None, "no problems between this host and the brokers"),
        (replace(HEALTHY, bootstraps=HEALTHY.bootstraps * 2), "warning", "clients reach every broker, with warnings"),
        (
            replace(HEALTHY, replicas=(1, 2, 3, 4), in_sync=(1, 2, 3)),
            "warning",
            "clients reach every listed broker, with warnings",
        ),
        (DOUBTFUL, "warning", "warnings between this host and the brokers"),
        (WITHOUT_MAP, "error", "errors between this host and the brokers: clients fail"),
        (replace(HEALTHY, bootstraps=(refused("a:1"),), paths=()), "error", "no bootstrap server accepts clients"),
        (
            replace(HEALTHY, bootstraps=(replace(refused("a:1"), attempts=(), complete=False),), paths=()),
            "warning",
            "no errors, but the time ran out",
        ),
        (replace(WITH_FILES, files=(TWICE,)), "error", "errors in the brokers' files"),
    ],
)
def test_verdict(evidence: Evidence, gravest: str | None, sentence: str) -> None:
    found = diagnose(evidence)
    assert worst(found) == gravest
    assert verdict(found).startswith(sentence)
    assert verdict(found).endswith("clients may fail") == sentence.startswith("warnings")


def test_count() -> None:
    assert [count(n, "error") for n in (0, 1, 2)] == ["no error", "1 error", "2 errors"]


def one(code: str, subject: str, message: str = "no", because: tuple[str, ...] = (), **remedy: str) -> CheckFinding:
    lines = Remedy(**{side: (line,) for side, line in remedy.items()})
    return replace(finding(Severity.ERROR, subject, message, remedy=lines, code=code), because=because)


def test_the_same_words_are_said_once() -> None:
    (group,) = by_code([one("BN302", "a"), one("BN302", "b"), one("BN302", "c", "timeout")])
    assert [(each.subjects, each.message) for each in group.statements] == [(("a", "b"), "no"), (("c",), "timeout")]
    assert group.title == "An advertised endpoint accepts no connection"


def test_what_follows_names_what_it_follows_from_and_has_no_remedy() -> None:
    first, second = by_code([one("BN201", "a", client="x"), one("BN302", "a", because=("BN201",), client="y")])
    assert first.follows == ()
    assert second.follows == ("BN201",)
    assert second.remedy == Remedy()


def test_one_finding_that_does_not_follow_keeps_the_remedy() -> None:
    _, group = by_code([one("BN201", "a"), one("BN302", "a", because=("BN201",)), one("BN302", "b", client="y")])
    assert group.follows == ()
    assert group.remedy.client == ("y",)


def test_a_remedy_is_said_once_and_the_root_s_is_said_above() -> None:
    findings = [one("BN302", "a", rules="1"), one("BN302", "b", rules="2"), one("BN305", "a", rules="2")]
    groups = by_code(findings)
    assert [group.remedy.rules for group in groups] == [("1", "2"), ()]
    assert [group.remedy.rules for group in by_code(findings, [Cause("BN302", "")])] == [(), ()]
    assert remedy_of(findings).rules == ("1", "2")


def test_likely_is_said() -> None:
    groups = by_code(diagnose(WITHOUT_MAP).findings)
    sure = {group.code: group.confidence for group in groups}
    assert sure == {"BN302": Confidence.PROVEN, "BN202": Confidence.LIKELY}


def test_an_info_is_said_without_its_proof() -> None:
    found = [replace(one("BN304", subject), severity=Severity.INFO, details=(subject,)) for subject in "ab"]
    (group,) = by_code(found)
    assert [(each.subjects, each.evidence) for each in group.statements] == [(("a", "b"), ())]
