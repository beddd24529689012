"""Nodes of one cluster held against each other: what only one shows is wrong at its place, never with the client."""

from __future__ import annotations

import dataclasses

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.conftest import BROKERS, DIRECT, GATEWAY, WELL, WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.checks import CHECKS
from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.evidence import (
    Advertised,
    ApiVersions,
    Attempt,
    BrokerPath,
    ClusterMetadata,
    EndpointProbe,
    Evidence,
    Identity,
    Leaderless,
    ListenerSeen,
    Login,
    NameLookup,
    Presented,
    SizeTest,
    TlsHandshake,
    TopicSeen,
    Transfer,
    Tries,
)
from brokernat.doctor.finding import Confidence, Remedy, Severity

HEALTHY = replace(DIRECT, in_sync=(1, 2, 3))
CHANGES_THE_CLIENT = ("security.protocol", "give the client a login", "the port of a Kafka listener", "add a listener")


def third(probe: EndpointProbe) -> Evidence:
    """The healthy cluster of three nodes with another probe of the third."""
    return replace(HEALTHY, paths=(*WELL[:2], replace(WELL[2], probe=probe)))


def at_third(**results: object) -> EndpointProbe:
    """The third node's endpoint, connected, with these results of later stages."""
    end = BROKERS[2].endpoint
    host = end.rpartition(":")[0]
    base = probed(end, host, (host,), attempts=(Attempt(host, "connected"),))
    return dataclasses.replace(base, **results)  # type: ignore[arg-type]


def causes(found: Diagnosis) -> list[str]:
    return [each.code for each in found.causes]


def advice(found: Diagnosis) -> str:
    return "\n".join(
        line
        for each in found.findings
        for line in (*each.remedy.client, *each.remedy.broker, *each.remedy.rules)
        if each.severity is Severity.ERROR
    )


HELLO = ApiVersions("ok", ((3, 0, 12),))
TIMED_OUT = replace(at_third(), attempts=(Attempt("192.168.1.25", "timeout"),))
REJECTED = replace(
    at_third(), attempts=(Attempt("192.168.1.25", "refused", icmp="admin-prohibited", reported_by="192.168.1.1"),)
)


def unreachable_says(reporter: str) -> EndpointProbe:
    """ICMP host-unreachable instead of a connection to the third node."""
    away = Attempt("192.168.1.25", "unreachable", icmp="host-unreachable", reported_by=reporter)
    return replace(at_third(), attempts=(away,))


@pytest.mark.parametrize(
    ("probe", "cause", "words"),
    [
        (unreachable_says("192.168.1.25"), "BN308", "rejects"),
        (unreachable_says("192.168.1.1"), "BN302", "node 3"),
        (at_third(versions=ApiVersions("other-protocol", protocol="TLS")), "BN315", "TLS is spoken at node 3"),
        (at_third(versions=HELLO, metadata=ClusterMetadata("closed")), "BN315", "without a login at node 3"),
        (
            at_third(versions=HELLO, metadata=ClusterMetadata("reset", mechanisms=("PLAIN",))),
            "BN315",
            "without a login",
        ),
        (
            at_third(versions=HELLO, metadata=ClusterMetadata("reset", mechanisms=())),
            "BN310",
            "at the Metadata request",
        ),
        (at_third(versions=ApiVersions("other-protocol", protocol="HTTP")), "BN104", "an HTTP server answers"),
        (at_third(versions=ApiVersions("controller")), "BN105", "node 3 at"),
        (at_third(versions=ApiVersions("silent")), "BN309", "does not answer"),
        (at_third(versions=HELLO, metadata=ClusterMetadata("stalled", received=700)), "BN309", "700 bytes"),
        (at_third(versions=ApiVersions("closed")), "BN310", "are closed, there or on the path"),
        (at_third(versions=ApiVersions("reset")), "BN310", "reset"),
        (at_third(versions=ApiVersions("cut", received=8)), "BN311", "after 8 bytes"),
        (at_third(versions=HELLO, metadata=ClusterMetadata("cut", received=500)), "BN311", "after 500 bytes"),
        (TIMED_OUT, "BN308", "packets get no answer"),
        (REJECTED, "BN308", "rejects"),
        (refused(BROKERS[2].endpoint), "BN302", "node 3"),
    ],
)
def test_one_of_three(probe: EndpointProbe, cause: str, words: str) -> None:
    found = diagnose(third(probe))
    assert causes(found) == [cause]
    assert words.lower() in found.causes[0].sentence.lower()
    assert "node 3" in found.causes[0].sentence.lower()
    assert not any(each in advice(found) for each in CHANGES_THE_CLIENT)


def test_tls_at_one_node_may_be_the_protocol_of_its_listener() -> None:
    found = diagnose(third(at_third(versions=ApiVersions("other-protocol", protocol="TLS"))))
    own = "if no proxy ends TLS there, give this listener of node 3 the protocol that it has on node 1, node 2"
    (told,) = (each.remedy for each in found.findings if each.code == "BN315")
    assert own in told.broker


def test_two_listeners_in_one_list_are_a_cause_beside_the_one_that_is_unlike() -> None:
    """And the odd node's other listener is no neighbour of its own."""
    public = tuple(Advertised(each.node_id, each.host, 9093) for each in BROKERS)
    other = tuple(replace(reached(each.node_id, each.endpoint), brokers=public) for each in public)
    odd = third(at_third(versions=ApiVersions("other-protocol", protocol="TLS")))
    paths = (*odd.paths, *(BrokerPath(each, probe) for each, probe in zip(public, other, strict=True)))
    found = diagnose(replace(odd, bootstraps=(odd.bootstraps[0], other[1]), paths=paths))
    assert sorted(causes(found)) == ["BN315", "BN502"]
    (unlike,) = (each for each in found.causes if each.code == "BN315")
    assert "unlike at node 1, node 2." in unlike.sentence


def test_two_listeners_in_one_list_are_a_cause_beside_a_server_of_another_cluster() -> None:
    public = tuple(Advertised(each.node_id, each.host, 9093) for each in BROKERS)
    other = tuple(replace(reached(each.node_id, each.endpoint), brokers=public) for each in public)
    paths = (*WELL, *(BrokerPath(each, probe) for each, probe in zip(public, other, strict=True)))
    astray = replace(reached(1, "10.9.9.9:9092"), cluster_id="other", brokers=(Advertised(1, "10.9.9.9", 9092),))
    found = diagnose(replace(HEALTHY, bootstraps=(*HEALTHY.bootstraps[:2], other[1], astray), paths=paths))
    assert sorted(causes(found)) == ["BN501", "BN502"]


def test_a_name_that_a_gateway_does_not_know_is_added_there() -> None:
    """Two nodes are proven at one endpoint by their TLS names; the third name gets the certificate of the first."""
    gateway, names = "172.10.1.40:443", tuple(replace(each, host=f"kafka-{each.node_id}.hq") for each in BROKERS)
    rule = f"*.hq:9092={gateway}"
    ends = [
        replace(reached(each.node_id, gateway), brokers=names, name=each.host, tls=TlsHandshake("ok"))
        for each in names[:2]
    ]
    other = TlsHandshake("name-mismatch", names=("kafka-1.hq",))
    lost = probed(gateway, names[2].host, ("172.10.1.40",), attempts=(Attempt("172.10.1.40", "connected"),), tls=other)
    paths = tuple(BrokerPath(*each, rule) for each in zip(names, (*ends, lost), strict=True))
    servers = tuple(replace(each, rule=rule) for each in ends)
    found = diagnose(
        replace(WITHOUT_MAP, bootstraps=servers, paths=paths, rules=(rule,), security_protocol="SSL", unmapped="fail")
    )
    assert causes(found) == ["BN402"]
    assert (
        "chooses the broker by the TLS name (SNI) and knows node 1, node 2: add or correct `kafka-3.hq` there"
        in advice(found)
    )
    assert "correct the rule" not in advice(found)


def test_names_that_a_gateway_leads_to_the_wrong_node_are_corrected_there() -> None:
    names = tuple(Advertised(node_id, f"kafka-{node_id}.hq", 443) for node_id in range(1, 5))
    answering = {1: 1, 2: 2, 3: 4, 4: 3}
    ends = [
        replace(
            reached(answering[each.node_id], each.endpoint),
            brokers=names,
            tls=TlsHandshake("ok"),
            addresses=("172.10.1.40",),
        )
        for each in names
    ]
    paths = tuple(BrokerPath(*each) for each in zip(names, ends, strict=True))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(ends[0],), paths=paths, security_protocol="SSL"))
    assert causes(found) == ["BN601"]
    for node_id in (3, 4):
        assert f"knows node 1, node 2: add or correct `kafka-{node_id}.hq` there, for node {node_id}" in advice(found)


