"""A hosts file's line that decides a name: an info while it leads somewhere, an error where the way ends there."""

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped, refused

from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Advertised, BrokerPath, Evidence
from brokernat.doctor.finding import CheckFinding, Remedy, Severity

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
LINE = "10.9.0.1 kafka-1.hq.internal"
FIRST = HEALTHY.bootstraps[0]


def told(evidence: Evidence) -> list[CheckFinding]:
    return [each for each in diagnose(evidence).findings if each.code == "BN306"]


def test_of_a_bootstrap_server() -> None:
    evidence = replace(HEALTHY, bootstraps=(replace(FIRST, hosts_entry=LINE), *HEALTHY.bootstraps[1:]))
    (found,) = told(evidence)
    assert (found.severity, found.subject, found.details) == (
        Severity.INFO,
        f"bootstrap {FIRST.endpoint}",
        (f"/etc/hosts: {LINE}",),
    )
    assert found.remedy == Remedy(), "a line that leads to the right place needs no change"


@pytest.mark.parametrize(("answers", "severity"), [(True, Severity.INFO), (False, Severity.ERROR)])
def test_of_a_broker(answers: bool, severity: Severity) -> None:
    there = replace(FIRST, endpoint="kafka-1:9092") if answers else refused("10.9.0.1:9092")
    probe = replace(there, endpoint="kafka-1:9092", hosts_entry=LINE)
    evidence = replace(WITHOUT_MAP, paths=(BrokerPath(Advertised(1, "kafka-1", 9092), probe),))
    (found,) = told(evidence)
    assert (found.severity, found.subject) == (severity, "node 1 at kafka-1:9092")
    assert [line.partition(" = ")[0] for line in found.remedy.rules] == ([] if answers else ["kafka-1:9092"])


def test_a_name_server_that_resolves_the_other_names_is_not_in_doubt() -> None:
    probe = replace(refused("10.9.0.1:9092"), endpoint="kafka-1:9092", hosts_entry=LINE)
    alone = replace(WITHOUT_MAP, paths=(BrokerPath(Advertised(1, "kafka-1", 9092), probe),))
    neighbour = replace(FIRST, endpoint="kafka-2:9092")
    beside = replace(alone, paths=(*alone.paths, BrokerPath(Advertised(2, "kafka-2", 9092), neighbour)))
    assert [bool(told(each)[0].remedy.broker) for each in (alone, beside)] == [True, False]


def test_no_line_is_no_finding() -> None:
    assert told(HEALTHY) == []
