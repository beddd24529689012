"""The proof before work on executors that are JVMs of their own: what is wrong is named, where it is wrong, and the
complaint is gone when it is healed."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from tests.netns.spark.pipeline_file import cluster_section, write_file
from tests.netns.spark.prover import Answer, Prover, running_prover
from tests.netns.spark.spark_place import SparkPlace, refused_to_second_worker

from brokernat.clients.spark import Outcome, Proof, ProofRow
from brokernat.doctor.in_spark import findings
from brokernat.testbed import NetnsWorld

pytestmark = pytest.mark.netns

HOSTS = ("192.168.1.23:9092", "192.168.1.24:9092", "192.168.1.25:9092")
PORTS = ("172.10.1.40:9093", "172.10.1.40:9094", "172.10.1.40:9095")
RULES = [f"{advertised} = {port}" for advertised, port in zip(HOSTS, PORTS, strict=True)]
SWAPPED = [f"{HOSTS[0]} = {PORTS[1]}", f"{HOSTS[1]} = {PORTS[0]}", RULES[2]]
EVERYWHERE = ("driver", "0", "1")

_questions = count()


def test_the_world_is_the_one_that_these_rules_are_for(world: NetnsWorld) -> None:
    address_map = world.hq.cluster.address_map
    assert address_map is not None
    assert [str(rule).replace("=", " = ") for rule in address_map.rules] == RULES


@pytest.fixture(scope="module")
def prover(world: NetnsWorld, spark: SparkPlace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prover]:
    with running_prover(spark, file_with(RULES, world, tmp_path_factory.mktemp("prover"))) as running:
        yield running


def file_with(rules: list[str], world: NetnsWorld, folder: Path) -> Path:
    clusters = {"hq": cluster_section(world.hq.cluster, rules), "local": cluster_section(world.local.cluster)}
    for section in clusters.values():
        # Executors answer the same question from memory for two seconds; another client name makes it another one.
        section["client"]["client.id"] = f"prover-{next(_questions)}"
    return write_file(folder, clusters, {})


def assert_holds(prover: Prover, world: NetnsWorld, folder: Path) -> None:
    answer = prover.ask(file_with(RULES, world, folder))
    assert answer.message is None
    assert answer.missing == ()
    assert answer.executors() == {"0", "1"}
    assert answer.outcomes("hq") == {(who, node): "proved" for who in EVERYWHERE for node in (1, 2, 3)}
    assert answer.outcomes("local") == {(who, 1): "proved" for who in EVERYWHERE}


def test_driver_and_every_executor_have_asked_every_node(prover: Prover, world: NetnsWorld, tmp_path: Path) -> None:
    assert_holds(prover, world, tmp_path)


def test_two_swapped_lines_are_named_with_the_rules_to_write(prover: Prover, world: NetnsWorld, tmp_path: Path) -> None:
    answer = prover.ask(file_with(SWAPPED, world, tmp_path))

    expected = {1: "other node", 2: "other node", 3: "proved"}
    assert answer.outcomes("hq") == {(who, node): expected[node] for who in EVERYWHERE for node in expected}
    assert answer.message is not None
    assert "the rule for node 1 leads to node 2" in answer.message
    assert "the rule for node 2 leads to node 1" in answer.message
    assert answer.hint is not None
    assert RULES[0] in answer.hint
    assert RULES[1] in answer.hint
    assert_holds(prover, world, tmp_path)


def test_a_broker_that_no_rule_names_is_named(prover: Prover, world: NetnsWorld, tmp_path: Path) -> None:
    answer = prover.ask(file_with(RULES[:2], world, tmp_path))

    expected = {1: "proved", 2: "proved", 3: "unmapped"}
    assert answer.outcomes("hq") == {(who, node): expected[node] for who in EVERYWHERE for node in expected}
    assert answer.message is not None
    assert HOSTS[2] in answer.message
    assert_holds(prover, world, tmp_path)


def test_the_one_executor_that_cannot_reach_a_leader_is_named(
    prover: Prover, world: NetnsWorld, tmp_path: Path
) -> None:
    with refused_to_second_worker(world, PORTS[1]):
        answer = prover.ask(file_with(RULES, world, tmp_path))

    bad = {place: outcome for place, outcome in answer.outcomes("hq").items() if outcome != "proved"}
    assert list(bad.values()) == ["unreachable"]
    ((executor, node),) = bad
    assert executor in ("0", "1")
    assert node == 2
    (row,) = (row for row in answer.rows if row["outcome"] == "unreachable")
    assert (row["advertised"], row["dialled"]) == (HOSTS[1], PORTS[1])
    assert "refused" in row["cause"]
    assert answer.message is not None
    assert HOSTS[1] in answer.message
    (finding,) = findings(proof_of(answer), world.hq.cluster)
    assert (finding.code, finding.message) == ("BN613", "does not reach node 2, which the driver reaches")
    assert finding.subject.startswith(f"executor {executor} on ")
    assert PORTS[1] in finding.remedy.client[0]
    assert_holds(prover, world, tmp_path)


def proof_of(answer: Answer) -> Proof:
    """The proof that the session had."""
    return Proof(tuple(ProofRow(**{**row, "outcome": Outcome(row["outcome"])}) for row in answer.rows), answer.missing)