def test_a_plain_listener_among_those_with_tls() -> None:
    secure = tuple(replace(each, probe=replace(each.probe, tls=TlsHandshake("ok"))) for each in WELL)
    plain = at_third(tls=TlsHandshake("not-tls", plain=True))
    found = diagnose(replace(HEALTHY, security_protocol="SSL", paths=(*secure[:2], replace(WELL[2], probe=plain))))
    assert causes(found) == ["BN315"]
    assert "no TLS is spoken at node 3" in found.causes[0].sentence


def test_a_server_of_another_kind_where_a_client_speaks_tls() -> None:
    """It is no broker, and no other protocol of the client makes it one."""
    ssh = at_third(tls=TlsHandshake("not-tls", protocol="SSH"))
    found = diagnose(replace(third(ssh), security_protocol="SSL"))
    assert causes(found) == ["BN104"]
    assert "an SSH server answers" in found.causes[0].sentence
    alone = diagnose(replace(HEALTHY, security_protocol="SSL", bootstraps=(ssh,), paths=()))
    assert causes(alone) == ["BN104"]
    assert "security.protocol" not in advice(alone)


@pytest.mark.parametrize(
    ("shown", "client", "broker"),
    [
        (
            (("kafka-3", "HQ 2027"), ("HQ 2027", "HQ 2027")),
            "add its authority",
            "have it signed by",
        ),
        (
            (("kafka-3", "HQ issuing"),),
            "add `HQ issuing` to the trust store",
            "to the key store's chain",
        ),
    ],
    ids=["another-authority", "intermediate-left-out"],
)
def test_a_certificate_that_is_not_trusted_at_one(shown: tuple[tuple[str, str], ...], client: str, broker: str) -> None:
    """A proxy's, or the node's own, as where certificates are replaced node by node."""
    secure = tuple(replace(each, probe=replace(each.probe, tls=TlsHandshake("ok"))) for each in WELL)
    chain = tuple(Presented(*names, "2026-11-01", "2027-11-01") for names in shown)
    foreign = at_third(tls=TlsHandshake("untrusted", detail="self-signed certificate", chain=chain))
    found = diagnose(replace(HEALTHY, security_protocol="SSL", paths=(*secure[:2], replace(WELL[2], probe=foreign))))
    assert causes(found) == ["BN403"]
    assert "unlike at node 1, node 2" in found.causes[0].sentence
    assert client in advice(found)
    assert broker in advice(found)
    assert "if node 3 does not present it itself: find the proxy that answers at 192.168.1.25:9092" in advice(found)
    # Only a whole chain shows an authority that the other nodes do not have.
    by_proxy = "a proxy on the path may present a certificate of its own (issuer `{}`)"
    assert (by_proxy.format(shown[0][1]) in found.causes[0].sentence) == (len(shown) > 1)


def test_a_gateway_that_ends_tls_in_front_of_a_port_that_expects_it() -> None:
    """The peer's alert arrives within the client's own TLS connection."""
    inner = at_third(tls=TlsHandshake("ok"), versions=ApiVersions("other-protocol", protocol="TLS"))
    secure = tuple(replace(each, probe=replace(each.probe, tls=TlsHandshake("ok"))) for each in WELL)
    one = diagnose(replace(HEALTHY, security_protocol="SSL", paths=(*secure[:2], replace(WELL[2], probe=inner))))
    alone = diagnose(replace(HEALTHY, security_protocol="SSL", bootstraps=(inner,), paths=()))
    for found in (one, alone):
        assert causes(found) == ["BN401"]
        assert "a gateway ends TLS there" in found.causes[0].sentence
        assert "`proxy_ssl on`" in advice(found)


def test_a_listener_without_a_login_among_those_with_one() -> None:
    known = tuple(replace(each, probe=replace(each.probe, sasl=Login("ok"))) for each in WELL)
    plain = at_third(versions=HELLO, sasl=Login("mechanism-not-offered", detail="ILLEGAL_SASL_STATE"))
    paths = (*known[:2], replace(WELL[2], probe=plain))
    found = diagnose(replace(HEALTHY, security_protocol="SASL_PLAINTEXT", mechanism="PLAIN", paths=paths))
    assert causes(found) == ["BN315"]
    assert "no login is supported at node 3" in found.causes[0].sentence


PLAIN_USERS = "compare the users of this listener on node 3 with those of the other nodes"


@pytest.mark.parametrize(
    ("mechanism", "rule", "first", "number"),
    [
        ("PLAIN", None, PLAIN_USERS, 1),
        ("PLAIN", "192.168.1.25:9092=172.10.1.40:9095", PLAIN_USERS, 2),
        ("SCRAM-SHA-512", None, "SCRAM users are stored in the cluster, so all its nodes have the same ones", 1),
    ],
)
def test_a_login_that_one_node_rejects_is_a_matter_of_its_users(
    mechanism: str, rule: str | None, first: str, number: int
) -> None:
    known = tuple(replace(each, probe=replace(each.probe, sasl=Login("ok"))) for each in WELL)
    odd = at_third(versions=HELLO, sasl=Login("rejected", detail="Authentication failed"))
    last = BrokerPath(BROKERS[2], odd if rule is None else dataclasses.replace(odd, endpoint=GATEWAY[3]), rule)
    rules = None if rule is None else (rule,)
    evidence = replace(HEALTHY, security_protocol="SASL_PLAINTEXT", mechanism=mechanism, rules=rules)
    found = diagnose(replace(evidence, paths=(*known[:2], last)))
    assert causes(found) == ["BN315"]
    (unlike,) = (each for each in found.findings if each.code == "BN315")
    assert unlike.remedy.client == ()
    assert unlike.remedy.broker[0].startswith(first)
    assert unlike.remedy.broker[1:] == tuple(
        f"if {GATEWAY[3]} does not lead to node 3: correct the rule `{rule}` or the forward" for _ in range(number - 1)
    )


def test_a_port_that_only_one_node_advertises_is_its_advertised_listeners() -> None:
    """Another cluster listens there; no forward and no proxy is on the path."""
    last = Advertised(3, BROKERS[2].host, 11999)
    foreign = replace(reached(3, last.endpoint), cluster_id="other")
    named = (*BROKERS[:2], last)
    servers = tuple(replace(each, brokers=named) for each in HEALTHY.bootstraps)
    paths = (*map(BrokerPath, named[:2], servers), BrokerPath(last, foreign))
    found = diagnose(replace(HEALTHY, bootstraps=servers, paths=paths))
    assert causes(found) == ["BN501"]
    fix = "correct `advertised.listeners` of node 3, which has 192.168.1.25:11999: the other nodes advertise port 9092"
    assert fix in advice(found)
    assert "forward" not in advice(found)
    assert "HOST:PORT" not in advice(found)


def test_forwards_of_one_gateway_are_checked_without_a_map() -> None:
    ends = tuple(Advertised(n, "172.10.1.40", 9092 + n) for n in (1, 2, 3))
    servers = tuple(replace(reached(each.node_id, each.endpoint), brokers=ends) for each in ends)
    odd = replace(refused(ends[2].endpoint), attempts=(Attempt("172.10.1.40", "connected"),), speaks="http")
    paths = (*map(BrokerPath, ends[:2], servers[:2]), BrokerPath(ends[2], odd))
    found = diagnose(replace(HEALTHY, bootstraps=servers[:2], paths=paths))
    assert causes(found) == ["BN104"]
    assert "check where the forward at 172.10.1.40:9095 leads: it must lead to node 3" in advice(found)


@pytest.mark.parametrize(("own_chain", "timeout"), [(2900, 15.0), (700, 60.0), (0, None)])
def test_a_client_certificate_may_be_lost_where_the_first_request_gets_no_answer(
    own_chain: int, timeout: float | None
) -> None:
    silent = at_third(tls=TlsHandshake("ok"), versions=ApiVersions("silent"))
    evidence = replace(HEALTHY, security_protocol="SSL", bootstraps=(silent,), paths=(), own_chain=own_chain)
    found = diagnose(replace(evidence, timeout=timeout))
    assert causes(found) == ["BN309"]
    assert ("may be lost on the path" in advice(found)) == (own_chain == 2900)
    assert ("--timeout 60" in advice(found)) == (timeout != 60.0)


def test_where_no_listener_takes_a_login_the_client_is_meant() -> None:
    refusal = at_third(versions=HELLO, sasl=Login("mechanism-not-offered"))
    paths = tuple(BrokerPath(each, dataclasses.replace(refusal, endpoint=each.endpoint)) for each in BROKERS)
    servers = (reached(1, BROKERS[0].endpoint),)
    evidence = replace(HEALTHY, bootstraps=servers, paths=paths, security_protocol="SASL_PLAINTEXT", mechanism="PLAIN")
    found = diagnose(evidence)
    assert causes(found) == ["BN404"]
    assert "supports no login" in found.causes[0].sentence
    assert "security.protocol: PLAINTEXT" in advice(found)


