"""The judgement: what makes a proof hold, and what a failed one says."""

from dataclasses import replace

import pytest

from brokernat.clients.spark.proof import HEADINGS, Outcome, Proof, ProofRow, corrected_rules
from brokernat.errors import ProofFailedError

GOOD = ProofRow("0", "w1", "hq", 1, "192.168.1.23:9092", "172.10.1.40:9093", Outcome.PROVED)
ONE = replace(GOOD, outcome=Outcome.OTHER_NODE, cause="node 2 answered", answered_by=2)
TWO = replace(ONE, node_id=2, advertised="192.168.1.24:9092", dialled="172.10.1.40:9094", answered_by=1)


def test_all_good_is_proved() -> None:
    proof = Proof((GOOD, replace(GOOD, node_id=2, outcome=Outcome.NOT_PROVABLE)))
    assert proof.ok
    proof.raise_for_failures()


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - {Outcome.PROVED, Outcome.NOT_PROVABLE}))
def test_every_other_outcome_forbids_the_start(outcome: Outcome) -> None:
    proof = Proof((GOOD, replace(GOOD, executor="1", outcome=outcome, cause="the cause")))
    assert not proof.ok
    with pytest.raises(ProofFailedError, match="1 of 2 checks failed") as caught:
        proof.raise_for_failures()
    (row,) = caught.value.message.splitlines()[2:]
    assert row.split() == [
        "1",
        "w1",
        "hq",
        "1",
        "192.168.1.23:9092",
        "172.10.1.40:9093",
        *outcome.split(),
        "the",
        "cause",
    ]


def test_silence_is_not_consent() -> None:
    proof = Proof((GOOD,), missing=("1", "4"))
    assert not proof.ok
    with pytest.raises(ProofFailedError, match="not proved: no answer from executor 1, 4") as caught:
        proof.raise_for_failures()
    assert "busy" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("proof", "verdict"),
    [
        (Proof(()), "there is nothing to check"),
        (Proof((replace(GOOD, executor="driver"),), unregistered=2), "no executor registered in time, 2 expected"),
        (Proof((GOOD,), unregistered=2), "2 of 3 executors did not register in time"),
        (
            Proof((GOOD, replace(ONE, executor="1")), missing=("2",), unregistered=1),
            "1 of 4 executors did not register in time; no answer from executor 2 in time; 1 of 2 checks failed",
        ),
    ],
)
def test_nobody_is_not_everybody(proof: Proof, verdict: str) -> None:
    with pytest.raises(ProofFailedError) as caught:
        proof.raise_for_failures()
    assert caught.value.message.splitlines()[0] == f"not proved: {verdict}"
    assert ("have free cores and memory" in (caught.value.hint or "")) is bool(proof.unregistered)


def test_swapped_rules_are_corrected() -> None:
    assert corrected_rules((ONE, TWO)) == (
        "192.168.1.23:9092 = 172.10.1.40:9094",
        "192.168.1.24:9092 = 172.10.1.40:9093",
    )
    with pytest.raises(ProofFailedError) as caught:
        Proof((ONE, TWO)).raise_for_failures()
    assert "192.168.1.23:9092 = 172.10.1.40:9094" in (caught.value.hint or "")


def test_an_answer_from_a_node_that_no_row_names_gives_no_rule() -> None:
    assert corrected_rules((replace(ONE, answered_by=7),)) == ()


def test_clusters_are_not_mixed_when_both_advertise_the_same() -> None:
    assert corrected_rules((ONE, replace(TWO, cluster="other"))) == ()


def test_table_has_a_cell_for_each_heading() -> None:
    headings, lines = Proof((GOOD, replace(GOOD, node_id=None))).table()
    assert headings == HEADINGS
    assert [len(line) for line in lines] == [len(HEADINGS)] * 2
    assert lines[1][3] == ""
