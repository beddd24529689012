"""Lines of programs that are not Kafka clients are never claimed: alone, in their log, and all logs in one."""

from tests.unit.doctor.explain.vectors import other_programs

from brokernat.doctor.explain.log import explain_log

PROGRAMS = other_programs()


def test_there_are_many() -> None:
    assert sum(len(each.lines) for each in PROGRAMS) > 400


def test_nothing_of_a_log_is_claimed() -> None:
    reports = {program.how: explain_log(f"{line}\n" for line in program.lines) for program in PROGRAMS}
    assert {how: report for how, report in reports.items() if report.explained or report.unknown} == {}


def test_no_line_is_claimed_alone() -> None:
    # A line of a stack in the words of the JVM or of Python is anybody's.
    anybodys = ("java.net.", "javax.net.", "Caused by: ", "ssl.SSL", "Received fatal alert: ")
    whole = [line for program in PROGRAMS for line in program.lines if not line.startswith(anybodys)]
    assert [line for line in whole if explain_log([f"{line}\n"]).explained] == []


def test_nothing_is_claimed_where_all_stand_in_one_log() -> None:
    report = explain_log(f"{line}\n" for program in PROGRAMS for line in program.lines)
    assert (report.explained, report.unknown) == ((), ())