@pytest.mark.parametrize("entered", [False, True], ids=["beside", "as-a-bootstrap-server"])
def test_a_forward_to_another_listener_of_the_node(entered: bool) -> None:
    """Without any map; a bootstrap server there does not make it two listeners in one list."""
    inner = tuple(Advertised(each.node_id, f"10.9.0.{each.node_id}", 29092) for each in BROKERS)
    odd = replace(reached(3, BROKERS[2].endpoint), brokers=inner)
    found = diagnose(replace(third(odd), bootstraps=(*HEALTHY.bootstraps, *((odd,) if entered else ()))))
    assert causes(found) == ["BN603"]
    assert "listener" in found.causes[0].sentence
    assert "node 3" in found.causes[0].sentence
    assert "compare the listeners of node 3 with those of the other nodes" in advice(found)


SPEAK_TLS = tuple(
    BrokerPath(each, replace(refused(each.endpoint), attempts=(Attempt(each.host, "connected"),), speaks="tls"))
    for each in BROKERS
)


def test_where_all_are_so_the_client_is_meant() -> None:
    servers = tuple(path.probe for path in SPEAK_TLS if path.probe is not None)
    found = diagnose(replace(HEALTHY, bootstraps=servers[:2], paths=()))
    assert causes(found) == ["BN401"]
    assert "set `security.protocol: SSL` or `SASL_SSL`" in advice(found)


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_what_the_bootstrap_servers_take_is_not_what_is_wrong(secure: bool) -> None:
    """A proxy stands there that begins or ends TLS, and the brokers send clients past it."""
    servers, paths = WITHOUT_MAP.bootstraps, SPEAK_TLS
    if secure:
        servers = tuple(replace(each, tls=TlsHandshake("ok")) for each in servers)
        paths = tuple(
            BrokerPath(
                each, dataclasses.replace(at_third(tls=TlsHandshake("not-tls", plain=True)), endpoint=each.endpoint)
            )
            for each in BROKERS
        )
    protocol = "SSL" if secure else "PLAINTEXT"
    found = diagnose(replace(HEALTHY, security_protocol=protocol, bootstraps=servers, paths=paths))
    assert causes(found) == ["BN401"]
    assert "unlike the bootstrap servers, which may be a proxy" in found.causes[0].sentence
    assert "set `security.protocol" not in advice(found)
    assert f"keep `security.protocol: {protocol}`" in advice(found)
    assert "or bypass the proxy: bootstrap at advertised endpoints such as 192.168.1.23:9092, with" in advice(found)
    assert "192.168.1.23:9092 = 172.10.1.40:9093" in advice(found)


def test_a_firewall_is_likely_where_packets_vanish_and_sure_where_it_says_so() -> None:
    for probe, sure in ((TIMED_OUT, Confidence.LIKELY), (REJECTED, Confidence.PROVEN)):
        found = diagnose(third(probe))
        assert {each.confidence for each in found.findings if each.code == "BN308"} == {sure}
        assert found.causes[0].sentence.startswith("Probably") == (sure is Confidence.LIKELY)


@pytest.mark.parametrize(
    ("host", "advice_for_it"),
    [
        ("192.168.1.25", "check that the host 192.168.1.25 is up and is still node 3's"),
        ("kafka-3.hq", "`kafka-3.hq` resolves here to 192.168.1.25: if node 3 is not at that address, correct the DNS"),
    ],
)
def test_where_packets_vanish_the_address_may_also_be_an_old_one(host: str, advice_for_it: str) -> None:
    last = Advertised(3, host, 9092)
    away = probed(last.endpoint, host, ("192.168.1.25",), attempts=(Attempt("192.168.1.25", "timeout"),))
    found = diagnose(replace(HEALTHY, paths=(*WELL[:2], BrokerPath(last, away))))
    assert causes(found) == ["BN308"]
    assert advice_for_it in advice(found)


def test_silence_without_neighbours_is_no_firewall() -> None:
    away = tuple(
        BrokerPath(each, replace(refused(each.endpoint), attempts=(Attempt(each.host, "timeout"),))) for each in BROKERS
    )
    found = diagnose(replace(WITHOUT_MAP, paths=away))
    assert causes(found) == ["BN302"]


@pytest.mark.parametrize("here", [True, False])
def test_the_firewall_of_this_machine_is_told_from_others(*, here: bool) -> None:
    """No bootstrap server answers, so there is no endpoint to compare with."""
    sender = "10.50.0.2" if here else "10.20.0.1"
    block = Attempt("10.20.0.11", "unreachable", icmp="admin-prohibited", reported_by=sender, reported_here=here)
    server = replace(refused("10.20.0.11:9092"), attempts=(block,))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(server,), paths=()))
    assert causes(found) == ["BN308"]
    assert ("this machine's own firewall" in found.causes[0].sentence) == here
    (told,) = (each for each in found.findings if each.code == "BN308")
    own = "allow connections to 10.20.0.11:9092 in the firewall or the endpoint protection of this machine"
    opened, allow = "open 10.20.0.11:9092 for this machine", "allow 10.20.0.11:9092 in the firewall"
    assert told.remedy == (Remedy((own,)) if here else Remedy((opened,), (allow,)))


def test_a_one_to_one_nat_may_lack_the_entry_of_a_node() -> None:
    def dialled(broker: Advertised) -> BrokerPath:
        end = f"203.0.113.{broker.node_id}:9092"
        away = replace(refused(end), attempts=(Attempt(end.partition(":")[0], "timeout"),))
        probe = away if broker.node_id == 3 else replace(reached(broker.node_id, end), addresses=(end[:-5],))
        return BrokerPath(broker, probe, "192.168.1.0/24=203.0.113.0/24")

    paths = tuple(dialled(each) for each in BROKERS)
    entrances = tuple(each.probe for each in paths[:2] if each.probe is not None)
    rules = ("192.168.1.0/24=203.0.113.0/24",)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=entrances, paths=paths, rules=rules, unmapped="fail"))
    assert causes(found) == ["BN308"]
    (told,) = (each for each in found.findings if each.code == "BN308")
    assert not told.remedy.client, "only the gateway's side can add it"
    assert told.remedy.broker[0] == (
        f"if the rule `{rules[0]}` is right: add or correct the gateway's entry (NAT or forward) from "
        "203.0.113.3:9092 to node 3, and check that the node runs"
    )


@pytest.mark.parametrize(("one_answers", "cause"), [(False, "BN305"), (True, "BN308")])
def test_rules_of_which_none_leads_anywhere_are_wrong_and_no_firewall(*, one_answers: bool, cause: str) -> None:
    def dialled(broker: Advertised) -> BrokerPath:
        end = f"192.168.9.{broker.node_id}:9092"
        away = replace(refused(end), attempts=(Attempt(end.partition(":")[0], "timeout"),))
        well = one_answers and broker.node_id == 1
        return BrokerPath(broker, reached(1, end) if well else away, f"{broker.endpoint}={end}")

    paths = tuple(dialled(each) for each in BROKERS)
    rules = tuple(each.rule for each in paths if each.rule)
    entrance = (reached(1, "192.168.1.40:9093"),)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=entrance, paths=paths, rules=rules, unmapped="fail"))
    assert causes(found) == [cause]


def test_a_rule_to_another_host_than_all_others_is_wrong_and_no_firewall() -> None:
    """Packets to the old gateway vanish; the new one takes the other nodes."""
    whole = mapped({1: 1, 2: 2, 3: 3})
    old = replace(refused("172.10.1.39:9905"), attempts=(Attempt("172.10.1.39", "timeout"),))
    last = BrokerPath(BROKERS[2], old, f"{BROKERS[2].endpoint}=172.10.1.39:9905")
    rules = (*(whole.rules or ())[:2], str(last.rule))
    servers = tuple(reached(n, GATEWAY[n]) for n in (1, 2))
    found = diagnose(replace(whole, bootstraps=servers, paths=(*whole.paths[:2], last), rules=rules))
    assert causes(found) == ["BN305"]
    assert "correct the rule `192.168.1.25:9092=172.10.1.39:9905`" in advice(found)
    assert "firewall" not in found.causes[0].sentence


@pytest.mark.parametrize(("entrances", "cause"), [((1, 2), "BN308"), ((1, 2, 3), "BN305")])
def test_a_rule_of_a_node_that_is_proven_elsewhere_is_wrong_and_no_firewall(
    entrances: tuple[int, ...], cause: str
) -> None:
    mistyped = "172.10.1.40:9905"
    away = replace(refused(mistyped), attempts=(Attempt("172.10.1.40", "timeout"),))
    whole = mapped({1: 1, 2: 2, 3: 3})
    last = BrokerPath(BROKERS[2], away, f"{BROKERS[2].endpoint}={mistyped}")
    paths = (*whole.paths[:2], last)
    rules = tuple(each.rule for each in paths if each.rule)
    servers = tuple(reached(n, GATEWAY[n]) for n in entrances)
    found = diagnose(replace(whole, bootstraps=servers, paths=paths, rules=rules))
    assert causes(found) == [cause]
    rule = f"{BROKERS[2].endpoint} = {GATEWAY[3]}"
    assert any(rule in each.remedy.rules for each in found.findings) == (cause == "BN305")


