"""What is suppressed is kept, decides nothing, and hides no other cause."""

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import WITHOUT_MAP, refused

from brokernat.doctor.checks.registry import finding
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.diagnosis.suppressions import Suppression
from brokernat.doctor.evidence import Advertised, BrokerPath
from brokernat.doctor.finding import Severity
from brokernat.errors import ConfigError

NODE = finding(Severity.ERROR, "node 2 at [fd00::2]:9092", "no", code="BN302")


@pytest.mark.parametrize(
    ("text", "covers"),
    [
        ("BN302", True),
        ("bn302", True),
        ("BN3*", True),
        ("*", True),
        ("BN302=node 2 *", True),
        ("BN302 = *[fd00::2]:9092", True),
        ("BN301", False),
        ("BN302=node 2", False),
        ("BN302=node ? *", False),
        ("BN302=bootstrap *", False),
    ],
)
def test_covers(text: str, covers: bool) -> None:
    assert Suppression.parse(text).covers(NODE) is covers


@pytest.mark.parametrize("text", ["BN302", "BN302=node 2 *"])
def test_the_text_is_read_back(text: str) -> None:
    assert str(Suppression.parse(text)) == text


@pytest.mark.parametrize("text", ["", "BN999", "BN302=", "=node 1", "BN30"])
def test_what_would_hide_nothing_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--suppress"):
        Suppression.parse(text)


def test_a_suppressed_finding_is_kept_apart() -> None:
    found = diagnose(WITHOUT_MAP, suppressions=[Suppression.parse("BN302=node 2 *")])
    assert [each.subject for each in found.suppressed] == ["node 2 at 192.168.1.24:9092"]
    assert {each.subject for each in found.findings if each.code == "BN302"} == {
        "node 1 at 192.168.1.23:9092",
        "node 3 at 192.168.1.25:9092",
    }
    assert found.cause is not None
    assert "node 2" not in found.cause.sentence
    assert "BN302" not in found.passed


def test_a_suppressed_root_gives_way_to_what_followed_from_it() -> None:
    loopback = Advertised(4, "localhost", 9092)
    evidence = replace(WITHOUT_MAP, paths=(*WITHOUT_MAP.paths, BrokerPath(loopback, refused(loopback.endpoint))))

    def cause(*suppressed: str) -> str | None:
        found = diagnose(evidence, suppressions=[Suppression.parse(each) for each in suppressed])
        return found.cause.code if found.cause else None

    assert cause() == "BN201"
    assert cause("BN201") == "BN302"
    assert cause("BN201", "BN302") is None
