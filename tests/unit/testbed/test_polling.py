"""Waiting ends with the condition, with a reason to give up, or with the deadline."""

from __future__ import annotations

import pytest

from brokernat.errors import NothingReachableError
from brokernat.testbed.polling import wait_until


def test_it_asks_until_the_answer_is_yes() -> None:
    answers = iter([False, False, True])
    wait_until(lambda: next(answers), "it", timeout=60)
    assert next(answers, None) is None


def test_a_reason_ends_it_at_once_and_is_told() -> None:
    with pytest.raises(NothingReachableError, match="hq node 2: it ended"):
        wait_until(lambda: False, "hq node 2", timeout=60, abort=lambda: "it ended")


def test_the_deadline_ends_it() -> None:
    with pytest.raises(NothingReachableError, match="hq node 2: not within 0 s"):
        wait_until(lambda: False, "hq node 2", timeout=0)
