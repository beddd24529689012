"""What is said of a handshake: by whom a certificate is refused, which one of a chain it is, and what helps."""

from __future__ import annotations

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.conftest import WITHOUT_MAP

from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Advertised, Attempt, BrokerPath, Objection, Presented, TlsHandshake
from brokernat.doctor.finding import CheckFinding, Severity

GATEWAY = probed("10.0.0.5:9093", "10.0.0.5", attempts=(Attempt("10.0.0.5", "connected"),))
FIRST, LAST = "2026-01-01T00:00:00+00:00", "2027-01-01T00:00:00+00:00"
OWN = Presented("kafka-1", "HQ issuing", FIRST, LAST)
ISSUING = Presented("HQ issuing", "HQ root", FIRST, LAST)
ROOT = Presented("HQ root", "HQ root", FIRST, LAST)
OVER, YET_TO_BEGIN = "2026-11-01T00:00:00+00:00", "2026-12-01T00:00:00+00:00"


def told(tls: TlsHandshake) -> list[CheckFinding]:
    evidence = replace(WITHOUT_MAP, bootstraps=(replace(GATEWAY, tls=tls),), paths=(), replicas=None)
    return [each for each in diagnose(evidence).findings if each.code.startswith("BN4")]


@pytest.mark.parametrize(
    ("chain", "message", "broker"),
    [
        ((), "it is expired or not yet valid", "renew the certificate"),
        ((replace(OWN, until=OVER),), "it expired on 2026-11-01", "renew the certificate"),
        ((replace(OWN, since=YET_TO_BEGIN),), "it is not valid before 2026-12-01", "renew the certificate"),
        (
            (OWN, replace(ISSUING, until=OVER)),
            "`HQ issuing`, which signed it, expired on 2026-11-01",
            "renew `HQ issuing`, and present the new certificate",
        ),
    ],
)
def test_the_certificate_whose_time_it_is(chain: tuple[Presented, ...], message: str, broker: str) -> None:
    (found,) = told(TlsHandshake("expired", detail="certificate has expired", chain=chain))
    assert (found.code, found.severity, found.message) == ("BN403", Severity.ERROR, message)
    assert found.remedy.broker == (broker,)
    assert len(found.details) == 1 + len(chain)


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        ((), "no authority in the client's trust store signed it"),
        ((OWN, ISSUING, ROOT), "no authority in the client's trust store signed it"),
        ((OWN,), "its authority `HQ issuing` is not trusted by the client and not presented by the broker"),
        ((OWN, ISSUING), "its authority `HQ root` is not trusted by the client and not presented by the broker"),
    ],
    ids=["nothing-seen", "whole", "intermediate-missing", "root-unknown"],
)
def test_the_authority_that_is_missing(chain: tuple[Presented, ...], message: str) -> None:
    (found,) = told(TlsHandshake("untrusted", detail="unable to get local issuer certificate", chain=chain))
    assert (found.code, found.message) == ("BN403", message)


def test_a_certificate_that_is_for_something_else() -> None:
    (found,) = told(TlsHandshake("unfit", detail="unsuitable certificate purpose"))
    assert (found.code, found.message) == ("BN403", "it cannot be used for a broker: unsuitable certificate purpose")


def test_what_java_takes_and_others_refuse_is_a_warning() -> None:
    lapsed = Objection(("librdkafka", "python"), "expired", f"`kafka-1`: {FIRST} to {OVER}")
    (found,) = told(TlsHandshake("ok", ("10.0.0.5",), objections=(lapsed,)))
    assert (found.code, found.severity) == ("BN403", Severity.WARNING)
    assert "Java accepts it, librdkafka and Python do not" in found.message
    assert found.details == (lapsed.detail,)


def test_an_authority_below_the_root_does_for_java() -> None:
    (found,) = told(TlsHandshake("ok", objections=(Objection(("librdkafka", "python"), "untrusted", "`HQ issuing`"),)))
    assert (found.code, found.severity, found.details) == ("BN403", Severity.WARNING, ("`HQ issuing`",))


