"""What the map says and who answers behind it: each record gives its own findings and no others."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.conftest import BROKERS, GATEWAY, WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.evidence import Advertised, Attempt, BrokerPath, Evidence, Identity, Login, TlsHandshake
from brokernat.doctor.finding import Confidence, Severity

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
RULES = HEALTHY.rules or ()
OF_4_4 = (("ApiVersions", 5), ("Produce", 13))


def codes(found: Diagnosis) -> set[str]:
    return {finding.code for finding in found.findings}


def cause(found: Diagnosis) -> str | None:
    return found.cause.code if found.cause else None


def told(evidence: Evidence, own: Mapping[int, Identity], knows: tuple[tuple[str, int], ...] = ()) -> Evidence:
    """The same where nodes call themselves so; of the others nothing is known."""
    paths = [
        replace(path, probe=path.probe and replace(path.probe, knows=knows, identity=own.get(path.broker.node_id)))
        for path in evidence.paths
    ]
    probes = tuple(replace(probe, knows=knows) for probe in evidence.bootstraps)
    return replace(evidence, bootstraps=probes, paths=tuple(paths))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (RULES[0], {"BN607"}),
        ("192.168.1.23:9092=gw:1", {"BN607"}),
        ("172.10.1.40:9093=gw:1", {"BN606"}),
        ("192.168.1.99:9092=172.10.1.40:9093", {"BN606"}),
    ],
)
def test_rules_that_do_not_fit_together_stop_nobody(more: str, expected: set[str]) -> None:
    found = diagnose(replace(HEALTHY, rules=(*RULES, more)))
    assert codes(found) == expected
    assert cause(found) is None


@pytest.mark.parametrize(("left", "named"), [("192.168.1.32:9092", True), ("10.0.0.9:9092", False)])
def test_a_rule_with_a_typo_is_named_where_a_rule_is_missing(left: str, *, named: bool) -> None:
    without = mapped({1: 1, 3: 3})
    unused = f"{left}={GATEWAY[2]}"
    found = diagnose(replace(without, rules=(*(without.rules or ()), unused)))
    (missing,) = (each for each in found.findings if each.code == "BN605")
    typo = f"correct the left side of `{unused}` if it is meant for this node; its target was not tested"
    assert missing.remedy.client == ((typo,) if named else ())
    # It is probably the rule of the node that is down.
    down = replace(without, rules=(*(without.rules or ()), unused), replicas=(1, 2, 3, 4))
    (missing,) = (each for each in diagnose(down).findings if each.code == "BN605")
    assert missing.remedy.client == ()


def by_name(*, resolves: bool) -> Evidence:
    """Two nodes with rules to another port, a bootstrap server that goes by a rule, and a name without a rule."""
    names = tuple(replace(each, host=f"kafka-{each.node_id}.hq") for each in BROKERS)
    ends = {1: "203.0.113.20:19092", 3: "203.0.113.22:19092"}
    rules = {n: f"{names[n - 1].endpoint}={end}" for n, end in ends.items()}
    probes = {n: replace(reached(n, end), name=names[n - 1].host, brokers=names) for n, end in ends.items()}
    unknown = replace(
        refused(names[1].endpoint),
        addresses=("192.168.1.24",) if resolves else (),
        dns_error=None if resolves else "Name or service not known",
        attempts=(),
    )
    paths = tuple(
        BrokerPath(each, probes[each.node_id], rules[each.node_id])
        if each.node_id in ends
        else BrokerPath(each, None, direct=unknown)
        for each in names
    )
    server = replace(probes[1], rule=rules[1])
    return replace(WITHOUT_MAP, rules=tuple(rules.values()), unmapped="fail", bootstraps=(server,), paths=paths)


@pytest.mark.parametrize("resolves", [True, False])
def test_what_a_rule_leads_to_shows_nothing_about_the_name(resolves: bool) -> None:
    (missing,) = (each for each in diagnose(by_name(resolves=resolves)).findings if each.code == "BN605")
    assert missing.remedy.rules == ("kafka-2.hq:9092 = HOST:PORT that can be dialled from here",)


@pytest.mark.parametrize("resolves", [True, False])
def test_another_port_of_the_same_host_needs_a_name_that_resolves(resolves: bool) -> None:
    """The first node answers at another port of its own name."""
    evidence = by_name(resolves=resolves)
    own = evidence.bootstraps[0]
    server = replace(own, endpoint="kafka-1.hq:19092", rule=None)
    (missing,) = (each for each in diagnose(replace(evidence, bootstraps=(server,))).findings if each.code == "BN605")
    end = "kafka-2.hq:19092" if resolves else "HOST:PORT that can be dialled from here"
    assert missing.remedy.rules == (f"kafka-2.hq:9092 = {end}",)


def test_a_wider_rule_behind_the_others_is_shadowed_and_matches_something() -> None:
    wide, stale = "192.168.1.0/24=10.20.30.0/24", f"192.168.1.99:9092={GATEWAY[3]}"
    found = diagnose(replace(HEALTHY, rules=(stale, *RULES, wide))).findings
    unused = {each.subject: each for each in found if each.code == "BN606"}
    assert unused[f"rule {wide}"].severity is Severity.INFO
    assert unused[f"rule {wide}"].message.startswith("earlier rules match every endpoint that it matches (`192.168")
    assert unused[f"rule {stale}"].message == "it matches no advertised endpoint"
    assert {each.because for each in unused.values()} == {()}


def test_many_unused_rules_have_one_line_of_advice() -> None:
    stale = tuple(f"192.168.1.{number}:9092={GATEWAY[3]}" for number in range(50, 60))
    found = diagnose(replace(HEALTHY, rules=(*stale, *RULES))).findings
    advised = {line for each in found if each.code == "BN606" for line in each.remedy.client}
    assert advised == {"remove or correct these rules"}


def test_a_rule_is_compared_with_endpoints_that_can_be_dialled_only() -> None:
    odd = replace(HEALTHY.paths[0], broker=replace(BROKERS[0], host="not a host", port=0))
    found = diagnose(replace(HEALTHY, paths=(odd, *HEALTHY.paths[1:]), rules=(*RULES, "a=b")))
    assert "BN606" in codes(found)


@pytest.mark.parametrize(("unmapped", "expected"), [("fail", {"BN609", "BN605", "BN202"}), ("pass", {"BN609"})])
def test_a_map_of_another_time(unmapped: str, expected: set[str]) -> None:
    old = replace(mapped({}), rules=("10.0.0.1:9092=172.10.1.40:9093",), unmapped=unmapped)
    if unmapped == "pass":
        paths = tuple(replace(path, probe=reached(path.broker.node_id, path.broker.endpoint)) for path in old.paths)
        old = replace(old, paths=paths)
    found = diagnose(old)
    assert codes(found) == expected
    assert cause(found) == ("BN609" if unmapped == "fail" else None)
    lines = {line for each in found.findings if each.code == "BN609" for line in each.remedy.rules}
    assert lines == {f"{each.endpoint} = {GATEWAY[each.node_id]}" for each in BROKERS}


@pytest.mark.parametrize(("knows", "expected"), [((("ApiVersions", 4),), {"BN601"}), (OF_4_4, {"BN601", "BN611"})])
def test_brokers_that_refuse_who_means_another(knows: tuple[tuple[str, int], ...], expected: set[str]) -> None:
    exchanged = {1: Identity(2, "apiversions"), 2: Identity(1, "apiversions"), 3: Identity(3, "apiversions")}
    found = diagnose(told(HEALTHY, exchanged, knows))
    assert codes(found) == expected
    assert cause(found) == "BN601"


def test_a_proxy_that_renumbers_is_no_wrong_forward() -> None:
    renumbered = {n: Identity(n + 1000, "describeconfigs") for n in (1, 2, 3)}
    found = diagnose(told(HEALTHY, renumbered))
    assert codes(found) == {"BN612"}
    assert found.findings[0].message == "the nodes' own ids are the advertised ids + 1000"
    newer = diagnose(told(HEALTHY, renumbered, OF_4_4))
    assert codes(newer) == {"BN612", "BN611"}
    assert cause(newer) == "BN611"


def test_a_proxy_that_renumbers_one_by_one() -> None:
    """Some of the ids behind it are advertised ones, too."""
    found = diagnose(told(HEALTHY, {n: Identity(own, "describeconfigs") for n, own in ((1, 2), (2, 9), (3, 17))}))
    assert codes(found) == {"BN612"}
    assert (
        found.findings[0].message == "behind the advertised ids are other ones: 1 is node 2, 2 is node 9, 3 is node 17"
    )
    one_right = {n: Identity(own, "describeconfigs") for n, own in ((1, 1), (2, 9), (3, 17))}
    assert codes(diagnose(told(HEALTHY, one_right))) == {"BN601"}


def test_forwards_turned_round_are_no_proxy() -> None:
    turned = {n: Identity(n % 3 + 1, "describeconfigs") for n in (1, 2, 3)}
    assert codes(diagnose(told(HEALTHY, turned))) == {"BN601"}
    one = {1: Identity(2, "describeconfigs"), 2: Identity(2, "describeconfigs")}
    assert codes(diagnose(told(HEALTHY, one))) == {"BN601"}


def by_rules(rules: tuple[str, ...], leads: Mapping[int, tuple[int, str]]) -> Evidence:
    """A map whose rules, one a node, lead to an endpoint each where the node of that number answers."""
    paths = tuple(
        BrokerPath(each, reached(*leads[each.node_id]), rule) for each, rule in zip(BROKERS, rules, strict=True)
    )
    servers = tuple(reached(each.node_id, each.endpoint) for each in BROKERS)
    return replace(HEALTHY, rules=tuple(dict.fromkeys(rules)), bootstraps=servers, paths=paths)


def test_hosts_that_rules_exchange_are_no_chain() -> None:
    hosts = {each.node_id: each.host for each in BROKERS}
    turn = {1: 2, 2: 1, 3: 3}
    rules = tuple(f"{hosts[one]}={hosts[two]}" for one, two in turn.items())
    found = diagnose(by_rules(rules, {one: (two, f"{hosts[two]}:9092") for one, two in turn.items()}))
    assert {each.code for each in found.causes} == {"BN601"}
    one, _ = found.of_cause(found.causes[0])
    assert one.remedy.client == (f"correct the rule `{rules[0]}`: it leads to an advertised endpoint",)
    assert one.remedy.broker == ()
    assert one.remedy.rules == ("192.168.1.23:9092 = 192.168.1.23:9092",)


def test_rules_that_exchange_forwards_and_lead_to_their_nodes_are_no_chain() -> None:
    ends = {each.node_id: each.endpoint for each in BROKERS}
    turn = {1: 3, 2: 1, 3: 2}
    rules = tuple(f"{ends[one]}={ends[two]}" for one, two in turn.items())
    right = diagnose(by_rules(rules, {one: (one, ends[two]) for one, two in turn.items()}))
    assert "BN607" not in codes(right)
    wrong = diagnose(by_rules(rules, {one: (two, ends[two]) for one, two in turn.items()}))
    assert {"BN601", "BN607"} <= codes(wrong)


def test_a_rule_that_leads_all_nodes_to_one_is_to_be_several() -> None:
    rule = "192.168.1.0/24=172.10.1.0/24"
    found = diagnose(by_rules((rule,) * 3, dict.fromkeys((1, 2, 3), (1, GATEWAY[1]))))
    several = (f"`{rule}` leads 3 nodes to one endpoint: write one rule for each node instead",)
    assert {each.remedy.client for each in found.findings if each.code == "BN601"} == {several}


def test_a_rule_that_leads_no_node_to_the_right_end_is_the_only_cause() -> None:
    rule = "192.168.1.0/24=172.10.1.0/24"
    leads = {1: (3, "172.10.1.19:9092"), 2: (2, "172.10.1.20:9092"), 3: (3, "172.10.1.21:9092")}
    evidence = by_rules((rule,) * 3, leads)
    first, *others = evidence.paths
    attempts = (Attempt("172.10.1.20", "timeout"), Attempt("172.10.1.21", "refused"))
    away = [
        replace(path, probe=probed(f"{each.address}:9092", each.address, (each.address,), attempts=(each,)))
        for path, each in zip(others, attempts, strict=True)
    ]
    found = diagnose(replace(evidence, paths=(first, *away)))
    assert [each.code for each in found.causes] == ["BN601"]
    (wrong,) = (each for each in found.findings if each.code == "BN601")
    assert wrong.remedy.client == (
        f"correct the rule `{rule}`: it leads node 1 to node 3, and node 2, node 3 to wrong endpoints too",
    )
    right = replace(evidence.paths[2], probe=reached(3, "172.10.1.21:9092"))
    partly = diagnose(replace(evidence, paths=(first, away[0], right)))
    assert {each.code for each in partly.causes} > {"BN601"}


def test_a_node_that_answers_elsewhere_is_behind_no_firewall() -> None:
    """Rules that are shifted by one: the last one leads to nothing."""
    ends = ("172.10.1.12", "172.10.1.13", "172.10.1.14")
    rules = tuple(f"{each.host}={end}" for each, end in zip(BROKERS, ends, strict=True))
    evidence = by_rules(rules, {n: (n + 1, f"{end}:9092") for n, end in enumerate(ends, 1)})
    dropped = Attempt("172.10.1.14", "timeout")
    away = probed("172.10.1.14:9092", dropped.address, (dropped.address,), attempts=(dropped,))
    found = diagnose(replace(evidence, paths=(*evidence.paths[:2], replace(evidence.paths[2], probe=away))))
    assert [each.code for each in found.causes] == ["BN601"]
    rules = tuple(line for each in found.of_cause(found.causes[0]) for line in each.remedy.rules)
    assert f"{BROKERS[2].endpoint} = 172.10.1.13:9092" in rules


def test_a_rule_to_the_endpoint_of_another_is_what_is_wrong_and_not_the_forward() -> None:
    found = diagnose(mapped({1: 1, 2: 1, 3: 3}))
    (wrong,) = (each for each in found.findings if each.code == "BN601")
    assert wrong.remedy.broker == ()
    assert wrong.remedy.client == (
        f"correct the rule `{BROKERS[1].endpoint}={GATEWAY[1]}`: {GATEWAY[1]} is the target of the rule for node 1 "
        "too, and each node needs an endpoint of its own",
    )
    shared = [each for each in found.findings if each.code == "BN607"]
    assert [each.because for each in shared] == [("BN601",)] * len(shared)


def test_rules_for_the_same_hosts_with_another_port_are_named() -> None:
    old = tuple(f"{each.host}:9999={GATEWAY[each.node_id]}" for each in BROKERS)
    paths = tuple(BrokerPath(each, None) for each in BROKERS)
    found = diagnose(replace(WITHOUT_MAP, paths=paths, rules=old, unmapped="fail"))
    assert cause(found) == "BN609"
    (advised,) = (each.remedy for each in found.findings if each.code == "BN609")
    assert advised.client[:3] == tuple(
        f"if only the port has changed: correct it in `{rule}`; the broker advertises port 9092 now" for rule in old
    )


@pytest.mark.parametrize("own", [True, False])
def test_rules_to_one_endpoint_are_right_where_each_node_is_proven_there(own: bool) -> None:
    """A gateway may choose the node by the name in TLS."""
    gateway = "172.10.1.40:443"
    names = tuple(replace(each, host=f"kafka-{each.node_id}.hq") for each in BROKERS)
    rules = tuple(f"{each.endpoint}={gateway}" for each in names)
    at = [replace(reached(each.node_id if own else 1, gateway), brokers=names) for each in names]
    paths = tuple(BrokerPath(*each) for each in zip(names, at, rules, strict=True))
    servers = tuple(replace(each, name=name.host, tls=TlsHandshake("ok")) for each, name in zip(at, names, strict=True))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=servers, paths=paths, rules=rules))
    assert {each.code for each in found.findings} & {"BN101", "BN607"} == (set() if own else {"BN607"})


@pytest.mark.parametrize("directly", [True, False])
def test_a_rule_to_where_nothing_listens(directly: bool) -> None:
    """The line that is proven is shown, and whether the advertised endpoint takes connections without a rule."""
    dead = refused("172.10.1.40:9193")
    touched = reached(1, BROKERS[0].endpoint) if directly else refused(BROKERS[0].endpoint)
    path = BrokerPath(BROKERS[0], dead, f"{BROKERS[0].endpoint}=172.10.1.40:9193", touched)
    found = diagnose(replace(HEALTHY, paths=(path, *HEALTHY.paths[1:])))
    (finding,) = (each for each in found.findings if each.code == "BN305")
    assert finding.remedy.rules == (f"{BROKERS[0].endpoint} = {GATEWAY[1]}",)
    assert any("needs no rule" in each for each in finding.remedy.client) is directly


@pytest.mark.parametrize(
    ("method", "confidence"),
    [("describeconfigs", Confidence.PROVEN), ("listoffsets", Confidence.LIKELY), ("certificate", Confidence.LIKELY)],
)
def test_a_finding_is_as_sure_as_the_method(method: str, confidence: Confidence) -> None:
    other = Identity(2, method)  # type: ignore[arg-type]
    found = diagnose(told(HEALTHY, {1: other, 2: replace(other, others=(3,)), 3: Identity(3, "describeconfigs")}))
    assert {each.code: each.confidence for each in found.findings} == {"BN601": confidence, "BN602": confidence}


def test_what_cannot_be_proven_names_the_right() -> None:
    found = diagnose(told(HEALTHY, {1: Identity(None, "none", "cluster_authorization_failed")}))
    (finding,) = found.findings
    assert finding.code == "BN604"
    assert "CLUSTER_AUTHORIZATION_FAILED" in finding.details[0]
    assert "--operation DescribeConfigs --cluster" in finding.remedy.broker[0]


def test_a_node_that_there_was_no_time_to_prove_needs_time_and_no_right() -> None:
    first, *others = HEALTHY.paths
    assert first.probe is not None
    cut = replace(first.probe, identity=Identity(None, "none", "CLUSTER_AUTHORIZATION_FAILED"), complete=False)
    found = diagnose(replace(HEALTHY, paths=(replace(first, probe=cut), *others)))
    (finding,) = (each for each in found.findings if each.code == "BN604")
    assert (finding.message, finding.details) == (
        "a broker answers, but the time ran out before its node id was proven",
        (),
    )
    assert finding.remedy.broker == ()
    assert "--timeout" in finding.remedy.client[0]


@pytest.mark.parametrize("kept", [True, False], ids=["others-are-right", "alone"])
def test_a_reversed_rule_of_a_host_explains_all_bootstrap_servers_that_it_translates(*, kept: bool) -> None:
    wrong = "172.10.1.40=192.168.1.23"
    servers = tuple(replace(refused(f"192.168.1.23:{9092 + n}"), name="172.10.1.40", rule=wrong) for n in (1, 2, 3))
    written = tuple(reached(n, GATEWAY[n]) for n in (1, 2, 3))
    rules = (*(RULES if kept else ()), wrong)
    evidence = replace(HEALTHY, rules=rules, bootstraps=servers, paths=(), replicas=None, as_written=written)
    found = diagnose(evidence)
    assert [each.code for each in found.causes] == ["BN616"]
    (reverse,) = (each for each in found.findings if each.code == "BN616")
    assert (f"remove `{wrong}`" in reverse.remedy.client[0]) == kept
    assert reverse.remedy.rules == (() if kept else ("192.168.1.23 = 172.10.1.40",))


@pytest.mark.parametrize(
    ("mechanism", "rule", "expected"),
    [
        ("GSSAPI", "192.168.1.23:9092=gw:9093", {"BN404", "BN406"}),
        ("GSSAPI", "192.168.1.23=10.0.0.1", {"BN404", "BN406"}),
        ("GSSAPI", "192.168.1.0/24=10.0.0.0/24", {"BN404", "BN406"}),
        ("GSSAPI", "[fd00::1]:9092=gw:9093", {"BN404", "BN406"}),
        ("GSSAPI", "*.hq.internal=gw", {"BN404"}),
        ("GSSAPI", "kafka-1.hq.internal=gw", {"BN404"}),
        ("PLAIN", "192.168.1.23:9092=gw:9093", {"BN404"}),
    ],
)
def test_kerberos_behind_a_map_is_judged_without_a_login(mechanism: str, rule: str, expected: set[str]) -> None:
    untried = replace(
        HEALTHY.bootstraps[0], brokers=None, cluster_id=None, identity=None, sasl=Login("not-tried", detail="no")
    )
    evidence = replace(HEALTHY, mechanism=mechanism, rules=(rule,), bootstraps=(untried,), paths=(), replicas=None)
    assert codes(diagnose(evidence)) == expected


@pytest.mark.parametrize(("produce", "expected"), [(9, {"BN605", "BN202"}), (10, {"BN605", "BN202", "BN801"})])
def test_part_of_a_map_before_brokers_that_name_leaders(produce: int, expected: set[str]) -> None:
    own = {n: Identity(n, "describeconfigs") for n in (1, 2)}
    assert codes(diagnose(told(mapped({1: 1, 2: 2}), own, (("Produce", produce),)))) == expected


def test_a_chained_rule_is_to_be_the_one_that_is_proven() -> None:
    """The other rule's target is the forward of another node."""
    rules = (f"{BROKERS[0].endpoint}={BROKERS[2].endpoint}", *RULES[1:])
    first = replace(HEALTHY.paths[0], rule=rules[0], probe=refused(BROKERS[2].endpoint))
    found = diagnose(replace(HEALTHY, rules=rules, paths=(first, *HEALTHY.paths[1:])))
    right = f"{BROKERS[0].endpoint} = {GATEWAY[1]}"
    assert {line for each in found.findings for line in each.remedy.rules} == {right}
    assert not any(GATEWAY[3] in line for each in found.findings for line in each.remedy.client)


