"""What the findings come to; the rest of the check is asked of real brokers elsewhere."""

from brokernat.address import Endpoint
from brokernat.clients.spark import Outcome, Proof, ProofRow
from brokernat.config import Cluster
from brokernat.pipelines.check_result import CheckResult, Level, Preflight
from brokernat.pipelines.preflight import not_provable


def test_the_smallest_code_of_an_error_counts_and_warnings_do_not() -> None:
    results = (
        CheckResult("a", Level.ERROR, "", code=5),
        CheckResult("b", Level.WARNING, "", code=2),
        CheckResult("c", Level.ERROR, "", code=3),
    )
    assert Preflight(results, {}).exit_code == 3
    assert Preflight(results[1:2], {}).exit_code == 0


def test_brokers_that_may_not_be_asked_are_named_by_cluster_with_the_right_to_grant() -> None:
    hq, local = (Cluster(name, (Endpoint("gw", 9093),), client={"sasl.username": "app"}) for name in ("hq", "local"))
    outcomes = (("hq", 1, Outcome.PROVED), ("hq", 3, Outcome.NOT_PROVABLE), ("hq", 2, Outcome.NOT_PROVABLE))
    rows = [ProofRow(who, "", name, node, "", "", out) for who in ("driver", "0") for name, node, out in outcomes]
    rows.append(ProofRow("driver", "", "local", 1, "", "", Outcome.PROVED))
    (found,) = not_provable(Proof(tuple(rows)), (hq, local))
    assert (found.subject, found.level) == ("proof hq", Level.WARNING)
    assert found.message.startswith("node 2, 3 answered")
    assert "User:app --operation DescribeConfigs --cluster" in (found.hint or "")
