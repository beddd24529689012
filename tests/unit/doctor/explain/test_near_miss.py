"""A line that is only like a known one is reported as that, and never as the known one."""

import string

import pytest
from tests.unit.doctor.explain.vectors import healthy

from brokernat.doctor.explain.log import explain_log
from brokernat.doctor.explain.near_miss import MOST, most_like

LIKE = "ERROR [clientId=p] Connection to node {0} at {1} could not now be established: Node may not be available\n"


def test_a_line_like_a_known_one_names_it() -> None:
    report = explain_log([LIKE.format(2, "x"), LIKE.format(3, "x")])
    assert report.explained == ()
    (unknown,) = report.unknown
    assert (unknown.like.key, unknown.count) == ("java-no-connection", 2)
    assert unknown.line == LIKE.format(2, "x").strip()


def test_a_line_about_something_else_is_like_nothing() -> None:
    """It shares the name of a part with a line that is known, and no more."""
    assert explain_log(["WARN kafka: Error while loading schema registry subjects\n"]).unknown == ()


def test_few_are_kept_of_many() -> None:
    letters = (a + b + c for a in string.ascii_lowercase for b in string.ascii_lowercase for c in "abc")
    assert len(explain_log(LIKE.format(1, each) for each in letters).unknown) == MOST


@pytest.mark.parametrize("text", ["", "kafka ERROR", "ERROR kafka is not well today", "INFO " + LIKE.format(1, "x")])
def test_what_is_like_nothing_is_not_reported(text: str) -> None:
    assert explain_log([f"{text.strip()}\n"]).unknown == ()


def test_healthy_clients_log_nothing_like_a_known_error() -> None:
    assert explain_log(f"{line}\n" for line in healthy()).unknown == ()
    assert most_like("Kafka version: 3.9.2") is None
