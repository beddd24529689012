"""Accounts of random sequences, cut into runs anywhere, against the plainest way to count."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokernat.pipelines.reading_back.reconcile import SequenceRun, SourceAccount, Span, accounts

pytestmark = pytest.mark.property

received = st.lists(st.integers(1, 60), min_size=1, max_size=120)
cuts = st.sets(st.integers(1, 60))


def runs_of(source: str, numbers: list[int], cut_before: set[int]) -> list[SequenceRun]:
    """Consecutive numbers as runs, cut also where Spark's blocks might end."""
    copies = Counter(numbers)
    found: list[SequenceRun] = []
    for number in sorted(copies):
        if found and found[-1].last == number - 1 and number not in cut_before:
            last = found.pop()
            found.append(SequenceRun(source, last.first, number, last.records + copies[number]))
        else:
            found.append(SequenceRun(source, number, number, copies[number]))
    return found


def expand(spans: tuple[Span, ...]) -> list[int]:
    return [number for span in spans for number in range(span.first, span.last + 1)]


@given(sources=st.dictionaries(st.sampled_from("abc"), st.tuples(received, cuts)), reached=st.integers(0, 70))
def test_what_was_sent_and_is_not_there_is_missing(
    sources: dict[str, tuple[list[int], set[int]]], reached: int
) -> None:
    runs = [run for source, (numbers, cut) in sorted(sources.items()) for run in runs_of(source, numbers, cut)]
    found = {account.source: account for account in accounts(runs, reached={"a": reached})}

    assert found.keys() == sources.keys() | {"a"}
    for source, account in found.items():
        numbers = sources.get(source, ([], set()))[0]
        sent = max([*numbers, reached if source == "a" else 0])
        lost = sorted(set(range(1, sent + 1)) - set(numbers))
        assert expand(account.missing_ranges) == lost
        assert account.missing == len(lost)
        assert account.records == len(numbers)
        assert account.duplicates == len(numbers) - len(set(numbers))
        assert (account.first, account.last) == ((min(numbers), max(numbers)) if numbers else (None, None))
        assert_apart(account)


@given(numbers=received, cut=cuts)
def test_from_first_is_the_same_without_the_head(numbers: list[int], cut: set[int]) -> None:
    runs = runs_of("a", numbers, cut)
    (whole,), (rest,) = list(accounts(runs)), list(accounts(runs, from_first=True))
    assert expand(rest.missing_ranges) == [n for n in expand(whole.missing_ranges) if n > min(numbers)]


def assert_apart(account: SourceAccount) -> None:
    """Ranges are in order, and a number that is there stands between any two."""
    spans = account.missing_ranges
    assert all(one.last + 1 < other.first for one, other in pairwise(spans))
