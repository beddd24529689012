"""What was seen to entries: the usual situation, and everything that makes a candidate none."""

from __future__ import annotations

import asyncio
import random

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.conftest import BROKERS, GATEWAY, WITHOUT_MAP, reached, refused, steady

from brokernat.doctor.discovery.matching import Discovery, Swept, match
from brokernat.doctor.discovery.sweep import connections
from brokernat.doctor.evidence import Advertised, Attempt, EndpointProbe, Evidence, Identity, Login, TlsHandshake
from brokernat.doctor.finding import Remedy
from brokernat.doctor.probes.identity import sampled

RIGHT = tuple(map(steady, WITHOUT_MAP.bootstraps))
SEEN = replace(WITHOUT_MAP, paths=(), bootstraps=RIGHT)


def discovered(*candidates: EndpointProbe, evidence: Evidence = SEEN) -> Discovery:
    return match(Swept(evidence, candidates))


def led(found: Discovery) -> dict[int, str]:
    return {entry.node_id: entry.candidate for entry in found.matched}


def codes(found: Discovery) -> list[str]:
    return [finding.code for finding in found.findings]


def at(endpoint: str, probe: EndpointProbe) -> EndpointProbe:
    return replace(probe, endpoint=endpoint)


def test_every_node_behind_its_own_candidate_in_whatever_order() -> None:
    found = discovered(*reversed(RIGHT), refused("172.10.1.40:9096"))
    assert led(found) == GATEWAY
    assert found.whole
    assert not found.direct
    assert found.silent == {"refused": 1}
    assert found.findings == ()
    assert {(entry.method, entry.confidence.value) for entry in found.matched} == {("describeconfigs", "proven")}


