"""Evidence to findings, and one root among them."""

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import GATEWAY, WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.checks import CHECKS
from brokernat.doctor.checks.registry import finding
from brokernat.doctor.diagnosis import Suppression, diagnose
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
from brokernat.doctor.finding import Severity
from brokernat.errors import ConfigError

OK = {1: 1, 2: 2, 3: 3}
HEALTHY = mapped(OK)


def bootstrap(probe: EndpointProbe) -> Evidence:
    return replace(WITHOUT_MAP, bootstraps=(probe,), paths=(), replicas=None)


def first(**changes: object) -> Evidence:
    probes = HEALTHY.bootstraps
    return replace(HEALTHY, bootstraps=(replace(probes[0], **changes), *probes[1:]))


def advertised(host: str, port: int = 9092) -> Evidence:
    return replace(HEALTHY, paths=(*HEALTHY.paths, BrokerPath(Advertised(4, host, port), None)))


def dialled(probe: EndpointProbe) -> Evidence:
    return replace(HEALTHY, paths=(replace(HEALTHY.paths[0], probe=probe), *HEALTHY.paths[1:]))


def beside(probe: EndpointProbe) -> Evidence:
    """A bootstrap server among others that answer."""
    return replace(WITHOUT_MAP, bootstraps=(probe, *WITHOUT_MAP.bootstraps))


AWAY = refused("172.10.1.40:9099")
AT = refused("gw:9093")
OPEN = replace(AT, attempts=(Attempt("gw", "connected"),))
TLS = replace(WITHOUT_MAP, security_protocol="SSL", bootstraps=(replace(OPEN, tls=TlsHandshake("not-tls")),), paths=())
TWO_ON_ONE = (Advertised(1, "a.hq", 9092), Advertised(2, "a.hq", 9092))


@pytest.mark.parametrize(
    ("evidence", "cause", "codes"),
    [
        (HEALTHY, None, set()),
        (WITHOUT_MAP, "BN302", {"BN302", "BN202"}),
        (mapped({1: 2, 2: 1, 3: 3}), "BN601", {"BN601"}),
        (mapped({1: 1, 2: 2}), "BN605", {"BN605", "BN202"}),
        (replace(HEALTHY, rules=(*(HEALTHY.rules or ()), "a=b")), None, {"BN606"}),
        (bootstrap(replace(AT, attempts=(), dns_error="unknown")), "BN102", {"BN102"}),
        (bootstrap(AT), "BN103", {"BN103"}),
        (beside(AWAY), "BN302", {"BN103", "BN302", "BN202"}),
        (beside(replace(AWAY, attempts=(), dns_error="unknown")), "BN302", {"BN102", "BN302", "BN202"}),
        (bootstrap(replace(OPEN, speaks="http")), "BN104", {"BN104"}),
        (bootstrap(replace(OPEN, speaks="kafka", sasl=Login("ok"), slow=True)), "BN309", {"BN309"}),
        (bootstrap(replace(OPEN, speaks="tls")), "BN401", {"BN401"}),
        (TLS, "BN401", {"BN401"}),
        (bootstrap(replace(OPEN, tls=TlsHandshake("name-mismatch", ("a",)))), "BN402", {"BN402"}),
        (bootstrap(replace(OPEN, tls=TlsHandshake("expired"))), "BN403", {"BN403"}),
        (bootstrap(replace(OPEN, tls=TlsHandshake("client-certificate"))), "BN405", {"BN405"}),
        (bootstrap(replace(OPEN, sasl=Login("rejected"))), "BN404", {"BN404"}),
        (bootstrap(replace(OPEN, sasl=Login("not-tried", detail="GSSAPI"))), None, {"BN404"}),
        (bootstrap(replace(OPEN, speaks="kafka")), "BN404", {"BN404"}),
        (bootstrap(replace(OPEN, complete=False)), None, {"BN004"}),
        (replace(HEALTHY, bootstraps=(*HEALTHY.bootstraps, HEALTHY.bootstraps[0])), None, {"BN101"}),
        (advertised("localhost"), "BN201", {"BN201", "BN605"}),
        (advertised("10.0.0.1"), "BN605", {"BN202", "BN605"}),
        (advertised("c0ffee"), "BN605", {"BN203", "BN605"}),
        (advertised("0.0.0.0"), "BN204", {"BN204", "BN605"}),
        (advertised("", 0), "BN204", {"BN204"}),
        (first(brokers=TWO_ON_ONE), "BN502", {"BN502", "BN205", "BN503"}),
        (first(cluster_id="other"), "BN501", {"BN501"}),
        (first(brokers=HEALTHY.bootstraps[0].brokers[:1]), None, {"BN510"}),  # type: ignore[index]
        (replace(HEALTHY, replicas=(1, 2, 3, 4)), "BN503", {"BN503"}),
        (dialled(refused("gw:1")), "BN305", {"BN305"}),
        (dialled(replace(reached(1, "gw:1"), brokers=TWO_ON_ONE)), "BN603", {"BN603"}),
        (dialled(replace(reached(1, "gw:1"), identity=Identity(None, "none"))), None, {"BN604"}),
        (dialled(replace(reached(1, "gw:1"), identity=Identity(1, "apiversions", others=(2,)))), "BN602", {"BN602"}),
    ],
)
def test_exactly_these_findings(evidence: Evidence, cause: str | None, codes: set[str]) -> None:
    found = diagnose(evidence)
    assert {finding.code for finding in found.findings} == codes
    assert (found.cause.code if found.cause else None) == cause


def test_the_cause_names_the_endpoints_and_the_lines_that_are_proven() -> None:
    found = diagnose(WITHOUT_MAP)
    assert found.cause is not None
    assert "node 2 at 192.168.1.24:9092" in found.cause.sentence
    lines = [line for each in found.findings if each.code == "BN302" for line in each.remedy.rules]
    assert lines == [f"192.168.1.{22 + n}:9092 = {GATEWAY[n]}" for n in (1, 2, 3)]


def test_a_node_behind_two_bootstrap_servers_proves_no_line() -> None:
    evidence = replace(WITHOUT_MAP, bootstraps=tuple(reached(1, end) for end in GATEWAY.values()))
    lines = [line for each in diagnose(evidence).findings for line in each.remedy.rules]
    assert not any("172.10.1.40" in line for line in lines)


def test_what_rests_on_metadata_is_skipped_with_the_reason() -> None:
    found = diagnose(bootstrap(AT))
    skipped = {each.code: each.reason for each in found.skipped}
    assert skipped["BN302"] == "no bootstrap server returned the brokers to this client"
    assert skipped.keys() | set(found.passed) | {"BN103"} == {check.code for check in CHECKS}


def test_every_check_has_a_code_of_its_own_and_documents_itself() -> None:
    assert len({check.code for check in CHECKS}) == len(CHECKS)
    assert all(check.what and check.why and check.remedy for check in CHECKS)
    assert {code for check in CHECKS for code in check.explains} <= {check.code for check in CHECKS}


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