@pytest.mark.parametrize(
    ("clients", "severity", "who"),
    [
        (("librdkafka", "python"), Severity.WARNING, "librdkafka and Python do not"),
        (("python",), Severity.WARNING, "Python does not"),
        (("java",), Severity.ERROR, "Java does not"),
    ],
)
def test_a_name_that_some_clients_take(clients: tuple[str, ...], severity: Severity, who: str) -> None:
    objection = Objection(clients, "name-mismatch")  # type: ignore[arg-type]
    (found,) = told(TlsHandshake("ok", ("*.hq",), objections=(objection,)))
    assert (found.code, found.severity) == ("BN402", severity)
    assert found.message.endswith(who)


@pytest.mark.parametrize(("name", "told_so"), [("b1.eu.kafka.hq", True), ("b1.kafka.example", False)])
def test_a_wildcard_stands_for_one_label(name: str, told_so: bool) -> None:
    shown = TlsHandshake("name-mismatch", ("*.kafka.hq",))
    evidence = replace(WITHOUT_MAP, bootstraps=(replace(GATEWAY, name=name, tls=shown),), paths=(), replicas=None)
    (found,) = (each for each in diagnose(evidence).findings if each.code == "BN402")
    assert (f"the `*` of `*.kafka.hq` stands for one label, and `{name}` has more" in found.details) == told_so


def test_no_client_chooses_the_name_that_a_broker_advertises() -> None:
    told_of = Advertised(1, "b1.eu.kafka.hq", 9093)
    probe = probed("b1.eu.kafka.hq:9093", attempts=(Attempt("10.0.0.5", "connected"),))
    path = BrokerPath(told_of, replace(probe, tls=TlsHandshake("name-mismatch", ("*.kafka.hq",))))
    (found,) = (each for each in diagnose(replace(WITHOUT_MAP, paths=(path,))).findings if each.code == "BN402")
    assert found.remedy.client == ()
    assert found.remedy.broker == ("add `b1.eu.kafka.hq` to the certificate's alternative names",)


@pytest.mark.parametrize(("names", "of_node_1"), [(("kafka-1.hq",), True), (("kafka-1.hq", "kafka-3.hq"), False)])
def test_the_certificate_of_another_node(names: tuple[str, ...], of_node_1: bool) -> None:
    """A rule's forward leads there, or its key store was copied; a further name in the certificate would hide that."""
    nodes = tuple(Advertised(number, f"kafka-{number}.hq", 9093) for number in (1, 2, 3))
    probe = replace(GATEWAY, endpoint="kafka-2.hq:9093", name="kafka-2.hq", tls=TlsHandshake("name-mismatch", names))
    rule = "*.hq=172.10.1.40"
    paths = tuple(BrokerPath(each, probe if each.node_id == 2 else None, rule) for each in nodes)
    evidence = replace(WITHOUT_MAP, paths=paths, rules=(rule,))
    (found,) = (each for each in diagnose(evidence).findings if each.code == "BN402")
    advice = "\n".join(found.remedy.broker)
    assert (found.message == "it is the certificate of node 1") == of_node_1
    assert ("check where the forward" in advice, "its own certificate" in advice) == (of_node_1, of_node_1)
    assert ("alternative names" in advice) != of_node_1


@pytest.mark.parametrize("addressed", [True, False], ids=["with-address", "name-only"])
@pytest.mark.parametrize("line", [None, "10.9.0.1 kafka-2.hq"])
def test_a_name_that_leads_to_another_node_shows_in_its_certificate(line: str | None, *, addressed: bool) -> None:
    nodes = tuple(Advertised(number, f"kafka-{number}.hq", 9093) for number in (1, 2))
    names = ("kafka-1.hq", *(("10.9.0.1",) if addressed else ()))
    end = nodes[1].endpoint
    probe = probed(end, "kafka-2.hq", ("10.9.0.1",), attempts=(Attempt("10.9.0.1", "connected"),), hosts_entry=line)
    probe = replace(probe, tls=TlsHandshake("name-mismatch", names))
    # The first name has the same address, as where the other one's record is an old one.
    first = replace(
        probe, endpoint=nodes[0].endpoint, name="kafka-1.hq", hosts_entry=None, tls=TlsHandshake("ok", names)
    )
    paths = (BrokerPath(nodes[0], first), BrokerPath(nodes[1], probe))
    evidence = replace(WITHOUT_MAP, security_protocol="SSL", paths=paths)
    (found,) = (each for each in diagnose(evidence).findings if each.code == "BN402")
    assert "`kafka-2.hq` leads to 10.9.0.1" in found.message
    what = f"the line `{line}` of /etc/hosts" if line else "the DNS record of `kafka-2.hq`"
    side = found.remedy.client if line else found.remedy.broker
    leads = "leads" if addressed else "probably leads"
    assert side[0] == f"correct {what}: it {leads} to the machine of node 1, and must lead to node 2"
    assert any("its own certificate" in each for each in found.remedy.broker) != addressed
    assert found.remedy.rules == ()