def test_two_independent_causes_are_two_sentences() -> None:
    spoken = replace(WELL[1], probe=replace(at_third(versions=ApiVersions("silent")), endpoint=BROKERS[1].endpoint))
    other = replace(WELL[2], probe=at_third(versions=ApiVersions("other-protocol", protocol="SSH")))
    found = diagnose(replace(HEALTHY, bootstraps=HEALTHY.bootstraps[:1], paths=(WELL[0], spoken, other)))
    assert sorted(causes(found)) == ["BN104", "BN309"]
    assert all(f"node {n}" in " ".join(each.sentence for each in found.causes).lower() for n in (2, 3))


@pytest.mark.parametrize(
    ("transfers", "words"),
    [
        ((Transfer("answer", 9000, "cut", 700, failed=1),), "answers from 9000 bytes on are cut"),
        ((Transfer("request", 1600, "silent", failed=1),), "requests from 1600 bytes on are lost"),
    ],
)
def test_large_messages_only(transfers: tuple[Transfer, ...], words: str) -> None:
    found = diagnose(third(replace(reached(3, BROKERS[2].endpoint), size=SizeTest(transfers))))
    assert causes(found) == ["BN312"]
    assert words in found.causes[0].sentence
    assert "MTU" in advice(found)


@pytest.mark.parametrize(
    ("tries", "expected"),
    [
        ((Tries("versions", 3, 2, 0.01, 0.02, ("reset",)),), {"BN313": Severity.WARNING}),
        ((Tries("versions", 8, 7, 0.01, 0.02, ("reset",)),), {"BN313": Severity.WARNING}),
        ((Tries("metadata", 1, 0, 3.0, 3.0),), {"BN314": Severity.WARNING}),
        ((Tries("metadata", 3, 2, 6.0, 6.0, ("silent", "silent")),), {"BN314": Severity.WARNING}),
        (
            (Tries("metadata", 3, 2, 6.0, 6.0, ("silent", "reset")),),
            {"BN313": Severity.WARNING, "BN314": Severity.WARNING},
        ),
        ((Tries("connect", 1, 0, 1.1, 1.1),), {"BN314": Severity.INFO}),
        ((Tries("metadata", 1, 0, 0.2, 0.2),), {}),
    ],
)
def test_a_way_that_is_hard_stops_nobody(tries: tuple[Tries, ...], expected: dict[str, Severity]) -> None:
    found = diagnose(third(replace(reached(3, BROKERS[2].endpoint), tries=tries)))
    assert {each.code: each.severity for each in found.findings} == expected
    assert found.causes == ()


def test_a_forward_that_takes_one_connection_is_no_chance() -> None:
    """As `socat` without `fork`: clients open more than one, and each again."""
    tries = (Tries("connect", 16, 15, 0.01, 0.02, ("refused",) * 15),)
    found = diagnose(third(replace(reached(3, BROKERS[2].endpoint), tries=tries)))
    assert causes(found) == ["BN313"]
    assert "15 of 16 tries failed" in found.causes[0].sentence
    assert "accepts more than one connection" in advice(found)


def test_the_dead_address_of_a_name_is_not_counted_as_loss() -> None:
    both = (Attempt("2001:db8::5", "timeout", made=3, failed=3), Attempt("192.168.1.25", "connected", made=3, failed=0))
    probe = replace(reached(3, BROKERS[2].endpoint), attempts=both)
    tries = (Tries("connect", 9, 3, 0.01, 5.0, ("timeout",) * 3),)
    found = diagnose(third(replace(probe, tries=tries)))
    assert [each.code for each in found.findings if each.severity is Severity.WARNING] == ["BN303"]


def test_a_late_name_server_is_named() -> None:
    found = diagnose(third(replace(reached(3, BROKERS[2].endpoint), tries=(Tries("resolve", 1, 0, 6.0, 6.0),))))
    (slow,) = found.findings
    assert slow.message == "slow: the name servers of this machine take 6.0 s for `192.168.1.25`"
    assert "/etc/resolv.conf" in slow.remedy.client[0]


@pytest.mark.parametrize(("name", "told"), [("192.168.1.25", True), ("kafka-3.hq.internal", False)])
def test_an_address_sends_no_name_to_a_gateway_that_chooses_by_it(name: str, told: bool) -> None:
    closing = replace(at_third(tls=TlsHandshake("reset")), name=name)
    found = diagnose(replace(HEALTHY, security_protocol="SSL", bootstraps=(closing,), paths=()))
    assert causes(found) == ["BN310"]
    assert ("(SNI)" in advice(found)) == told


def test_silent_once_when_the_time_ran_out_is_slow_or_as_silent_as_the_others() -> None:
    once = (Tries("versions", 1, 1, 3.0, 3.0, ("silent",)),)
    cut_short = at_third(versions=ApiVersions("silent"), tries=once, complete=False)
    found = diagnose(third(cut_short))
    assert (causes(found), {each.code for each in found.findings}) == ([], {"BN004"})
    silent = dataclasses.replace(at_third(versions=ApiVersions("silent")), endpoint=BROKERS[1].endpoint)
    found = diagnose(
        replace(third(cut_short), paths=(WELL[0], BrokerPath(BROKERS[1], silent), BrokerPath(BROKERS[2], cut_short)))
    )
    assert causes(found) == ["BN309"]
    assert "node 3" in found.causes[0].sentence


def test_a_bootstrap_server_that_hangs_beside_others_is_a_warning() -> None:
    silent = dataclasses.replace(at_third(versions=ApiVersions("silent")), endpoint="192.168.1.99:9092")
    found = diagnose(replace(HEALTHY, bootstraps=(silent, *HEALTHY.bootstraps)))
    assert {(each.code, each.severity) for each in found.findings} == {("BN309", Severity.WARNING)}


def test_a_node_that_fails_at_a_bootstrap_server_is_an_error_of_the_node() -> None:
    """Another bootstrap server answers, and the node is not reached all the same."""
    silent = at_third(versions=ApiVersions("silent"))
    found = diagnose(replace(third(silent), bootstraps=(silent, *HEALTHY.bootstraps)))
    assert {(each.code, each.severity, each.subject[:6]) for each in found.findings} == {
        ("BN309", Severity.ERROR, "node 3")
    }


# Down, or without the listener


@pytest.mark.parametrize(
    ("held", "wanted", "severity"),
    [(False, True, Severity.WARNING), (True, True, Severity.ERROR), (True, False, Severity.WARNING)],
)
def test_a_broker_that_is_down(*, held: bool, wanted: bool, severity: Severity) -> None:
    listed = BROKERS[:2]
    probes = tuple(replace(each, brokers=listed) for each in HEALTHY.bootstraps)
    paths = tuple(replace(each, probe=replace(each.probe, brokers=listed)) for each in WELL[:2])
    leaderless = (Leaderless("LEADER_NOT_AVAILABLE", 1, "a-0", (3,), wanted),) if held else ()
    evidence = replace(HEALTHY, bootstraps=probes, paths=paths, in_sync=(1, 2), leaderless=leaderless)
    found = diagnose(evidence)
    assert {(each.code, each.severity) for each in found.findings if each.code != "BN504"} == {("BN507", severity)}
    assert causes(found) == (["BN507"] if severity is Severity.ERROR else [])


@pytest.mark.parametrize(("behind", "expected"), [((3,), ["BN507"]), ((), ["BN511"])])
def test_a_topic_that_cannot_be_written_without_a_node_that_is_down(
    behind: tuple[int, ...], expected: list[str]
) -> None:
    listed = BROKERS[:2]
    probes = tuple(replace(each, brokers=listed) for each in HEALTHY.bootstraps)
    paths = tuple(replace(each, probe=replace(each.probe, brokers=listed)) for each in WELL[:2])
    topics = (TopicSeen("audit", partitions=1, in_sync=1, required=2, out_of_sync=behind),)
    found = diagnose(replace(HEALTHY, bootstraps=probes, paths=paths, in_sync=(1, 2), topics=topics))
    assert causes(found) == expected
    assert {"BN507", "BN511"} <= {each.code for each in found.findings}


def test_a_broker_that_is_in_sync_lacks_the_listener() -> None:
    listed = BROKERS[:2]
    probes = tuple(replace(each, brokers=listed) for each in HEALTHY.bootstraps)
    paths = tuple(replace(each, probe=replace(each.probe, brokers=listed)) for each in WELL[:2])
    found = diagnose(replace(HEALTHY, bootstraps=probes, paths=paths))
    assert causes(found) == ["BN503"]
    assert "down" not in found.causes[0].sentence