def test_a_bootstrap_server_that_leads_to_all_is_no_rule_s_target() -> None:
    balancer = replace(
        reached(1, "172.10.1.40:9092"),
        identity=Identity(
            1, "describeconfigs", others=(2, 3), met=(("172.10.1.40", 1), ("172.10.1.40", 2), ("172.10.1.40", 3))
        ),
    )
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(balancer,)))
    assert cause(found) == "BN302"
    (advice,) = {each.remedy.client for each in found.findings if each.code == "BN302"}
    finds, leads = advice
    assert finds.startswith("`brokernat discover -b HOST:PORT --candidates HOST:PORTS` finds and tests endpoints")
    assert leads.startswith("172.10.1.40:9092 leads to nodes 1, 2, 3 in turn, so no rule can use it")


def test_a_rule_into_another_cluster_is_found_also_where_its_target_is_a_bootstrap_server() -> None:
    """The other cluster is a copy: it advertises the same endpoints."""
    stranger = replace(reached(3, GATEWAY[3]), cluster_id="staging")
    paths = (*HEALTHY.paths[:2], replace(HEALTHY.paths[2], probe=stranger))
    found = diagnose(replace(HEALTHY, bootstraps=(*HEALTHY.bootstraps[:2], stranger), paths=paths))
    assert cause(found) == "BN501"
    (named,) = (each for each in found.findings if each.code == "BN501")
    assert named.subject == f"node 3 at {BROKERS[2].endpoint}"
    assert named.remedy.client == (f"correct the rule `{RULES[2]}`",)


