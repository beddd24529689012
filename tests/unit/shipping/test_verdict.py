from __future__ import annotations

from brokernat.shipping.block import Block
from brokernat.shipping.ledger import Rejection
from brokernat.shipping.verdict import Run, judge

BLOCK = Block.stamped(1, "app.1", 1, [b"a}", b"b}", b"c}", b"d}", b"e}"])


class Fault:
    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        return self._name

    def str(self) -> str:
        return "so it says"

    def fatal(self) -> bool:
        return False


REFUSED, AWAY = Fault("INVALID_RECORD"), Fault("_TRANSPORT")


def alone(sequence: int) -> Run:
    return Run(BLOCK, sequence, (BLOCK.records[sequence - 1],))


def test_refused_records_come_apart_in_halves_the_first_to_be_taken_next() -> None:
    found = judge([Run(BLOCK, 1, BLOCK.records)], dict.fromkeys(BLOCK.records, REFUSED))
    assert found.apart == [[alone(3), alone(4), alone(5)], [alone(1), alone(2)]]
    assert (found.again, found.trouble, found.rejection) == ([], None, None)


def test_a_record_that_is_refused_alone_is_rejected() -> None:
    found = judge([alone(2)], {BLOCK.records[1]: REFUSED})
    assert found.rejection == Rejection("app.1", 2, "INVALID_RECORD: so it says", BLOCK.records[1])
    assert (found.apart, found.again) == ([], [])


def test_one_refused_among_others_is_tried_alone_before_it_is_rejected() -> None:
    found = judge([Run(BLOCK, 1, BLOCK.records)], {BLOCK.records[3]: REFUSED})
    assert (found.apart, found.rejection) == ([[alone(4)]], None)


def test_what_says_nothing_about_the_record_lets_it_be_sent_again() -> None:
    found = judge([Run(BLOCK, 1, BLOCK.records)], {BLOCK.records[0]: REFUSED, BLOCK.records[4]: AWAY})
    assert (found.apart, found.again, found.trouble) == ([[alone(1)]], [alone(5)], AWAY)