# What is advertised


@pytest.mark.parametrize("speaks", ["http", "kafka", None])
def test_four_brokers_that_all_advertise_localhost(speaks: str | None) -> None:
    """Nothing there, HTTP there, or a Kafka of one's own."""
    brokers = tuple(Advertised(n, "localhost", 9092) for n in (1, 2, 3, 4))
    if speaks == "kafka":
        there = replace(reached(1, "localhost:9092"), cluster_id="of this machine", addresses=("127.0.0.1",))
    else:
        outcome = "refused" if speaks is None else "connected"
        there = probed(
            "localhost:9092",
            "localhost",
            ("127.0.0.1",),
            attempts=(Attempt("127.0.0.1", outcome),),  # type: ignore[arg-type]
            speaks=speaks,
        )
    probe = replace(reached(1, "10.9.0.1:9092"), brokers=brokers)
    found = diagnose(
        replace(
            WITHOUT_MAP,
            bootstraps=(probe,),
            paths=tuple(BrokerPath(each, there) for each in brokers),
            replicas=(1, 2, 3, 4),
        )
    )
    assert causes(found) == ["BN201"]
    assert "all 4 brokers" in found.causes[0].sentence
    assert not any(each.remedy.rules for each in found.findings), "no rule tells one localhost:9092 from another"


@pytest.mark.parametrize(
    ("host", "word"),
    [
        ("f3a9c2d17b4e", "docker"),
        ("kafka-0.kafka.default.svc.cluster.local", "brokernat tunnel --kubectl"),
        ("ip-172-31-18-161.us-west-2.compute.internal", "brokernat tunnel --ssh"),
        ("broker", "docker"),
    ],
)
def test_names_of_a_kind_of_place_have_their_own_remedy(host: str, word: str) -> None:
    broker = Advertised(1, host, 9092)
    path = BrokerPath(broker, probed(broker.endpoint, host, dns_error="unknown"))
    probe = replace(reached(1, "10.9.0.1:9092"), brokers=(broker,))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(probe,), paths=(path,), replicas=(1,)))
    assert causes(found) == ["BN301"]
    assert word in advice(found)


def listener(name: str, *ends: str) -> tuple[ListenerSeen, ...]:
    """A listener that every node has, the first one at the first endpoint, and that answers at each."""
    told = tuple(Advertised(n, end.rpartition(":")[0], int(end.rpartition(":")[2])) for n, end in enumerate(ends, 1))
    return tuple(
        ListenerSeen(each.node_id, name, each.endpoint, replace(reached(each.node_id, each.endpoint), brokers=told))
        for each in told
    )


PUBLIC = listener("PUBLIC", *(f"172.10.1.{40 + n}:9293" for n in (1, 2, 3)))


def test_a_listener_that_works_from_here_leads() -> None:
    came_in = ListenerSeen(1, "INNER", "192.168.1.23:9092", None, (WITHOUT_MAP.bootstraps[0].endpoint,))
    found = diagnose(replace(WITHOUT_MAP, listeners=(came_in, *PUBLIC)))
    root = next(each for each in found.findings if each.code == "BN302")
    ends = ",".join(each.endpoint for each in PUBLIC)
    assert root.remedy.client[0].startswith(f"bootstrap at {ends}: listener PUBLIC")
    assert "add a listener" not in advice(found)


@pytest.mark.parametrize("of_brokers", [True, False])
def test_the_brokers_own_listener_takes_no_rule_away(*, of_brokers: bool) -> None:
    settings = (("inter.broker.listener.name", "PUBLIC" if of_brokers else "CLIENT"),)
    (server,) = WITHOUT_MAP.bootstraps[:1]
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(replace(server, settings=settings),), listeners=PUBLIC))
    (*_, unreachable) = (each.remedy for each in found.findings if each.code == "BN302")
    (listener,) = (at for at, line in enumerate(unreachable.client) if "listener PUBLIC works" in line)
    assert (listener == 0) is not of_brokers
    assert any(rule.endswith("= HOST:PORT that can be dialled from here") for rule in unreachable.rules) is of_brokers
    assert bool(unreachable.broker) is of_brokers


def test_names_that_do_not_resolve_can_be_added_beside_a_listener_that_works() -> None:
    named = [Advertised(n, f"kafka-{n}.hq.example", 9092) for n in (1, 2, 3)]
    paths = tuple(BrokerPath(each, probed(each.endpoint, each.host, dns_error="unknown")) for each in named)
    found = diagnose(replace(WITHOUT_MAP, paths=paths, listeners=PUBLIC))
    (client, *_) = (each.remedy.client for each in found.findings if each.code == "BN301")
    assert "listener PUBLIC works" in client[0]
    assert client[1] == "or add the advertised names to the name server or to the hosts file of this machine"


def test_a_listener_that_has_a_node_twice_is_advised_to_nobody() -> None:
    """Its bootstrap servers would be of two listeners."""
    (one, *_) = listener("PUBLIC", "172.10.1.41:9081")
    assert "listener PUBLIC works" in advice(diagnose(replace(WITHOUT_MAP, listeners=PUBLIC)))
    assert "listener PUBLIC works" not in advice(diagnose(replace(WITHOUT_MAP, listeners=(*PUBLIC, one))))


@pytest.mark.parametrize("own", ["PUBLIC", "PEER"])
def test_a_listener_of_the_brokers_is_said_to_be_theirs(own: str) -> None:
    """Clients may be barred from it one day."""
    servers = tuple(replace(each, settings=(("inter.broker.listener.name", own),)) for each in WITHOUT_MAP.bootstraps)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=servers, listeners=PUBLIC))
    assert "works from here" in advice(found)
    assert ("ask whether clients may use it" in advice(found)) == (own == "PUBLIC")


@pytest.mark.parametrize(
    "listeners",
    [
        PUBLIC[:2],
        (*PUBLIC[:2], replace(PUBLIC[2], probe=refused(PUBLIC[2].endpoint))),
        listener("PUBLIC", "172.10.1.41:9293", "localhost:9293", "localhost:9293"),
        (*PUBLIC[:2], replace(PUBLIC[2], probe=replace(reached(3, PUBLIC[2].endpoint), cluster_id="other"))),
    ],
    ids=["one was not tried", "one is not reached", "two are one endpoint", "one is another cluster's"],
)
def test_a_listener_that_fails_at_one_node_is_no_way_in(listeners: tuple[ListenerSeen, ...]) -> None:
    found = diagnose(replace(WITHOUT_MAP, listeners=listeners))
    assert causes(found) == ["BN302"]
    assert "works from here" not in advice(found)


def test_it_leads_also_where_a_firewall_stands_before_the_other() -> None:
    away = tuple(
        BrokerPath(each, replace(refused(each.endpoint), attempts=(Attempt(each.host, "timeout"),))) for each in BROKERS
    )
    ends = [f"192.168.1.{22 + n}:9293" for n in (1, 2, 3)]
    public = listener("PUBLIC", *ends)
    beside = tuple(reached(n, f"192.168.1.9:{9092 + n}") for n in (1, 2))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=beside, paths=away, listeners=public))
    assert causes(found) == ["BN308"]
    root = next(each for each in found.findings if each.code == "BN308")
    assert root.remedy.client[0].startswith(f"bootstrap at {','.join(ends)}: listener PUBLIC")
    assert root.remedy.rules == ("192.168.1.23:9092 = 192.168.1.9:9093",), "the way that is open"


def test_a_listener_that_lacks_a_node_is_no_way_in() -> None:
    end = "172.10.1.41:9294"
    part = ListenerSeen(1, "PART", end, replace(reached(1, end), brokers=BROKERS[:2]))
    assert "PART" not in advice(diagnose(replace(WITHOUT_MAP, listeners=(part,))))


# Names


def test_a_name_that_leads_where_nobody_listens_may_be_a_wrong_record() -> None:
    broker = Advertised(1, "kafka-1.hq.example", 9092)
    there = probed(broker.endpoint, broker.host, ("10.9.0.11",), attempts=(Attempt("10.9.0.11", "unreachable"),))
    probe = replace(reached(1, "10.9.0.1:9092"), brokers=(broker,))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(probe,), paths=(BrokerPath(broker, there),), replicas=(1,)))
    assert causes(found) == ["BN302"]
    assert "`kafka-1.hq.example` resolves here to 10.9.0.11" in advice(found)
    assert "correct the DNS record" in advice(found)