def test_a_wide_rule_that_stands_before_the_right_ones_is_the_cause() -> None:
    wide = "192.168.1.0/24=192.168.2.0/24"
    away = tuple(
        replace(path, rule=wide, probe=refused(f"192.168.2.{22 + n}:9092")) for n, path in enumerate(HEALTHY.paths, 1)
    )
    found = diagnose(replace(HEALTHY, rules=(wide, *RULES), paths=away))
    assert cause(found) == "BN607"
    advice = {line for each in found.findings if not each.because for line in each.remedy.client}
    assert f"put `{RULES[0]}` before `{wide}`, or remove that one" in advice


def test_a_wide_rule_alone_gets_the_right_ones_before_it() -> None:
    wide = "192.168.1.0/24=192.168.2.0/24"
    away = tuple(
        replace(path, rule=wide, probe=refused(f"192.168.2.{22 + n}:9092")) for n, path in enumerate(HEALTHY.paths, 1)
    )
    found = diagnose(replace(HEALTHY, rules=(wide,), paths=away))
    assert cause(found) == "BN305"
    (first, *_) = (each for each in found.findings if each.code == "BN305")
    assert first.remedy.client == (
        f"correct the rule `{wide}`, or put the right ones before it: the first rule that matches wins",
    )
    assert first.remedy.rules == (f"{BROKERS[0].endpoint} = {GATEWAY[1]}",)
    assert first.remedy.broker == (), "the bootstrap servers prove forward and node"


