"""One sentence for whoever reads no further."""

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped, refused
from tests.unit.doctor.reports.test_json_v1 import WITH_FILES

from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import BrokerFile, Evidence
from brokernat.doctor.reports.summary import count, verdict, worst

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
TWICE = BrokerFile("b", (("listeners", "A://:9092,B://:9092"),))


@pytest.mark.parametrize(
    ("evidence", "gravest", "sentence"),
    [
        (HEALTHY, None, "nothing stops clients on the way from here to the brokers"),
        (replace(HEALTHY, bootstraps=HEALTHY.bootstraps * 2), "warning", "nothing stops clients on the way"),
        (WITHOUT_MAP, "error", "something stops clients on the way from here to the brokers"),
        (replace(HEALTHY, bootstraps=(refused("a:1"),), paths=()), "error", "no bootstrap server lets a client in"),
        (replace(WITH_FILES, files=(TWICE,)), "error", "the brokers' files do not fit together"),
    ],
)
def test_verdict(evidence: Evidence, gravest: str | None, sentence: str) -> None:
    found = diagnose(evidence)
    assert worst(found) == gravest
    assert verdict(found).startswith(sentence)
    assert verdict(found).endswith("but something is doubtful") == (gravest == "warning")


def test_count() -> None:
    assert [count(n, "error") for n in (0, 1, 2)] == ["no error", "1 error", "2 errors"]