def test_a_record_of_a_node_that_is_proven_at_another_address_is_wrong() -> None:
    """With the advertised port; the other names lead to their nodes."""
    names = tuple(Advertised(n, f"kafka-{n}.hq.example", 9092) for n in (1, 2, 3))
    ends = [
        replace(reached(n, f"10.9.0.{n}:9092"), endpoint=names[n - 1].endpoint, name=names[n - 1].host, brokers=names)
        for n in (1, 2)
    ]
    last = Attempt("10.9.0.99", "unreachable", icmp="host-unreachable", reported_by="10.9.0.1")
    away = probed(names[2].endpoint, names[2].host, ("10.9.0.99",), attempts=(last,))
    paths = tuple(BrokerPath(*each) for each in zip(names, (*ends, away), strict=True))
    server = replace(reached(3, "10.9.0.3:9092"), brokers=names)
    found = diagnose(replace(DIRECT, bootstraps=(ends[0], server), paths=paths))
    assert causes(found) == ["BN302"]
    (advised,) = (each.remedy for each in found.findings if each.code == "BN302")
    assert advised.client[0] == (
        "correct the DNS record (or the hosts file): `kafka-3.hq.example` resolves here to 10.9.0.99, and node 3 is at "
        "10.9.0.3"
    )
    assert (advised.broker, advised.rules) == ((), ("kafka-3.hq.example:9092 = 10.9.0.3:9092",))


@pytest.mark.parametrize(
    "seen",
    [{"versions": ApiVersions("other-protocol", protocol="HTTP")}, {"tls": TlsHandshake("not-tls", protocol="HTTP")}],
    ids=["plain", "tls"],
)
def test_another_machine_at_a_private_address_is_unreachable_as_the_other_brokers_are(seen: dict[str, object]) -> None:
    """The client's own network has the same addresses: a printer answers at one of them."""
    ends = (
        at_third(endpoint=BROKERS[0].endpoint, **seen),
        *(replace(refused(each.endpoint), attempts=(Attempt(each.host, "refused"),)) for each in BROKERS[1:]),
    )
    paths = tuple(BrokerPath(*each) for each in zip(BROKERS, ends, strict=True))
    found = diagnose(replace(WITHOUT_MAP, paths=paths))
    assert causes(found) == ["BN302"]
    assert all(f"{each.endpoint} = {GATEWAY[each.node_id]}" in advice(found) for each in BROKERS)
    assert {each.because for each in found.findings if each.code == "BN104"} == {("BN302",)}


def test_a_network_rule_that_leads_to_another_server_gets_the_proven_rule_before_it() -> None:
    rule = "192.168.1.0/24=172.10.1.0/24"
    other = at_third(endpoint="172.10.1.25:9092", versions=ApiVersions("other-protocol", protocol="HTTP"))
    well = [BrokerPath(each, reached(each.node_id, f"172.10.1.{22 + each.node_id}:9092"), rule) for each in BROKERS[:2]]
    paths = (*well, BrokerPath(BROKERS[2], other, rule))
    servers = (reached(1, "172.10.1.23:9092"), reached(3, "172.10.1.33:9092"))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=servers, paths=paths, rules=(rule,)))
    assert causes(found) == ["BN104"]
    (advised,) = (each.remedy for each in found.findings if each.code == "BN104")
    assert advised.rules == ("192.168.1.25:9092 = 172.10.1.33:9092",)
    assert advised.client == (
        f"correct the rule `{rule}`, or put the right ones before it: the first rule that matches wins",
    )


def test_a_name_server_that_is_dead_is_not_an_unknown_name() -> None:
    brokers = tuple(Advertised(n, f"kafka-{n}.hq.example", 9092) for n in (1, 2))
    paths = tuple(
        BrokerPath(each, EndpointProbe(each.endpoint, each.host, NameLookup("no-answer", detail="try again")))
        for each in brokers
    )
    probe = replace(reached(1, "10.9.0.1:9092"), brokers=brokers)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(probe,), paths=paths, replicas=(1, 2)))
    assert causes(found) == ["BN307"]
    assert "BN301" not in {each.code for each in found.findings}


LINE = "192.168.1.24 kafka-1"


@pytest.mark.parametrize(
    ("probe", "cause", "sure"),
    [
        (replace(reached(2, "kafka-1:9092"), hosts_entry=LINE), "BN306", True),
        (replace(refused("10.7.0.1:9092"), endpoint="kafka-1:9092", hosts_entry="10.7.0.1 kafka-1"), "BN306", False),
        (replace(refused("kafka-1:9092"), addresses=("192.168.1.24",), hosts_entry=LINE), "BN302", True),
    ],
    ids=["another-broker", "dead-address", "an-address-that-answers-for-others"],
)
def test_a_line_of_the_hosts_file(probe: EndpointProbe, cause: str, sure: bool) -> None:
    broker = Advertised(1, "kafka-1", 9092)
    beside = BrokerPath(BROKERS[1], replace(reached(2, BROKERS[1].endpoint), addresses=("192.168.1.24",)))
    found = diagnose(replace(WITHOUT_MAP, paths=(BrokerPath(broker, probe), beside), replicas=()))
    assert causes(found) == [cause]
    if cause == "BN306":
        assert str(probe.hosts_entry) in found.causes[0].sentence
        assert found.causes[0].sentence.startswith("Probably") is not sure
        assert all(each.because for each in found.findings if each.code in ("BN601", "BN302"))


# The map


def by_rules(*rules: str, bootstraps: tuple[EndpointProbe, ...], paths: tuple[BrokerPath, ...]) -> Evidence:
    return replace(HEALTHY, rules=rules, unmapped="fail", bootstraps=bootstraps, paths=paths)


def test_rules_with_their_sides_exchanged() -> None:
    """The bootstrap servers are led to what brokers advertise, and nobody answers there; the third rule is alike."""
    rules = tuple(f"172.10.1.40:{9092 + n}={BROKERS[n - 1].endpoint}" for n in (1, 2, 3))
    dead = tuple(replace(refused(BROKERS[n - 1].endpoint), name="172.10.1.40", rule=rules[n - 1]) for n in (1, 2))
    written = tuple(reached(n, f"172.10.1.40:{9092 + n}") for n in (1, 2))
    found = diagnose(replace(by_rules(*rules, bootstraps=dead, paths=()), replicas=None, as_written=written))
    assert causes(found) == ["BN616"]
    assert all(f"{each.endpoint} = 172.10.1.40:{9092 + each.node_id}" in advice(found) for each in BROKERS)


def test_one_rule_with_its_sides_exchanged_is_proven_by_what_is_advertised() -> None:
    rules = ("172.10.1.40:9093=192.168.1.23:9092", *(f"{each.endpoint}={each.endpoint}" for each in BROKERS[1:]))
    unmapped = BrokerPath(BROKERS[0], None)
    found = diagnose(by_rules(*rules, bootstraps=HEALTHY.bootstraps, paths=(unmapped, *WELL[1:])))
    assert causes(found) == ["BN616"]
    assert not found.causes[0].sentence.startswith("Probably")


def test_a_dead_gateway_is_no_exchanged_rule() -> None:
    """The bootstrap servers are the advertised endpoints, which the map leads to a gateway that is down."""
    rules = tuple(f"{each.endpoint}=172.10.1.40:{9092 + each.node_id}" for each in BROKERS)
    dead = tuple(
        replace(refused(f"172.10.1.40:{9092 + each.node_id}"), name=each.host, rule=rule)
        for each, rule in zip(BROKERS, rules, strict=True)
    )
    found = diagnose(replace(by_rules(*rules, bootstraps=dead, paths=()), replicas=None))
    assert causes(found) == ["BN103"]
    assert "bootstrap 192.168.1.23:9092, dialled at 172.10.1.40:9093" in found.causes[0].sentence.replace("B", "b", 1)


def test_rules_that_are_chained() -> None:
    rules = ("192.168.1.25:9092=10.9.9.9:9092", "10.9.9.9:9092=172.10.1.40:9095")
    chained = BrokerPath(BROKERS[2], refused("10.9.9.9:9092"), rules[0])
    found = diagnose(
        replace(by_rules(*rules, bootstraps=HEALTHY.bootstraps, paths=(*WELL[:2], chained)), unmapped="pass")
    )
    assert causes(found) == ["BN617"]
    assert "192.168.1.25:9092 = 172.10.1.40:9095" in advice(found)


# By construction


@pytest.mark.parametrize("metadata", ["unsupported", "unreadable"])
def test_nothing_that_fails_is_well(metadata: str) -> None:
    probe = at_third(versions=HELLO, metadata=ClusterMetadata(metadata))  # type: ignore[arg-type]
    assert diagnose(third(probe)).causes


def test_what_no_check_explains_is_an_error_of_its_own() -> None:
    few = [check for check in CHECKS if check.code in ("BN005", "BN401")]
    found = diagnose(third(at_third(versions=ApiVersions("silent"))), few)
    assert causes(found) == ["BN005"]
    assert "versions at 192.168.1.25:9092: no response" in found.causes[0].sentence