def test_a_node_without_a_rule_that_can_be_dialled_may_pass() -> None:
    without = mapped({1: 1, 2: 2})
    for direct, passes in ((reached(3, BROKERS[2].endpoint), True), (refused(BROKERS[2].endpoint), False)):
        paths = (*without.paths[:2], replace(without.paths[2], direct=direct))
        found = diagnose(replace(without, paths=paths))
        (missing,) = (each for each in found.findings if each.code == "BN605")
        assert any("`unmapped: pass`" in line for line in missing.remedy.client) == passes
        assert ("BN202" in codes(found)) != passes


def test_a_rule_for_all_is_replaced_by_rules_for_all() -> None:
    """The node that happens to be right needs its own rule, too."""
    wild = "*.hq.example=172.10.1.40"
    nodes = tuple(replace(each, host=f"kafka-{each.node_id}.hq.example") for each in BROKERS)
    there = reached(1, "172.10.1.40:9092")
    paths = tuple(BrokerPath(each, there, wild) for each in nodes)
    servers = (replace(reached(1, GATEWAY[1]), brokers=nodes),)
    found = diagnose(replace(HEALTHY, rules=(wild,), bootstraps=servers, paths=paths))
    wrong = [each for each in found.findings if each.code == "BN601"]
    assert [each.remedy.broker for each in wrong] == [("give each node a forward of its own at the gateway",)] * 2
    assert all(each.remedy.rules[0] == "kafka-1.hq.example:9092 = 172.10.1.40:9092" for each in wrong)


