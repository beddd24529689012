"""Listeners by name: what a client is told depends on the one that it came in on."""

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import WITHOUT_MAP, reached

from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Advertised, Attempt, EndpointProbe, Evidence, Identity, ListenerSeen
from brokernat.doctor.finding import CheckFinding
from brokernat.doctor.reports.terminal import terminal

ALL = tuple(Advertised(n, f"b{n}.example", 9090) for n in (1, 2, 3))
SOME = tuple(Advertised(n, f"b{n}.example", 9091) for n in (1, 3))
ON_ALL = replace(reached(1, "b1.example:9090"), brokers=ALL, addresses=("10.0.0.1",))
ON_SOME = replace(reached(3, "b3.example:9091"), brokers=SOME, addresses=("10.0.0.3",))
LISTENERS = (
    ListenerSeen(1, "ONE", "b1.example:9090", ON_ALL, ("b1.example:9090",)),
    ListenerSeen(2, "ONE", "b2.example:9090", replace(ON_ALL, identity=None)),
    ListenerSeen(3, "ONE", "b3.example:9090", replace(ON_ALL, identity=Identity(3, "describeconfigs"))),
    ListenerSeen(3, "TWO", "b3.example:9091", ON_SOME, ("b3.example:9091",)),
)


def found(code: str, evidence: Evidence) -> list[CheckFinding]:
    return [each for each in diagnose(evidence).findings if each.code == code]


def seen(*bootstraps: EndpointProbe, listeners: tuple[ListenerSeen, ...] = LISTENERS) -> Evidence:
    return replace(WITHOUT_MAP, bootstraps=bootstraps, paths=(), replicas=None, listeners=listeners)


def test_the_flap_is_named_with_both_sets_and_both_names() -> None:
    evidence = seen(ON_ALL, ON_SOME)
    (flap,) = found("BN502", evidence)
    assert flap.subject == "listeners ONE, TWO"
    assert flap.details == (
        "listener ONE, bootstrap b1.example:9090: 1 b1.example:9090, 2 b2.example:9090, 3 b3.example:9090",
        "listener TWO, bootstrap b3.example:9091: 1 b1.example:9091, 3 b3.example:9091",
    )
    assert flap.remedy.client == (
        "keep the bootstrap servers of one listener only, for example b1.example:9090 (ONE: 3 brokers)",
    )
    assert flap.remedy.broker == ("define the listener TWO on node 2 too",)
    cause = diagnose(evidence).cause
    assert cause is not None
    assert "(listeners ONE, TWO)" in cause.sentence


def test_without_the_right_to_read_settings_the_sets_stand_without_names() -> None:
    (flap,) = found("BN502", seen(ON_ALL, ON_SOME, listeners=()))
    assert flap.subject == "2 sets of brokers"
    assert all(line.startswith("bootstrap ") for line in flap.details)


def test_a_listener_that_some_brokers_lack_is_named_though_no_topic_shows_it() -> None:
    evidence = seen(ON_SOME)
    (absent,) = found("BN503", evidence)
    assert absent.subject == "node 2"
    assert absent.message == "missing on listener TWO"
    assert absent.details[0] == "listener ONE lists it at b2.example:9090"
    assert absent.remedy.client == ("bootstrap at b2.example:9090: listener ONE lists all brokers",)
    assert found("BN503", seen(ON_ALL)) == []


def test_a_listener_that_is_not_reached_at_every_broker_is_no_way_in() -> None:
    away = replace(ON_ALL, brokers=None)
    third = tuple(replace(each, probe=away) if each.node_id == 3 else each for each in LISTENERS)
    other_node = tuple(replace(each, probe=ON_ALL) if each.node_id == 2 else each for each in LISTENERS)
    for listeners in (third, other_node, LISTENERS[:1] + LISTENERS[2:]):
        (absent,) = found("BN503", seen(ON_SOME, listeners=listeners))
        assert absent.remedy.client == ()
        assert absent.remedy.broker != ()


def test_another_cluster_s_brokers_are_not_missed() -> None:
    elsewhere = replace(ON_ALL, cluster_id="other")
    assert found("BN503", seen(ON_SOME, listeners=(ListenerSeen(3, "ONE", "x:1", elsewhere),))) == []


def test_localhost_has_two_kinds_of_address_and_that_is_no_finding() -> None:
    attempts = (Attempt("::1", "refused"), Attempt("127.0.0.1", "connected"))
    local = replace(ON_ALL, addresses=("::1", "127.0.0.1"), attempts=attempts)
    assert found("BN303", seen(local)) == []
    assert found("BN303", seen(replace(local, addresses=("::1", "10.0.0.1")))) != []


@pytest.mark.parametrize("with_cause", [True, False])
def test_the_report_shows_every_listener_where_something_is_wrong(with_cause: bool) -> None:
    text = " ".join(terminal(diagnose(seen(ON_SOME if with_cause else ON_ALL))).split())
    shown = "listener TWO of node 3 advertises b3.example:9091: lists 2 brokers (used by the bootstrap servers)"
    assert (shown in text) == with_cause