@pytest.mark.parametrize("first", [True, False])
def test_of_bootstrap_servers_of_two_clusters_the_fewer_are_astray(first: bool) -> None:
    """Whatever their order; and what the other cluster's server names is right where that cluster answers."""
    strange = Advertised(1, "10.1.1.1", 9092)
    other = replace(reached(1, strange.endpoint), brokers=(strange,), cluster_id="other")
    bootstraps = (other, *HEALTHY.bootstraps) if first else (*HEALTHY.bootstraps, other)
    # The partitions are those that the first server tells of.
    nodes = (1,) if first else (1, 2, 3)
    paths = (*WELL, BrokerPath(strange, other))
    found = diagnose(replace(HEALTHY, bootstraps=bootstraps, paths=paths, replicas=nodes, in_sync=nodes))
    assert causes(found) == ["BN501"]
    (astray,) = (each for each in found.findings if each.code == "BN501")
    assert astray.subject == f"bootstrap {strange.endpoint}"
    assert astray.remedy.client == (f"remove {strange.endpoint}: most bootstrap servers belong to another cluster",)
    assert astray.remedy.broker == ()


def test_what_this_machine_cannot_route_to_is_its_own_matter() -> None:
    found = diagnose(third(replace(at_third(), attempts=(Attempt("192.168.1.25", "unreachable"),))))
    assert causes(found) == ["BN302"]
    assert "nothing answers at 192.168.1.25, and other addresses of its network do: the host is off" in advice(found)
    other = replace(at_third(), addresses=("10.9.9.9",), attempts=(Attempt("10.9.9.9", "unreachable"),))
    assert "`ip route get 10.9.9.9`" in advice(diagnose(third(other)))
    assert "ip route get" not in advice(diagnose(third(unreachable_says("192.168.1.1"))))


def test_of_a_host_that_answers_nothing_it_is_not_known_whether_it_is_up() -> None:
    assert "check that the host 192.168.1.25 is up" in advice(diagnose(third(TIMED_OUT)))
    beside = replace(reached(3, "192.168.1.25:9093"), brokers=BROKERS)
    found = diagnose(replace(third(TIMED_OUT), bootstraps=(*HEALTHY.bootstraps, beside)))
    assert "is up" not in advice(found)


def test_what_only_a_server_of_another_listener_names_is_no_cause_beside_it() -> None:
    """The forward to node 3 leads to the listener of containers, and it is a bootstrap server, too."""
    inside = tuple(Advertised(each.node_id, f"f3a9c2d17b4{each.node_id}", 9099) for each in BROKERS)
    odd = replace(reached(3, BROKERS[2].endpoint), brokers=inside)
    unknown = tuple(BrokerPath(each, probed(each.endpoint, each.host, dns_error="unknown")) for each in inside)
    evidence = replace(HEALTHY, bootstraps=(*HEALTHY.bootstraps, odd), paths=(*third(odd).paths, *unknown))
    found = diagnose(evidence)
    assert causes(found) == ["BN603"]
    assert {each.because for each in found.findings if each.code == "BN301"} == {("BN603",)}


@pytest.mark.parametrize("name", ["OUTER", "INNER"])
def test_a_forward_that_leads_a_bootstrap_server_to_another_listener_is_the_cause(name: str) -> None:
    """The listener with this endpoint is there, and no address of another one is to be reached."""
    server = WITHOUT_MAP.bootstraps[0]
    lost = tuple(replace(path, probe=refused(path.broker.endpoint)) for path in WITHOUT_MAP.paths)
    listeners = (
        ListenerSeen(1, "INNER", BROKERS[0].endpoint, lost[0].probe, (server.endpoint,)),
        ListenerSeen(1, name, server.endpoint, server),
    )
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(server,), paths=lost, listeners=listeners))
    assert causes(found) == (["BN603"] if name == "OUTER" else ["BN302"])
    assert (f"{server.endpoint}: it must lead to listener OUTER of node 1" in advice(found)) == (name == "OUTER")
    # No stage has failed: the row of the server says what is wrong in the words of the check.
    words = "the right node, on another listener" if name == "OUTER" else "ok"
    assert found.entrances[0].reach.words == words


def test_an_unknown_name_among_known_ones_is_the_name_server_s_matter() -> None:
    named = tuple(Advertised(each.node_id, f"kafka-{each.node_id}.example", 9092) for each in BROKERS)
    known = tuple(
        BrokerPath(each, replace(reached(each.node_id, each.endpoint), brokers=named, addresses=("10.0.0.1",)))
        for each in named[:2]
    )
    away = BrokerPath(named[2], probed(named[2].endpoint, named[2].host, dns_error="unknown"))
    servers = tuple(path.probe for path in known if path.probe is not None)
    found = diagnose(replace(HEALTHY, bootstraps=servers, paths=(*known, away)))
    assert causes(found) == ["BN301"]
    named_there = "add `kafka-3.example` to the name server or to the hosts file of this machine"
    ends = tuple(f"10.0.0.{each}:9091" for each in (1, 2, 3))
    own = tuple(replace(each, settings=(("inter.broker.listener.name", "PUBLIC"),)) for each in servers)
    found = diagnose(replace(HEALTHY, bootstraps=own, paths=(*known, away), listeners=listener("PUBLIC", *ends)))
    (told,) = (each for each in found.findings if each.code == "BN301")
    assert told.remedy.client[0] == named_there, "the record comes before another listener"
    assert "ask whether clients may use it" in told.remedy.client[1]


def test_a_dead_bootstrap_server_that_a_node_advertises_follows_from_the_node() -> None:
    away = refused(BROKERS[2].endpoint)
    found = diagnose(replace(third(away), bootstraps=(*HEALTHY.bootstraps, away)))
    assert causes(found) == ["BN302"]
    assert {each.because for each in found.findings if each.code == "BN103"} == {("BN302",)}


def test_a_listener_that_advertises_the_port_of_another_is_to_be_corrected() -> None:
    """The bootstrap servers take the client in at the right port."""
    told = tuple(replace(each, port=9493) for each in BROKERS)
    settings = (
        ("listeners", "PLAIN://:9092,TLS://:9493"),
        ("advertised.listeners", "PLAIN://192.168.1.23:9493,TLS://kafka-1.hq.example:9493"),
        ("listener.security.protocol.map", "PLAIN:PLAINTEXT,TLS:SSL"),
    )
    entrance = replace(
        reached(1, "192.168.1.23:9092"), brokers=told, identity=Identity(1, "describeconfigs", settings=settings)
    )
    paths = tuple(
        BrokerPath(each, replace(reached(each.node_id, each.endpoint), speaks="tls", brokers=None)) for each in told
    )
    found = diagnose(replace(HEALTHY, bootstraps=(entrance,), paths=paths))
    assert causes(found) == ["BN401"]
    assert "`advertised.listeners` gives listener PLAIN the port of listener TLS: correct it" in advice(found)


def test_a_mechanism_that_one_listener_lacks_may_be_enabled_there() -> None:
    lacking = at_third(versions=ApiVersions("ok"), sasl=Login("mechanism-not-offered", offered=("PLAIN",)))
    well = tuple(replace(each, probe=each.probe and replace(each.probe, sasl=Login("ok"))) for each in WELL[:2])
    evidence = replace(third(lacking), paths=(*well, replace(WELL[2], probe=lacking)), mechanism="SCRAM-SHA-512")
    found = diagnose(replace(evidence, security_protocol="SASL_PLAINTEXT"))
    assert causes(found) == ["BN315"]
    assert "if it is that listener, add SCRAM-SHA-512 to its `sasl.enabled.mechanisms`" in advice(found)


def test_a_short_name_whose_long_one_is_known_needs_a_search_domain() -> None:
    nodes = tuple(replace(each, host=f"kafka-{each.node_id}") for each in BROKERS)
    paths = tuple(BrokerPath(each, probed(each.endpoint, each.host, dns_error="unknown")) for each in nodes)
    longer = (ListenerSeen(1, "NAMES", "kafka-1.hq.example:9792", None),)
    found = diagnose(replace(WITHOUT_MAP, paths=paths, listeners=longer))
    assert causes(found) == ["BN301"]
    assert advice(found).count("the short names may be those of `hq.example`: add `search hq.example`") > 0


@pytest.mark.parametrize(
    ("showed", "what", "setting"),
    [
        (False, "a client certificate is required", "ssl.client.auth"),
        (True, "the client's certificate is rejected", "ssl.truststore.location"),
    ],
)
def test_a_node_that_alone_judges_the_client_s_certificate_is_set_otherwise(
    showed: bool, what: str, setting: str
) -> None:
    ends = [replace(each.probe, tls=TlsHandshake("ok")) for each in WELL[:2] if each.probe]
    last = at_third(tls=TlsHandshake("client-certificate", showed=showed))
    paths = tuple(BrokerPath(*each) for each in zip(BROKERS, (*ends, last), strict=True))
    found = diagnose(replace(HEALTHY, security_protocol="SSL", bootstraps=tuple(ends), paths=paths))
    assert causes(found) == ["BN315"]
    assert what in str(found.causes[0].sentence)
    compare = f"compare `listener.name.LISTENER.{setting}` of node 3 with that of the other nodes"
    assert [each.remedy.broker for each in found.findings if each.code == "BN315"] == [(compare,)]