def test_a_rule_to_a_name_of_several_nodes_gets_the_address_of_the_right_one() -> None:
    met = (("10.0.0.1", 1), ("10.0.0.2", 2), ("10.0.0.3", 3))
    everyone = replace(
        reached(1, "all.hq.example:9092"),
        addresses=tuple(address for address, _ in met),
        identity=Identity(1, "describeconfigs", others=(2, 3), met=met),
    )
    third = BrokerPath(BROKERS[2], everyone, f"{BROKERS[2].endpoint}=all.hq.example:9092")
    found = diagnose(replace(HEALTHY, rules=(*RULES[:2], third.rule or ""), paths=(*HEALTHY.paths[:2], third)))
    (several,) = (each for each in found.findings if each.code == "BN602")
    assert several.remedy.rules == (f"{BROKERS[2].endpoint} = 10.0.0.3:9092",)
    assert several.remedy.broker == (), "the name may be a bootstrap server of others"


@pytest.mark.parametrize("beside", [True, False])
def test_one_forward_of_a_gateway_with_two_addresses_is_wrong(beside: bool) -> None:
    """The gateway's other ports show that its name is meant to have both."""
    nodes = tuple(replace(each, host="gw.example", port=9000 + each.node_id) for each in BROKERS)
    both = ("10.0.0.1", "10.0.0.2")

    def at(node: Advertised, *met: int) -> BrokerPath:
        found = Identity(
            met[0], "describeconfigs", others=tuple({*met} - {met[0]}), met=tuple(zip(both, met, strict=True))
        )
        right = replace(reached(met[0], node.endpoint), brokers=nodes, addresses=both, identity=found)
        return BrokerPath(node, right if beside or len({*met}) > 1 else refused(node.endpoint))

    paths = (at(nodes[0], 1, 1), at(nodes[1], 2, 2), at(nodes[2], 3, 2))
    server = replace(reached(1, GATEWAY[1]), brokers=nodes)
    found = diagnose(replace(HEALTHY, rules=None, bootstraps=(server,), paths=paths))
    (several,) = (each for each in found.findings if each.code == "BN602")
    assert several.remedy.broker[0].startswith(
        "correct the forward at 10.0.0.2:9003: it leads to node 2" if beside else "give `gw.example` one address in DNS"
    )


