from __future__ import annotations

from pathlib import Path

from brokernat.shipping.block import Block, Rejection
from brokernat.shipping.spool import Spool
from brokernat.shipping.status import SettledBlocks, Totals, read_status

BLOCK = Block.stamped(1, "app.1", 1, [b"}", b'"message":"no"}'])
REJECTION = Rejection("app.1", 2, "INVALID_RECORD", BLOCK.records[1])


def test_an_outcome_counts_at_once_and_once() -> None:
    ledger = SettledBlocks({"accepted": 4, "acknowledged": 1})
    ledger.settled(BLOCK, [REJECTION])
    expected = Totals(accepted=4, acknowledged=2, rejected=1)
    assert (ledger.totals(), expected.pending) == (expected, 1)
    outcomes = ledger.outcomes()
    ledger.written(outcomes, ledger.counts | {"acknowledged": 2, "rejected": 1})
    assert ledger.totals() == expected
    assert ledger.outcomes() == []


def test_what_the_sender_says_meanwhile_stays_for_the_next_transaction() -> None:
    ledger = SettledBlocks({})
    ledger.settled(BLOCK, [])
    outcomes = ledger.outcomes()
    ledger.settled(BLOCK, [REJECTION])
    ledger.written(outcomes, ledger.counts | {"acknowledged": 2})
    assert [outcome.rejections for outcome in ledger.outcomes()] == [(REJECTION,)]


def test_a_rejected_record_stays_in_the_spool_with_its_line_end() -> None:
    ledger = SettledBlocks({})
    ledger.settled(BLOCK, [REJECTION])
    (outcome,) = ledger.outcomes()
    assert (outcome.acknowledged, outcome.freed) == (1, len(BLOCK.records[0]) + 1)


def test_trouble_is_told_of_a_spool_only_while_records_wait_in_it(tmp_path: Path) -> None:
    """librdkafka also reports a connection that failed while there was nothing to send."""
    spool = Spool(tmp_path)
    spool.trouble = "no broker can be reached"
    spool.settle()
    assert [each.trouble for each in read_status(tmp_path)] == [""]
    spool.append([b'"message":"waits"}'])
    assert [each.trouble for each in read_status(tmp_path)] == ["no broker can be reached"]
    spool.close()