def test_a_tls_port_that_sends_an_alert_and_no_certificates_loses_large_packets() -> None:
    silent = TlsHandshake("silent", detail="no answer within 4 s")
    ends = [at_third(endpoint=each.endpoint, name=each.host, tls=silent) for each in BROKERS[:2]]
    evidence = replace(HEALTHY, security_protocol="SSL", bootstraps=tuple(ends), paths=(), replicas=None)
    assert causes(diagnose(evidence)) == ["BN309"]
    alert = [replace(each, tls=dataclasses.replace(silent, alert=True)) for each in ends]
    found = diagnose(replace(evidence, bootstraps=tuple(alert)))
    assert causes(found) == ["BN312"]
    assert {each.because for each in found.findings if each.code == "BN309"} == {("BN312",)}
    assert "the MTU of the path" in advice(found)


def test_endpoints_that_accept_no_connection_beside_the_others_stop_clients() -> None:
    ends = [replace(each.probe, tries=(Tries("connect", 3, 1, 0.1, 0.1, ("refused",)),)) for each in WELL if each.probe]
    paths = tuple(BrokerPath(*each) for each in zip(BROKERS, ends, strict=True))
    flaky = replace(HEALTHY, bootstraps=tuple(ends[:2]), paths=paths)
    assert {each.severity for each in diagnose(flaky).findings if each.code == "BN313"} == {Severity.WARNING}
    found = diagnose(replace(flaky, crowded=(BROKERS[2].endpoint,)))
    assert causes(found) == ["BN313"]
    assert "what limits the connections of this machine" in advice(found)


def test_a_name_like_that_of_another_listener_may_be_a_typo() -> None:
    odd = Advertised(3, "kafka-tree.hq.example", 9092)
    away = replace(at_third(endpoint=odd.endpoint, name=odd.host), dns_error="Name or service not known", attempts=())
    other = ListenerSeen(3, "OFFICE", "kafka-three.hq.example:19092", None)
    found = diagnose(replace(HEALTHY, paths=(*WELL[:2], BrokerPath(odd, away)), listeners=(other,)))
    assert causes(found) == ["BN301"]
    right = "check that node 3 advertises the right name: its listener OFFICE advertises `kafka-three.hq.example`"
    assert right in advice(found)


def test_a_cause_names_each_reason() -> None:
    old = Presented("kafka-2", "authority", "2020-01-01T00:00:00+00:00", "2021-01-01T00:00:00+00:00")
    other = Presented("kafka-3", "other authority", "2026-01-01T00:00:00+00:00", "2027-01-01T00:00:00+00:00")
    tls = (TlsHandshake("ok"), TlsHandshake("expired", chain=(old,)), TlsHandshake("untrusted", chain=(other,)))
    ends = [
        at_third(endpoint=each.endpoint, name=each.host, tls=seen) if not seen.ok else replace(path.probe, tls=seen)
        for each, path, seen in zip(BROKERS, WELL, tls, strict=True)
        if path.probe
    ]
    paths = tuple(BrokerPath(*each) for each in zip(BROKERS, ends, strict=True))
    found = diagnose(replace(HEALTHY, security_protocol="SSL", bootstraps=(ends[0],), paths=paths))
    said = found.causes[0].sentence
    assert "node 2: it expired on 2021-01-01; node 3: its authority `other authority` is not trusted" in said
    assert "renew the certificate of node 2" in advice(found)


@pytest.mark.parametrize("place", ["127.0.9.14", "10.9.1.14"])
def test_a_tunnel_that_accepts_and_closes_fails_at_its_far_end(place: str) -> None:
    end = replace(at_third(versions=ApiVersions("closed")), addresses=(place,), attempts=(Attempt(place, "connected"),))
    text = advice(diagnose(third(end)))
    assert ("check where its far end leads, and that the SSH server allows it" in text) == (place == "127.0.9.14")


@pytest.mark.parametrize(
    ("protocol", "plain", "first"),
    [
        ("PLAINTEXT", True, "the brokers' listener PROD has no TLS, so a gateway ends it for node 1, node 2: switch"),
        ("PLAINTEXT", False, "the brokers' listener PROD has no TLS, so a gateway ends it for node 1, node 2: switch"),
        (None, True, "if a gateway ends TLS for node 1, node 2: switch TLS on at its port 172.10.1.40:9095, too"),
        ("SSL", False, "check where the forward at 172.10.1.40:9095 leads"),
    ],
)
def test_a_gateway_that_ends_tls_may_lack_it_at_one_port(protocol: str | None, plain: bool, first: str) -> None:
    evidence = mapped({1: 1, 2: 2, 3: 3})
    secure = [
        replace(each, probe=each.probe and replace(each.probe, tls=TlsHandshake("ok"))) for each in evidence.paths[:2]
    ]
    odd = probed(GATEWAY[3], "172.10.1.40", attempts=(Attempt("172.10.1.40", "connected"),))
    paths = (*secure, replace(evidence.paths[2], probe=replace(odd, tls=TlsHandshake("not-tls", plain=plain))))
    settings = (("listener.security.protocol.map", f"PROD:{protocol}"),) if protocol else ()
    server = replace(reached(1, GATEWAY[1]), tls=TlsHandshake("ok"), settings=settings)
    seen = (ListenerSeen(1, "PROD", BROKERS[0].endpoint, None, entered=(GATEWAY[1],)),) if protocol else ()
    told = replace(evidence, security_protocol="SSL", bootstraps=(server,), paths=paths, listeners=seen)
    found = diagnose(told)
    assert causes(found) == ["BN315"]
    (remedy,) = (each.remedy for each in found.findings if each.code == "BN315")
    assert remedy.broker[0].startswith(first)
    by_rule = f"if that is not its port for node 3, correct the rule `{evidence.paths[2].rule}`"
    assert (by_rule in remedy.broker[0], remedy.client == ()) == ("switch" in first, "switch" in first)


def test_behind_a_gateway_the_forward_is_looked_at_first() -> None:
    gateway = {"addresses": ("10.9.1.62",), "attempts": (Attempt("10.9.1.62", "connected"),)}
    ends = [Advertised(n, f"lb-{n}.example", 7000 + n) for n in (1, 2, 3)]
    probes = [replace(reached(n, end.endpoint), **gateway, tls=TlsHandshake("ok")) for n, end in enumerate(ends, 1)]
    plain = replace(probed(ends[2].endpoint), **gateway, tls=TlsHandshake("not-tls", plain=True))
    paths = tuple(BrokerPath(end, probe) for end, probe in zip(ends, (*probes[:2], plain), strict=True))
    found = diagnose(replace(HEALTHY, security_protocol="SSL", bootstraps=tuple(probes[:1]), paths=paths))
    assert causes(found) == ["BN315"]
    (told,) = (each.remedy.broker for each in found.findings if each.code == "BN315")
    assert [line.partition(" lb-3")[0] for line in told] == [
        "check where the forward at",
        "compare the listeners of node 3 with those of the other nodes (`listeners`, `advertised.listeners`):",
    ]


@pytest.mark.parametrize("own", [(), ("TLSv1.2",)])
def test_the_clients_own_tls_versions_are_named_although_other_nodes_take_them(own: tuple[str, ...]) -> None:
    fails = TlsHandshake("failed", detail="TLSV1_ALERT_PROTOCOL_VERSION")
    secure = tuple(replace(path, probe=replace(path.probe, tls=TlsHandshake("ok"))) for path in WELL[:2])
    paths = (*secure, replace(WELL[2], probe=at_third(tls=fails)))
    servers = tuple(path.probe for path in secure if path.probe is not None)
    evidence = replace(HEALTHY, security_protocol="SSL", bootstraps=servers, paths=paths, tls_versions=own)
    found = diagnose(evidence)
    assert causes(found) == (["BN407"] if own else ["BN315"])
    assert ("set `ssl.enabled.protocols=TLSv1.2,TLSv1.3` in the client, or omit it" in advice(found)) == bool(own)


def test_the_only_broker_has_no_others_to_compare_with() -> None:
    there = {"addresses": ("127.0.0.1",), "attempts": (Attempt("127.0.0.1", "connected"),)}
    redis = replace(refused("localhost:32771"), **there, speaks="ssh")
    broker = Advertised(7, "localhost", 32771)
    server = replace(reached(7, "localhost:32790"), **there, brokers=(broker,))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(server,), paths=(BrokerPath(broker, redis),), replicas=(7,)))
    assert causes(found) == ["BN104"]
    lines = advice(found).splitlines()
    assert "node 7 answers at localhost:32790: correct its `advertised.listeners`, which has localhost:32771" in lines
    assert "localhost:32771 = localhost:32790" in lines
    assert not any("other nodes" in line for line in lines)