def test_rules_into_another_cluster_are_given_the_proven_targets() -> None:
    away = tuple(
        replace(path, probe=path.probe and replace(path.probe, cluster_id="staging")) for path in HEALTHY.paths
    )
    found = diagnose(replace(HEALTHY, paths=away))
    strange = [each for each in found.findings if each.code == "BN501"]
    assert [each.remedy.rules for each in strange] == [
        (f"{each.endpoint} = {GATEWAY[each.node_id]}",) for each in BROKERS
    ]


def test_nodes_that_advertise_each_others_endpoints_are_no_forwards() -> None:
    ends = {1: BROKERS[1].endpoint, 2: BROKERS[0].endpoint, 3: BROKERS[2].endpoint}
    paths = tuple(
        BrokerPath(each, reached(next(n for n, end in ends.items() if end == each.endpoint), each.endpoint))
        for each in BROKERS
    )
    servers = (reached(3, BROKERS[2].endpoint),)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=servers, paths=paths))
    assert cause(found) == "BN601"
    (first, *_) = (each for each in found.findings if each.code == "BN601")
    assert first.remedy.broker[0] == "check `advertised.listeners` of node 1: it must name its own endpoint"


@pytest.mark.parametrize("astray", [1, 2])
def test_a_wide_rule_that_leads_several_nodes_to_one_endpoint_hides_the_right_rules(astray: int) -> None:
    """If one node is astray, a gateway may choose by the TLS name, and lack the name of this node."""
    wide, gateway = "*.hq.example:9092=172.10.1.40:9093", GATEWAY[1]
    brokers = tuple(Advertised(n, f"kafka-{n}.hq.example", 9092) for n in (1, 2, 3))
    rules = tuple(f"{each.endpoint}={GATEWAY[each.node_id]}" for each in brokers)
    met = [1 if n > 3 - astray else n for n in (1, 2, 3)]
    paths = tuple(
        BrokerPath(each, replace(reached(n, gateway), brokers=brokers), wide)
        for each, n in zip(brokers, met, strict=True)
    )
    servers = (replace(reached(1, GATEWAY[1]), brokers=brokers),)
    found = diagnose(replace(HEALTHY, bootstraps=servers, paths=paths, rules=(wide, *rules)))
    assert cause(found) == ("BN607" if astray > 1 else "BN601")
    advice = {line for each in found.findings if not each.because for line in each.remedy.client}
    moved = f"put `{rules[2]}` before `{wide}`, or remove that one; the target of `{rules[2]}` was not tested"
    assert (moved in advice) == (astray > 1)


