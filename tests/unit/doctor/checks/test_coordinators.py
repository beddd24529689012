"""Who coordinates, and whether this client reaches it."""

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import BROKERS, mapped, refused

from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Advertised, BrokerPath, Coordinator, Evidence, Identity
from brokernat.doctor.finding import Severity

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
NAMES = {"group": "group app", "transaction": "transactional id app"}
KINDS = [("group", "BN701"), ("transaction", "BN702")]


def asked(kind: str, evidence: Evidence = HEALTHY, broker: Advertised | None = None, error: str = "") -> Evidence:
    coordinator = Coordinator(kind, "app", broker, error)  # type: ignore[arg-type]
    return replace(evidence, coordinators=(coordinator,))


def first_path(evidence: Evidence, **changes: object) -> Evidence:
    return replace(evidence, paths=(replace(evidence.paths[0], **changes), *evidence.paths[1:]))


@pytest.mark.parametrize(("kind", "code"), KINDS)
@pytest.mark.parametrize(
    ("evidence", "broker", "expected", "root"),
    [
        (HEALTHY, BROKERS[0], set(), None),
        (first_path(HEALTHY, probe=refused("gw:1")), BROKERS[0], {"BN305"}, "BN305"),
        (first_path(HEALTHY, probe=refused("gw:1")), BROKERS[1], {"BN305"}, "BN305"),
        (mapped({2: 2, 3: 3}), BROKERS[0], {"BN605", "BN202"}, "BN605"),
        (mapped({1: 2, 2: 1, 3: 3}), BROKERS[0], {"BN601"}, "BN601"),
        (HEALTHY, Advertised(7, "192.168.1.29", 9092), set(), None),
    ],
)
def test_a_coordinator_is_a_node_to_reach(
    kind: str, code: str, evidence: Evidence, broker: Advertised, expected: set[str], root: str | None
) -> None:
    found = diagnose(asked(kind, evidence, broker))
    fails = broker not in BROKERS or (broker == BROKERS[0] and evidence != HEALTHY)
    assert {each.code for each in found.findings} == expected | ({code} if fails else set())
    assert (found.cause.code if found.cause else None) == (root or (code if fails else None))
    if fails:
        finding = next(each for each in found.findings if each.code == code)
        assert finding.subject == NAMES[kind]
        assert f"node {broker.node_id} at {broker.endpoint}" in finding.message


@pytest.mark.parametrize(("kind", "_code"), KINDS)
@pytest.mark.parametrize("error", ["COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"])
def test_nobody_coordinates(kind: str, _code: str, error: str) -> None:
    found = diagnose(asked(kind, error=error))
    assert [(each.code, each.subject) for each in found.findings] == [("BN703", NAMES[kind])]


@pytest.mark.parametrize(
    ("kind", "error", "option"),
    [
        ("group", "GROUP_AUTHORIZATION_FAILED", "Read --group app"),
        ("transaction", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "Write --transactional-id app"),
    ],
)
def test_a_right_is_missing(kind: str, error: str, option: str) -> None:
    (finding,) = diagnose(asked(kind, error=error)).findings
    assert (finding.code, finding.severity) == ("BN003", Severity.ERROR)
    assert finding.remedy.broker[0].endswith(f"User:NAME --operation {option}")
    for user, principal in (("svc", "User:svc"), ("a b", "'User:a b'")):
        (finding,) = diagnose(replace(asked(kind, error=error), user=user)).findings
        assert finding.remedy.broker[0].endswith(f"{principal} --operation {option}")


@pytest.mark.parametrize(("kind", "option"), [("group", "Read --group"), ("transaction", "Write --transactional-id")])
def test_a_right_to_look_up_is_less_than_clients_need(kind: str, option: str) -> None:
    coordinator = Coordinator(kind, "app", BROKERS[0], forbidden=True)  # type: ignore[arg-type]
    (finding,) = diagnose(replace(HEALTHY, coordinators=(coordinator,))).findings
    assert (finding.code, finding.severity, finding.subject) == ("BN003", Severity.ERROR, NAMES[kind])
    assert "DESCRIBE" not in finding.message
    assert finding.remedy.broker[0].endswith(f"--operation {option} app")


def test_what_was_not_asked_is_skipped_with_the_reason() -> None:
    reasons = {each.code: each.reason for each in diagnose(HEALTHY).skipped}
    assert reasons["BN701"] == "no group was named (`--group`)"
    assert reasons["BN703"].startswith("no coordinator was requested")
    reasons = {each.code: each.reason for each in diagnose(asked("group", error="not-asked")).skipped}
    assert reasons["BN701"].startswith("this user sees no `__consumer_offsets`")
    assert reasons["BN702"] == "no transactional id was named (`--transactional-id`)"


def test_a_weaker_identity_bars_the_way_too() -> None:
    probe = HEALTHY.paths[0].probe
    assert probe is not None
    other = first_path(HEALTHY, probe=replace(probe, identity=Identity(2, "listoffsets")))
    assert {each.code for each in diagnose(asked("group", other, BROKERS[0])).findings} == {"BN601", "BN701"}


@pytest.mark.parametrize(
    ("broker", "words"),
    [
        (Advertised(9, "kafka-9.example", 9092), "no rule of the address map matches it"),
        (Advertised(9, "kafka-9.example", 0), "its endpoint cannot be dialled"),
    ],
)
def test_a_coordinator_that_is_not_dialled(broker: Advertised, words: str) -> None:
    evidence = replace(HEALTHY, paths=(*HEALTHY.paths, BrokerPath(broker, None)))
    messages = [each.message for each in diagnose(asked("group", evidence, broker)).findings if each.code == "BN701"]
    assert [message.partition(": ")[2] for message in messages] == [words]