def test_rules_that_are_exchanged_show_in_the_certificates() -> None:
    nodes = tuple(Advertised(number, f"kafka-{number}.hq", 9093) for number in (1, 2))
    ends = {1: "172.10.1.40:9092", 2: "172.10.1.40:9091"}

    def path(node: Advertised, shown: str) -> BrokerPath:
        tls = TlsHandshake("name-mismatch", (shown,))
        probe = replace(GATEWAY, endpoint=ends[node.node_id], name=node.host, tls=tls)
        return BrokerPath(node, probe, f"{node.endpoint}={ends[node.node_id]}")

    paths = (path(nodes[0], nodes[1].host), path(nodes[1], nodes[0].host))
    evidence = replace(WITHOUT_MAP, paths=paths, rules=tuple(each.rule or "" for each in paths))
    found = [each for each in diagnose(evidence).findings if each.code == "BN402"]
    assert [each.remedy.rules for each in found] == [
        (f"{nodes[0].endpoint} = {ends[2]}",),
        (f"{nodes[1].endpoint} = {ends[1]}",),
    ]


def test_an_address_that_stands_there_as_a_name() -> None:
    (found,) = told(TlsHandshake("name-mismatch", ("DNS:10.0.0.5", "*.hq", "kafka-1.hq")))
    assert found.code == "BN402"
    assert found.details == ("names of the certificate: DNS:10.0.0.5, *.hq, kafka-1.hq",)
    assert found.remedy.broker[0].endswith("as an address (`ip:`) and not as a name")
    at_name = "bootstrap at a name of the certificate, kafka-1.hq:9093"
    line = "if it does not resolve to 10.0.0.5 here, add `10.0.0.5 kafka-1.hq` to the hosts file"
    assert found.remedy.client == (f"{at_name}; {line}",)
    assert found.remedy.rules == (), "a first map of one rule would refuse the other nodes"


def test_a_map_with_other_rules_may_have_one_for_a_name_of_the_certificate() -> None:
    shown = TlsHandshake("name-mismatch", ("kafka-1.hq",))
    rules = ("kafka-2.hq:9093=10.0.0.5:9094",)
    evidence = replace(WITHOUT_MAP, bootstraps=(replace(GATEWAY, tls=shown),), paths=(), replicas=None, rules=rules)
    (found,) = (each for each in diagnose(evidence).findings if each.code == "BN402")
    assert found.remedy.rules == ("kafka-1.hq:9093 = 10.0.0.5:9093",)
    assert found.remedy.client == (
        "bootstrap at a name of the certificate, together with the rule below: kafka-1.hq:9093",
    )


@pytest.mark.parametrize(
    ("showed", "message"),
    [
        (False, "the broker requires a client certificate"),
        (True, "the broker rejects the client certificate"),
    ],
)
def test_a_client_s_own_certificate(showed: bool, message: str) -> None:
    (found,) = told(TlsHandshake("client-certificate", detail="TLSV1_ALERT_UNKNOWN_CA", showed=showed))
    assert (found.code, found.message) == ("BN405", message)
    probe = replace(GATEWAY, tls=TlsHandshake("client-certificate", detail="ALERT", showed=showed))
    (server,) = diagnose(replace(WITHOUT_MAP, bootstraps=(probe,), paths=(), replicas=None)).entrances
    row = "rejects the client certificate" if showed else "needs a client certificate"
    assert server.reach.words == row


