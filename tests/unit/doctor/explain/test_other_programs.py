"""Lines of programs that are not Kafka clients are never claimed: alone, in their log, and all logs in one."""

import pytest
from tests.unit.doctor.explain.vectors import Pasted, other_programs

from brokernat.doctor.explain.log import explain_log

PROGRAMS = other_programs()


def test_there_are_many() -> None:
    assert sum(len(each.lines) for each in PROGRAMS) > 400


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.how)
def test_nothing_of_it_is_claimed(program: Pasted) -> None:
    report = explain_log(f"{line}\n" for line in program.lines)
    assert (report.explained, report.unknown) == ((), ())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.how)
def test_no_line_of_it_is_claimed_alone(program: Pasted) -> None:
    # A line of a stack in the words of the JVM or of Python is anybody's.
    whole = [
        line for line in program.lines if not line.startswith(("java.net.", "javax.net.", "Caused by: ", "ssl.SSL"))
    ]
    assert [line for line in whole if explain_log([f"{line}\n"]).explained] == []


def test_nothing_is_claimed_where_all_stand_in_one_log() -> None:
    report = explain_log(f"{line}\n" for program in PROGRAMS for line in program.lines)
    assert (report.explained, report.unknown) == ((), ())