@pytest.mark.parametrize("stage", ["connect", "another node"])
def test_a_rule_behind_a_wider_one_is_probably_meant_for_the_node_that_is_not_reached(stage: str) -> None:
    """No rule is proven for the node; if another node answers, its forward may be wrong as well."""
    wide, own = "192.168.1.0/24=10.20.30.0/24", "192.168.1.25=10.40.0.3"
    ends = {each.node_id: f"10.20.30.{22 + each.node_id}:9092" for each in BROKERS}
    away = refused(ends[3]) if stage == "connect" else reached(1, ends[3])
    probes = (reached(1, ends[1]), reached(2, ends[2]), away)
    paths = tuple(BrokerPath(each, probe, wide) for each, probe in zip(BROKERS, probes, strict=True))
    found = diagnose(replace(HEALTHY, bootstraps=probes[:2], paths=paths, rules=(wide, own)))
    assert cause(found) == ("BN607" if stage == "connect" else "BN601")
    (conflict,) = (each for each in found.findings if each.code == "BN607")
    if stage == "connect":
        assert conflict.confidence is Confidence.LIKELY
        assert conflict.remedy.client == (
            f"put `{own}` before `{wide}`, or remove that one; the target of `{own}` was not tested",
        )


def named(leads: Mapping[int, tuple[str, int]]) -> Evidence:
    """Brokers that advertise names; each name leads to an address, and a node answers there. The first is bootstrap."""
    brokers = tuple(Advertised(n, f"kafka-{n}.hq.example", 9092) for n in leads)
    probes = [
        replace(reached(node_id, f"{place}:9092"), endpoint=each.endpoint, name=each.host, brokers=brokers)
        for each, (place, node_id) in zip(brokers, leads.values(), strict=True)
    ]
    paths = tuple(BrokerPath(*each) for each in zip(brokers, probes, strict=True))
    return replace(WITHOUT_MAP, bootstraps=(probes[0],), paths=paths, replicas=tuple(leads))