def test_a_weaker_method_is_told() -> None:
    weak = [replace(probe, identity=replace(probe.identity, method="certificate")) for probe in RIGHT if probe.identity]
    assert {entry.confidence.value for entry in discovered(*weak).matched} == {"likely"}


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (replace(RIGHT[2], identity=Identity(3, "apiversions", others=(1, 2))), "BN602"),
        (replace(RIGHT[2], cluster_id="another"), "BN501"),
        (replace(RIGHT[2], brokers=tuple(replace(each, port=9094) for each in BROKERS)), "BN603"),
        (replace(RIGHT[2], identity=Identity(None, "none", "CLUSTER_AUTHORIZATION_FAILED")), "BN604"),
        (replace(RIGHT[2], identity=Identity(7, "apiversions")), "BN503"),
        (replace(RIGHT[2], complete=False), "BN004"),
        (replace(RIGHT[2], speaks="http", brokers=None, identity=None, cluster_id=None), "BN104"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_candidate(changed: EndpointProbe, code: str) -> None:
    found = discovered(*RIGHT[:2], changed)
    assert led(found) == {1: GATEWAY[1], 2: GATEWAY[2]}
    assert codes(found) == ["BN605", code]
    assert found.findings[0].subject == "node 3 at 192.168.1.25:9092"
    assert found.findings[1].subject.endswith(changed.endpoint)
    assert [node.node_id for node in found.missing] == [3]
    assert not found.whole


def test_strangers_among_the_candidates_do_not_matter_once_all_nodes_are_found() -> None:
    stranger = replace(at("172.10.1.40:9099", RIGHT[0]), cluster_id="another")
    found = discovered(*RIGHT, stranger)
    assert found.whole
    assert codes(found) == ["BN501"]


def test_a_web_server_is_counted_where_no_broker_is_missed() -> None:
    web = replace(RIGHT[0], endpoint="172.10.1.40:80", speaks="http", brokers=None, identity=None, cluster_id=None)
    found = discovered(*RIGHT, web)
    assert found.findings == ()
    assert found.silent == {"no Kafka": 1}


def test_two_candidates_for_a_node_are_not_guessed() -> None:
    found = discovered(*RIGHT, at("172.10.1.41:9093", RIGHT[0]))
    assert sorted(led(found)) == [2, 3]
    assert "172.10.1.40:9093, 172.10.1.41:9093" in found.findings[0].message


def test_the_listener_is_named_where_the_broker_tells_it() -> None:
    told = tuple(replace(each, port=9094) for each in BROKERS)
    settings = (("advertised.listeners", "IN://192.168.1.25:9092,OUT://192.168.1.25:9094"),)
    found = discovered(*RIGHT[:2], replace(RIGHT[2], brokers=told, settings=settings))
    assert "node 3 on listener OUT" in found.findings[1].message


def test_nodes_that_no_rule_can_tell_apart() -> None:
    told = (Advertised(1, "localhost", 9092), Advertised(2, "localhost", 9092), Advertised(3, "", 0))
    probes = [replace(probe, brokers=told) for probe in RIGHT]
    found = discovered(*probes, evidence=replace(SEEN, bootstraps=tuple(probes)))
    assert found.matched == ()
    assert [finding.subject for finding in found.findings if finding.code == "BN605"] == [
        "node 1 at localhost:9092",
        "node 2 at localhost:9092",
        "node 3 at :0",
    ]


def test_bootstrap_servers_of_two_listeners_make_no_whole_map() -> None:
    other = replace(RIGHT[1], brokers=tuple(replace(each, port=9094) for each in BROKERS))
    found = discovered(*RIGHT, evidence=replace(SEEN, bootstraps=(RIGHT[0], other)))
    assert led(found) == GATEWAY
    assert "BN502" in codes(found)
    assert (found.whole, found.complete, found.mixed) == (False, True, True)
    assert found.bootstrap_servers == (RIGHT[0].endpoint,)


def test_of_two_listeners_the_one_is_advised_for_which_most_is_proven() -> None:
    other = tuple(replace(each, port=9094) for each in BROKERS)
    first = replace(RIGHT[1], brokers=other)
    servers = (first, RIGHT[0], RIGHT[2])
    found = discovered(*RIGHT, evidence=replace(SEEN, bootstraps=servers))
    assert led(found) == GATEWAY
    assert found.bootstrap_servers == (RIGHT[0].endpoint, RIGHT[2].endpoint)
    (mixed,) = (finding for finding in found.findings if finding.code == "BN502")
    assert mixed.remedy.client == (
        f"keep the bootstrap servers of one listener only: {RIGHT[0].endpoint},{RIGHT[2].endpoint}",
    )


@pytest.mark.parametrize(
    "slow",
    [
        replace(RIGHT[2], complete=False),
        replace(RIGHT[2], slow=True, brokers=None, identity=None, cluster_id=None),
        replace(RIGHT[2], speaks="silence", brokers=None, identity=None, cluster_id=None),
        probed(RIGHT[2].endpoint, "gw", complete=False),
        steady(RIGHT[2], connections=5),
    ],
    ids=["cut-short", "slow", "silent", "not-begun", "few-connections"],
)
def test_what_the_time_did_not_suffice_for_is_not_known(slow: EndpointProbe) -> None:
    found = discovered(*RIGHT[:2], slow)
    (missing,) = (finding for finding in found.findings if finding.code == "BN605")
    assert missing.message == "not known: 1 candidate was not probed to the end"
    assert missing.remedy.client == ("give more time: `--timeout SECONDS`",)
    assert found.undecided


def test_no_time_opens_what_closes_its_connections_or_has_no_right() -> None:
    closed = replace(RIGHT[2], speaks="closed", brokers=None, identity=None, cluster_id=None)
    nameless = replace(RIGHT[2], identity=Identity(None, "none", "CLUSTER_AUTHORIZATION_FAILED"))
    for third in (closed, nameless):
        found = discovered(*RIGHT[:2], third)
        assert found.undecided
        assert "not known: 1 candidate does not show which node answers" in [each.message for each in found.findings]
        assert not any("give more time" in line for each in found.findings for line in each.remedy.client)


def test_a_broker_that_is_down_lacks_no_listener() -> None:
    found = discovered(*RIGHT, evidence=replace(SEEN, replicas=(1, 2, 3, 4), in_sync=(1, 2, 3)))
    assert codes(found) == ["BN507"]
    assert not found.whole


def test_an_advertised_endpoint_that_can_be_dialled_goes_before_a_gateway() -> None:
    direct = [steady(reached(each.node_id, each.endpoint)) for each in BROKERS]
    found = discovered(*RIGHT, *direct)
    assert led(found) == {each.node_id: each.endpoint for each in BROKERS}
    assert found.direct


def test_bootstrap_servers_fit_the_certificates() -> None:
    """A client with the map accepts the certificates at the advertised names only."""
    by_name = [replace(each, name="kafka-1.hq", tls=TlsHandshake("ok", ("kafka-1.hq",))) for each in RIGHT]
    gateway = replace(by_name[0], name="172.10.1.40")
    at_names = tuple(each.endpoint for each in BROKERS)
    assert discovered(*RIGHT, evidence=replace(SEEN, bootstraps=tuple(by_name))).bootstrap_servers == at_names
    one_fits = replace(SEEN, bootstraps=(gateway, *by_name[1:]))
    assert discovered(*RIGHT, evidence=one_fits).bootstrap_servers == (gateway.endpoint,)


def test_nodes_that_only_partitions_know() -> None:
    found = discovered(*RIGHT, evidence=replace(SEEN, replicas=(1, 2, 3, 4)))
    assert "BN503" in codes(found)
    assert not found.whole


def test_what_is_reached_as_it_is_needs_no_map() -> None:
    assert discovered(*(at(BROKERS[n - 1].endpoint, RIGHT[n - 1]) for n in (1, 2, 3))).direct


@pytest.mark.parametrize("speaks", ["silence", "closed", "http", "other"])
def test_why_no_bootstrap_server_answers(speaks: str) -> None:
    server = replace(RIGHT[0], speaks=speaks, brokers=None, identity=None, cluster_id=None)
    found = discovered(evidence=replace(SEEN, bootstraps=(server,), replicas=None))
    assert not found.answered
    assert server.endpoint in " ".join(finding.subject for finding in found.findings)


def test_no_bootstrap_server_answers() -> None:
    found = discovered(evidence=replace(SEEN, bootstraps=(refused("172.10.1.40:9093"),), replicas=None))
    assert found.nodes == ()
    assert not found.whole
    assert codes(found) == ["BN103"]


@pytest.mark.parametrize(
    "few",
    [
        steady(reached(3, GATEWAY[3]), connections=8),
        replace(
            RIGHT[2],
            attempts=(*RIGHT[2].attempts, Attempt("10.0.0.9", "connected")),
            addresses=("172.10.1.40", "10.0.0.9"),
        ),
    ],
    ids=["too-few", "an-address-never-met"],
)
def test_too_few_connections_prove_nothing(few: EndpointProbe) -> None:
    found = discovered(*RIGHT[:2], few)
    assert sorted(led(found)) == [1, 2]
    assert codes(found) == ["BN605", "BN004"]
    assert "and 9 are needed to rule out a balancer" in found.findings[1].message
    assert discovered(*RIGHT[:2], steady(reached(3, GATEWAY[3]), connections=9)).whole


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_a_random_balancer_is_never_taken_for_a_node(nodes: int) -> None:
    dice = random.Random(nodes)

    async def meet(_address: str, _number: int) -> int:
        return dice.randint(1, nodes)

    async def runs() -> list[Identity]:
        end = asyncio.get_running_loop().time() + 60
        wanted = connections(nodes)
        return [
            await sampled(Identity(dice.randint(1, nodes), "apiversions"), ["172.10.1.40"], wanted, meet, end)
            for _ in range(500)
        ]

    brokers = tuple(Advertised(node, "10.0.0.1", node) for node in range(1, nodes + 1))
    home = replace(RIGHT[0], brokers=brokers)
    for identity in asyncio.run(runs()):
        found = discovered(replace(home, identity=identity), evidence=replace(SEEN, bootstraps=(home,), replicas=None))
        assert found.matched == ()


@pytest.mark.parametrize(
    ("probe", "words"),
    [
        (probed("a:1", "a", attempts=(Attempt("10.0.0.1", "timeout"), Attempt("10.0.0.2", "refused"))), "refused"),
        (probed("a:1", "a", attempts=(Attempt("10.0.0.1", "timeout"),)), "no answer"),
        (probed("a:1", "a", attempts=(Attempt("10.0.0.1", "unreachable"),)), "no route"),
        (probed("a:1", "a", dns_error="unknown"), "name does not resolve"),
        (probed("a:1", "a", complete=False), "not probed in time (see --timeout)"),
    ],
)
def test_silent_candidates_are_counted(probe: EndpointProbe, words: str) -> None:
    assert discovered(*RIGHT, probe).silent == {words: 1}


def test_ports_that_all_lead_to_one_node_have_one_target() -> None:
    found = discovered(*(at(f"172.10.1.40:{port}", RIGHT[0]) for port in (9093, 9094, 9095)))
    (told,) = (each for each in found.findings if each.subject.startswith("node 1 "))
    assert "none leads to another node: these forwards have one target" in told.message
    assert told.remedy == Remedy(broker=("give each node a forward or an endpoint of its own",))
    pair = discovered(*(at(f"172.10.1.40:{port}", RIGHT[0]) for port in (9093, 9096)), *RIGHT[1:])
    assert "have one target" not in str(pair.findings)


def test_settings_that_work_elsewhere_are_not_changed_for_one_candidate() -> None:
    login = Login("mechanism-not-offered", ("SCRAM-SHA-512",))
    other = replace(RIGHT[2], speaks="kafka", sasl=login, brokers=None, identity=None, cluster_id=None)
    (told,) = (each for each in discovered(*RIGHT[:2], other).findings if each.code == "BN404")
    assert told.remedy == Remedy(
        broker=(f"this client's settings work at {GATEWAY[1]}: correct the listener or the forward of this one",)
    )
    assert told.hint is None


def test_a_candidate_that_got_no_login_is_not_known() -> None:
    other = replace(RIGHT[2], speaks="kafka", sasl=Login("not-tried", detail="no login was sent"), brokers=None)
    other = replace(other, identity=None, cluster_id=None)
    found = discovered(*RIGHT[:2], other)
    assert [each.message for each in found.findings] == [
        "not known: 1 candidate does not show which node answers",
        "not known: no login was sent",
    ]
