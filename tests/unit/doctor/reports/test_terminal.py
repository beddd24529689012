"""The report for people: narrow terminals, no colour, two hundred brokers, text that a terminal would obey."""

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import FEW, WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.diagnosis import Suppression, diagnose
from brokernat.doctor.evidence import Advertised, BrokerPath, Evidence, ExecutorSeen
from brokernat.doctor.reports.terminal import terminal

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
MANY = tuple(Advertised(n, f"10.{n // 100}.0.{n % 100}", 9092) for n in range(200))


@pytest.mark.parametrize(
    ("evidence", "width"),
    [
        (WITHOUT_MAP, 80),
        (mapped({1: 2, 2: 1, 3: 3}), 80),
        (mapped({1: 2, 2: 1, 3: 3}), 40),
        (HEALTHY, 80),
        (replace(WITHOUT_MAP, bootstraps=(refused("172.10.1.40:9093"),), paths=(), replicas=None), 80),
        (replace(HEALTHY, executors=(ExecutorSeen("1", "w1", "no-agent"),)), 80),
    ],
    ids=["without-map", "swapped", "narrow", "healthy", "nothing-answers", "executor"],
)
def test_report(evidence: Evidence, width: int, snapshot: SnapshotAssertion) -> None:
    text = terminal(diagnose(evidence, FEW), width)
    # Endpoints and rules are never cut, so a line may be longer than a narrow terminal by one such word.
    assert all(len(line) <= width or len(line.split()) <= 2 for line in text.splitlines())
    assert text == snapshot


def test_what_is_suppressed_is_counted_and_named() -> None:
    text = terminal(
        diagnose(WITHOUT_MAP, suppressions=[Suppression.parse("BN302"), Suppression.parse("BN202=node 1 *")])
    )
    assert "root cause" not in text
    assert "BN302: node 1 at 192.168.1.23:9092, node 2" in text
    assert "no error, 1 warning; " in text
    assert text.splitlines()[-2].endswith(", 4 findings suppressed")


def test_two_hundred_brokers_are_no_longer_than_a_few_screens() -> None:
    probe = replace(reached(1, MANY[1].endpoint), brokers=MANY)
    paths = [BrokerPath(each, replace(reached(each.node_id, each.endpoint), brokers=MANY)) for each in MANY]
    well = terminal(diagnose(replace(WITHOUT_MAP, bootstraps=(probe,), paths=tuple(paths))))
    assert "ok 194 more nodes, from 6 to 199: ok" in well
    dead = tuple(BrokerPath(each, refused(each.endpoint)) for each in MANY[100:])
    half = terminal(diagnose(replace(WITHOUT_MAP, bootstraps=(probe,), paths=(*paths[:100], *dead))))
    assert "x  88 more nodes, from 112 to 199: refused" in half
    assert half.index("x  node 100 advertises") < half.index("ok node 0 advertises")
    assert "and 88 more (all of them: --format json)" in half
    assert len(half.splitlines()) < 250


def test_a_terminal_obeys_nothing_that_a_broker_says() -> None:
    evil = Advertised(1, "\x1b[2Jk\x9b1m\u202e\0.hq", 9092)
    text = terminal(diagnose(replace(WITHOUT_MAP, paths=(BrokerPath(evil, refused(evil.endpoint)),))))
    assert all(each.isprintable() or each == "\n" for each in text)
    assert "\ufffd[2Jk\ufffd1m\ufffd\ufffd.hq:9092" in text
