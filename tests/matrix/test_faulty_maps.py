"""Worlds in which the map is wrong: what a plain client sees, and that the complaint is gone once it is right."""

from collections.abc import Callable, Mapping

import pytest
from tests.matrix.conftest import HOPELESS, Clients
from tests.matrix.expectations import assert_dialled, assert_healthy, refusals
from tests.matrix.programs import Client, Loader, Outcome, Programs

from brokernat.testbed import LoopbackWorld, RunningCluster

pytestmark = pytest.mark.integration

SILENT_BROKER = "could not be established"


def rules_of(cluster: RunningCluster) -> dict[str, str]:
    """advertised -> reachable, so that a test can spoil it."""
    return {str(cluster.advertised[node]): str(cluster.reachable[node]) for node in cluster.nodes}


def text(rules: Mapping[str, str]) -> str:
    return ",".join(f"{advertised}={reachable}" for advertised, reachable in rules.items())


@pytest.mark.parametrize(
    "version", [pytest.param("2.4.1", marks=pytest.mark.soak), pytest.param("3.9.2", marks=pytest.mark.soak), "4.4.0"]
)
def test_an_unmapped_broker_is_refused_with_the_rule_to_add(
    version: str, plain: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    topic, rules = client_of.topic(), rules_of(plain.hq)
    plain.hq.create_topic(topic)
    missing, gateway = rules.popitem()
    lacking = client_of(plain.hq, ("producer",), topic=topic, changes=HOPELESS | {"brokernat.map": text(rules)})
    outcome = programs.exercise(version, lacking, loader=Loader.CLIENT_MAP)
    assert not outcome.of("producer")["ok"]
    added = refusals(outcome.log)
    assert list(added) == [missing]
    assert outcome.log.count("WARN io.brokernat.agent - refused: ") == 1, "one line, however often the client tries"

    # What the line says, taken at its word: only the reachable endpoint is filled in.
    advertised, _, placeholder = added[missing].partition(" = ")
    assert placeholder.startswith("REACHABLE:")
    healed = client_of(plain.hq, changes={"brokernat.map": text({**rules, advertised: gateway})})
    outcome = programs.exercise(version, healed, loader=Loader.CLIENT_MAP)
    assert_healthy(outcome, plain.hq)
    assert not refusals(outcome.log)


def test_an_unmapped_broker_under_pass_is_dialled_as_advertised(
    plain: LoopbackWorld, programs: Programs, client_of: Clients, well: Callable[[str], Outcome]
) -> None:
    topic, rules = client_of.topic(), rules_of(plain.hq)
    plain.hq.create_topic(topic)
    missing, _ = rules.popitem()
    passing = HOPELESS | {"brokernat.map": text(rules), "brokernat.unmapped": "pass"}
    lacking = client_of(plain.hq, ("producer",), topic=topic, changes=passing)
    outcome = programs.exercise("3.9.2", lacking, loader=Loader.CLIENT_MAP)
    assert not outcome.of("producer")["ok"]
    assert f"{missing}) {SILENT_BROKER}" in outcome.log, outcome.log[-4000:]
    assert not refusals(outcome.log)
    assert SILENT_BROKER not in well("3.9.2").log


@pytest.mark.parametrize("unmapped", ["pass", "fail"])
def test_brokers_that_no_rule_names_and_that_are_reachable(
    unmapped: str, plain: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    """The same brokers by their other listener: `pass` lets the client through, `fail` does not."""
    # One of them to start with: bootstrap addresses are never unmapped.
    first, *others = map(str, plain.hq.direct.bootstrap_servers)
    changes = {"bootstrap.servers": first, "brokernat.unmapped": unmapped} | (HOPELESS if unmapped == "fail" else {})
    client = client_of(plain.hq, ("admin", "producer") if unmapped == "pass" else ("admin",), changes=changes)
    outcome = programs.exercise("3.9.2", client, loader=Loader.CLIENT_MAP)
    assert "translated" not in outcome.log
    if unmapped == "pass":
        assert outcome.of("admin")["answered_for"] == [1, 2, 3]
        assert outcome.of("producer")["ok"]
    else:
        assert not outcome.of("admin")["ok"]
        assert refusals(outcome.log)
        assert set(refusals(outcome.log)) <= set(others)


@pytest.mark.parametrize("version", ["3.9.2", pytest.param("4.4.0", marks=pytest.mark.soak)])
def test_two_swapped_lines(
    version: str, plain: LoopbackWorld, programs: Programs, client_of: Clients, well: Callable[[str], Outcome]
) -> None:
    """A plain client is not told which lines; asking each broker who it is would tell."""
    topic = client_of.topic()
    plain.hq.create_topic(topic)
    (first, at_first), (second, at_second), *rest = rules_of(plain.hq).items()
    swapped = HOPELESS | {"brokernat.map": text({first: at_second, second: at_first, **dict(rest)})}
    # At the same time: each waits until it gives up.
    roles = ("producer", "admin")
    wrong = [client_of(plain.hq, (role,), topic=topic, name=role, changes=swapped) for role in roles]
    outcome = programs.exercise(version, *wrong, loader=Loader.CLIENT_MAP)
    for role in roles:
        assert not outcome.of(role, role)["ok"]
    # From 4.4 on brokers notice that they are not the node that was meant (KIP-1242); these are older.
    complaint = "NOT_LEADER_OR_FOLLOWER"
    assert complaint in outcome.log, outcome.log[-4000:]
    assert complaint not in well(version).log


@pytest.mark.parametrize(
    ("version", "loader"),
    [pytest.param("2.4.1", Loader.CLIENT_MAP, marks=pytest.mark.soak), ("4.4.0", Loader.REPORTER)],
)
def test_ipv6(version: str, loader: Loader, strict: LoopbackWorld, programs: Programs, client_of: Clients) -> None:
    broken = client_of(strict.hq, ("admin",), changes=HOPELESS)
    assert "[::1]:" in broken.properties["brokernat.map"]
    outcome = programs.exercise(version, broken, loader=Loader.NONE)
    assert not outcome.of("admin")["ok"]
    assert SILENT_BROKER in outcome.log

    outcome = programs.exercise(version, client_of(strict.hq), loader=loader)
    assert_healthy(outcome, strict.hq)
    assert_dialled(outcome, strict.hq)
    assert SILENT_BROKER not in outcome.log


@pytest.mark.soak
def test_an_unmapped_ipv6_broker_is_refused_with_a_rule_in_brackets(
    strict: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    rules = rules_of(strict.hq)
    missing, _ = rules.popitem()
    assert missing.startswith("[::1]:")
    lacking = client_of(strict.hq, ("admin",), changes=HOPELESS | {"brokernat.map": text(rules)})
    outcome = programs.exercise("3.9.2", lacking, loader=Loader.CLIENT_MAP)
    assert not outcome.of("admin")["ok"]
    assert refusals(outcome.log)[missing].startswith(f"{missing} = REACHABLE:")


def test_a_map_that_cannot_be_read_refuses_that_client_with_the_reason(
    plain: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    """Two clients in one JVM: the one with the typing error is told so, the other one works."""
    mistyped = {"brokernat.map": "192.168.1.23:9092 -> 172.10.1.40:9093"}
    wrong = client_of(plain.hq, ("admin",), name="wrong", changes=HOPELESS | mistyped)
    outcome = programs.exercise("3.9.2", wrong, client_of(plain.hq, name="right"), loader=Loader.CLIENT_MAP)
    assert not outcome.of("admin", "wrong")["ok"]
    assert mistyped["brokernat.map"] in outcome.log
    assert_healthy(outcome, plain.hq, "right")


@pytest.mark.parametrize("version", ["2.4.1", "4.4.0"])
def test_an_agent_argument_that_cannot_be_used_refuses_every_client_without_a_map_of_its_own(
    version: str, plain: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    """Although the brokers could be dialled as they are: the client would send its login there."""
    direct = plain.hq.direct.kafka_properties()
    without = Client(direct | HOPELESS, client_of.topic(), ("admin",), "without")
    opted_out = Client(direct | {"brokernat.map": ""}, client_of.topic(), ("admin",), "opted-out")
    clients = (without, opted_out, client_of(plain.hq, name="own"))
    outcome = programs.exercise(version, *clients, loader=Loader.CLIENT_MAP, argument="10.0.0.1:9092=;unmapped=fail")
    assert not outcome.of("admin", "without")["ok"]
    assert outcome.of("admin", "opted-out")["ok"], outcome.log[-4000:]
    assert_healthy(outcome, plain.hq, "own")
    reason = "cannot be used: line 1, column 1, rule `10.0.0.1:9092=`"
    assert (
        outcome.log.count(
            f"WARN io.brokernat.agent - refused: the address map of this JVM (the agent's argument) {reason}"
        )
        == 1
    )
