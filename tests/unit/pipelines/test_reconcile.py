"""Accounts from runs, on chosen cases; random ones stand in tests/property/test_reconcile.py."""

import pytest

from brokernat.pipelines.reading_back.reconcile import SHOWN_RANGES, SequenceRun, SourceAccount, Span, accounts


def only(*runs: SequenceRun, **more: object) -> SourceAccount:
    (account,) = accounts(runs, **more)  # type: ignore[arg-type]
    return account


def test_a_whole_source_lacks_nothing() -> None:
    assert only(SequenceRun("a", 1, 3, 3)) == SourceAccount("a", 1, 3, 3, 0, 0, ())


def test_runs_that_touch_are_no_gap() -> None:
    assert only(SequenceRun("a", 1, 3, 3), SequenceRun("a", 4, 4, 2)).missing_ranges == ()


def test_what_is_missing_before_between_and_behind() -> None:
    account = only(SequenceRun("a", 3, 4, 2), SequenceRun("a", 6, 9, 5), reached={"a": 12})
    assert account == SourceAccount("a", 3, 9, 7, 1, 6, (Span(1, 2), Span(5, 5), Span(10, 12)))
    assert [str(span) for span in account.missing_ranges] == ["1-2", "5", "10-12"]


def test_from_first_leaves_out_what_was_before() -> None:
    assert only(SequenceRun("a", 3, 4, 2), SequenceRun("a", 6, 6, 1), from_first=True).missing_ranges == (Span(5, 5),)


def test_a_source_that_has_reached_less_than_the_topic_holds_lacks_nothing() -> None:
    assert only(SequenceRun("a", 1, 9, 9), reached={"a": 4}).missing == 0


@pytest.mark.parametrize(("reached", "missing"), [(0, ()), (7, (Span(1, 7),))])
def test_a_source_of_which_nothing_came(reached: int, missing: tuple[Span, ...]) -> None:
    assert only(reached={"b": reached}) == SourceAccount("b", None, None, 0, 0, reached, missing)


def test_sources_do_not_mix() -> None:
    found = list(accounts([SequenceRun("a", 1, 2, 2), SequenceRun("b", 2, 2, 1), SequenceRun("b", 5, 5, 1)]))
    assert [(account.source, account.missing) for account in found] == [("a", 0), ("b", 3)]


def test_of_many_gaps_the_first_are_named_and_all_are_counted() -> None:
    account = only(*(SequenceRun("a", number, number, 1) for number in range(2, 2 * SHOWN_RANGES + 12, 2)))
    assert (account.missing, len(account.missing_ranges)) == (SHOWN_RANGES + 5, SHOWN_RANGES)