@pytest.mark.parametrize(
    ("until", "message", "client"),
    [
        (
            OVER,
            "the broker rejects the client certificate: `app` expired on 2026-11-01",
            "renew the certificate in the client's key store",
        ),
        (LAST, "the broker rejects the client certificate", "use a valid certificate"),
    ],
)
def test_a_client_s_own_certificate_that_is_over(until: str, message: str, client: str) -> None:
    own = (Presented("app", "HQ root", FIRST, until),)
    (found,) = told(TlsHandshake("client-certificate", detail="ALERT", chain=own, showed=True))
    assert (found.code, found.message) == ("BN405", message)
    assert found.remedy.client[0].startswith(client)


@pytest.mark.parametrize(
    ("detail", "message"),
    [
        ("TLSV1_ALERT_PROTOCOL_VERSION", "client and broker have no TLS version in common"),
        ("UNSUPPORTED_PROTOCOL", "client and broker have no TLS version in common"),
        ("TLSV1_UNRECOGNIZED_NAME", "the peer does not know the TLS server name (SNI)"),
        ("no answer within 5 s", "the port accepts the connection and does not answer the TLS ClientHello"),
        ("SSLV3_ALERT_HANDSHAKE_FAILURE", "the TLS handshake fails"),
    ],
)
def test_no_terms(detail: str, message: str) -> None:
    (found,) = told(TlsHandshake("failed", detail=detail))
    assert (found.code, found.severity, found.message) == ("BN407", Severity.ERROR, message)


@pytest.mark.parametrize(
    ("own", "message", "client", "broker"),
    [
        (("TLSv1.2",), "has TLSv1.2 only, and the listener does not have TLSv1.2", "TLSv1.2,TLSv1.3", "add TLSv1.2"),
        (("TLSv1.2", "TLSv1.3"), "has TLSv1.2 and TLSv1.3", "", "TLS 1.1 or older"),
    ],
)
def test_the_client_s_own_tls_versions_are_named(own: tuple[str, ...], message: str, client: str, broker: str) -> None:
    probe = replace(GATEWAY, tls=TlsHandshake("failed", detail="TLSV1_ALERT_PROTOCOL_VERSION"))
    evidence = replace(WITHOUT_MAP, bootstraps=(probe,), paths=(), replicas=None, tls_versions=own)
    (found,) = (each for each in diagnose(evidence).findings if each.code == "BN407")
    assert message in found.message
    assert client in "".join(found.remedy.client)
    assert broker in "".join(found.remedy.broker)


@pytest.mark.parametrize(("other", "told_of"), [("HQ issuing", True), ("Other CA", False)])
def test_one_unknown_authority_at_all_endpoints_may_be_a_proxy_that_inspects_tls(other: str, *, told_of: bool) -> None:
    probes = tuple(
        replace(GATEWAY, endpoint=end, tls=TlsHandshake("untrusted", chain=(Presented(end, issuer, FIRST, LAST),)))
        for end, issuer in (("10.0.0.5:9093", "HQ issuing"), ("10.0.0.6:9093", other))
    )
    found = diagnose(replace(WITHOUT_MAP, bootstraps=probes, paths=(), replicas=None)).findings
    clients = ["\n".join(each.remedy.client) for each in found if each.code == "BN403"]
    assert [("a proxy on the path inspects TLS" in each) for each in clients] == [told_of, told_of]


@pytest.mark.parametrize(("names", "other"), [(("kafka-1.hq",), True), ((), False), (("10.0.0.9",), False)])
def test_a_node_that_advertises_an_address_may_advertise_a_name_of_its_certificate(
    names: tuple[str, ...], other: bool
) -> None:
    broker = Advertised(1, "10.0.0.5", 9093)
    path = BrokerPath(broker, replace(GATEWAY, tls=TlsHandshake("name-mismatch", names)))
    (found,) = (each for each in diagnose(replace(WITHOUT_MAP, paths=(path,))).findings if each.code == "BN402")
    line = "or advertise a name that the certificate of node 1 contains, such as `kafka-1.hq`"
    assert (line in found.remedy.broker) == other
