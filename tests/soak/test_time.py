"""How soak tests share their time: nobody goes without a round, and nobody takes what others need."""

import time

import pytest
from tests.conftest import Soak, SoakTime


def test_one_round_is_played_even_when_the_time_is_over() -> None:
    assert list(Soak(0, time.monotonic() - 1).rounds()) == [0]


def test_a_round_that_would_not_fit_is_not_begun() -> None:
    played = []
    for number in Soak(0, time.monotonic() + 0.5).rounds():
        played.append(number)
        time.sleep(0.3)
    assert played == [0]


def test_each_gets_an_equal_part_of_what_is_left() -> None:
    given = SoakTime(0, 90, time.monotonic() + 90, ["a", "b", "c"])
    shares = [given.share(test) - time.monotonic() for test in given.to_come]
    assert shares == pytest.approx([30, 45, 90], abs=7)


def test_those_of_a_fixed_length_leave_time_for_those_that_go_on() -> None:
    for gone, fixed, going_on in ((20, True, True), (50, False, True), (91, False, False)):
        given = SoakTime(0, 90, time.monotonic() + 90 - gone, ["a"])
        assert (given.may_begin("other"), given.may_begin("a")) == (fixed, going_on)


def test_what_takes_long_is_held_against_the_whole() -> None:
    given = Soak(0, time.monotonic() + 1, time.monotonic() + 700)
    assert given.fits(600)
    assert not given.fits(800)


def test_a_share_is_never_negative() -> None:
    given = SoakTime(0, 90, time.monotonic() - 5, ["a", "b"])
    assert Soak(0, given.share("a")).time_left() <= 0


def test_choices_are_repeated_by_the_seed_and_independent_by_the_salt() -> None:
    first, again, other = (Soak(seed, 0).random("kills", 1).random() for seed in (1, 1, 2))
    assert first == again != other