def test_names_whose_records_are_exchanged_are_corrected_in_dns() -> None:
    found = diagnose(named({1: ("10.9.0.1", 1), 2: ("10.9.0.3", 3), 3: ("10.9.0.2", 2)}))
    assert cause(found) == "BN601"
    second = next(each for each in found.findings if each.code == "BN601")
    assert second.remedy.client == (
        "correct the DNS record (or the hosts file): `kafka-2.hq.example` resolves here to 10.9.0.3, and node 2 is at "
        "10.9.0.2",
    )
    assert (second.remedy.broker, second.remedy.rules) == ((), ("kafka-2.hq.example:9092 = 10.9.0.2:9092",))


def test_names_of_all_nodes_at_one_address_need_ports_of_their_own() -> None:
    found = diagnose(named({1: ("203.0.113.7", 1), 2: ("203.0.113.7", 1), 3: ("203.0.113.7", 1)}))
    assert cause(found) == "BN601"
    assert {each.remedy.broker for each in found.findings if each.code == "BN601"} == {
        (
            "the names of node 1, node 2, node 3 all resolve to 203.0.113.7, and port 9092 there leads to node 1: each "
            "node needs an address or a port of its own, which it advertises",
        )
    }


def test_a_name_with_the_address_of_another_node_is_corrected_in_dns() -> None:
    found = diagnose(named({1: ("10.9.0.1", 1), 2: ("10.9.0.3", 3), 3: ("10.9.0.3", 3)}))
    assert cause(found) == "BN601"
    (other,) = (each for each in found.findings if each.code == "BN601")
    assert other.remedy.client == (
        "correct the DNS record (or the hosts file): `kafka-2.hq.example` resolves here to 10.9.0.3, the address of "
        "node 3",
    )
    assert other.remedy.broker == ("if `kafka-2.hq.example` is an old name, correct `advertised.listeners` of node 2",)


def test_a_rule_of_a_network_that_is_too_narrow() -> None:
    brokers = tuple(Advertised(n, f"172.18.0.{n}", 9092) for n in (1, 2, 5))
    rule = "172.18.0.0/30=10.8.5.0/30"
    well = tuple(
        BrokerPath(each, replace(reached(each.node_id, f"10.8.5.{each.node_id}:9092"), rule=rule), rule)
        for each in brokers[:2]
    )
    evidence = replace(WITHOUT_MAP, rules=(rule,), unmapped="fail", paths=(*well, BrokerPath(brokers[2], None)))
    (found,) = (each for each in diagnose(evidence).findings if each.code == "BN605")
    assert found.remedy.client == (
        f"widen `{rule}` to /29 on both sides if it is meant for 172.18.0.5, which it does not contain",
    )


def test_a_gateway_that_serves_the_other_rules_is_compared_first() -> None:
    """The rule of a node that is down is right, as far as can be known."""
    evidence = mapped({1: 1, 2: 2, 3: 3})
    down = replace(refused(GATEWAY[3]), rule=evidence.paths[2].rule)
    evidence = replace(
        evidence,
        paths=(*evidence.paths[:2], replace(evidence.paths[2], probe=down)),
        bootstraps=evidence.bootstraps[:1],
    )
    (found,) = (each for each in diagnose(evidence).findings if each.code == "BN305")
    assert found.remedy.client[0] == (
        f"compare the port in the rule `{evidence.paths[2].rule}` with the gateway's forward to node 3"
    )
