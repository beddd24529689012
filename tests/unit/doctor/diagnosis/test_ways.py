"""The hops of the usual situation and of its variants: where the way ends, and in what words."""

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import GATEWAY, WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.diagnosis import Suppression, diagnose
from brokernat.doctor.diagnosis.model import State
from brokernat.doctor.evidence import (
    Advertised,
    Attempt,
    BrokerPath,
    EndpointProbe,
    Evidence,
    Identity,
    Login,
    TlsHandshake,
)

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
AT = refused("gw:9093")
OPEN = replace(AT, attempts=(Attempt("gw", "connected"),))


def ends(evidence: Evidence) -> list[tuple[str, str, str]]:
    """Of each route: the state, the words of the hop that decides, who answers."""
    found = diagnose(evidence).routes
    return [(each.state, each.reach.words or each.choice.words, each.answering) for each in found]


def test_a_map_that_leads_everywhere() -> None:
    assert ends(HEALTHY) == [("ok", "ok", f"node {n}") for n in (1, 2, 3)]
    first = diagnose(HEALTHY).routes[0]
    assert (first.choice.words, first.rule) == ("by rule", "192.168.1.23:9092=172.10.1.40:9093")
    assert first.codes == ()
    assert [(each.reach.state, each.answering, each.listed) for each in diagnose(HEALTHY).entrances] == [
        ("ok", f"node {n}", 3) for n in (1, 2, 3)
    ]


def test_no_map() -> None:
    assert ends(WITHOUT_MAP) == [("broken", "refused", "nobody")] * 3
    assert diagnose(WITHOUT_MAP).routes[0].codes == ("BN302", "BN202")


def test_exchanged_and_missing_rules() -> None:
    assert ends(mapped({1: 2, 2: 1, 3: 3})) == [
        ("broken", "another node", "node 2"),
        ("broken", "another node", "node 1"),
        ("ok", "ok", "node 3"),
    ]
    assert ends(mapped({1: 1, 2: 2}))[2] == ("broken", "no rule", "nobody")
    nothing = replace(HEALTHY, paths=(BrokerPath(Advertised(1, "", 0), None),))
    assert ends(nothing) == [("broken", "no address", "nobody")]


def test_a_check_may_find_wrong_what_looks_well() -> None:
    landed = replace(reached(1, "gw:1"), brokers=(Advertised(1, "a.hq", 1),))
    assert ends(replace(HEALTHY, paths=(replace(HEALTHY.paths[0], probe=landed),)))[0][:2] == (
        "broken",
        "another listener",
    )
    unproven = replace(reached(1, "gw:1"), identity=Identity(None, "none"))
    evidence = replace(HEALTHY, paths=(replace(HEALTHY.paths[0], probe=unproven),))
    assert ends(evidence) == [("doubtful", "not proven", "a broker")]
    quiet = diagnose(evidence, suppressions=[Suppression.parse("BN604")])
    assert quiet.routes[0].state is State.OK


def test_sets_that_differ_stand_side_by_side() -> None:
    alone = replace(WITHOUT_MAP.bootstraps[0], brokers=WITHOUT_MAP.bootstraps[0].brokers[:1])  # type: ignore[index]
    dead = refused("172.10.1.40:9099")
    found = diagnose(replace(HEALTHY, bootstraps=(dead, alone, *HEALTHY.bootstraps[1:]))).groups
    assert [[each.endpoint for each in group.entrances] for group in found] == [
        [GATEWAY[1]],
        [GATEWAY[2], GATEWAY[3]],
        [dead.endpoint],
    ]
    assert [[route.node_id for route in group.routes] for group in found] == [[1], [1, 2, 3], []]


@pytest.mark.parametrize(
    ("probe", "words", "who"),
    [
        (replace(AT, attempts=(), dns_error="unknown"), "name unknown", "nobody"),
        (AT, "refused", "nobody"),
        (replace(AT, attempts=(Attempt("gw", "refused"), Attempt("::1", "timeout"))), "no connection", "nobody"),
        (replace(OPEN, tls=TlsHandshake("expired")), "certificate not valid now", "something else"),
        (replace(OPEN, speaks="http"), "speaks HTTP", "something else"),
        (replace(OPEN, speaks="other"), "not Kafka", "something else"),
        (replace(OPEN, speaks="kafka", sasl=Login("rejected")), "login rejected", "a broker"),
        (replace(OPEN, speaks="kafka"), "no metadata", "a broker"),
        (replace(reached(1, "10.9.0.1:1"), identity=Identity(1, "apiversions", others=(3,))), "ok", "nodes 1, 3"),
        (replace(reached(1, "10.9.0.1:1"), identity=Identity(1, "listoffsets")), "ok", "node 1 (likely)"),
    ],
)
def test_words(probe: EndpointProbe, words: str, who: str) -> None:
    (entrance,) = diagnose(replace(WITHOUT_MAP, bootstraps=(probe,), paths=())).entrances
    assert (entrance.reach.words, entrance.answering) == (words, who)


def of_one(probe: EndpointProbe) -> tuple[State, str]:
    """The last of four bootstrap servers."""
    hop = diagnose(replace(WITHOUT_MAP, bootstraps=(*WITHOUT_MAP.bootstraps, probe))).entrances[-1].reach
    return hop.state, hop.words


def test_what_is_unknown_is_not_broken() -> None:
    assert of_one(replace(OPEN, complete=False)) == (State.DOUBTFUL, "time ran out")
    assert of_one(replace(OPEN, sasl=Login("not-tried")))[0] is State.DOUBTFUL


def test_another_cluster() -> None:
    assert of_one(reached(1, "10.9.0.1:1"))[0] is State.OK
    assert of_one(replace(reached(1, "10.9.0.1:1"), cluster_id="d")) == (State.BROKEN, "another cluster")
