"""What people paste into issues and questions: with what containers, loggers and collectors put around it."""

import pytest
from tests.unit.doctor.explain.vectors import Pasted, pasted

from brokernat.doctor.explain.log import explain_log

PASTED = pasted()


def test_there_are_many() -> None:
    assert sum(len(each.lines) for each in PASTED) >= 90
    assert len(PASTED) == len({each.how for each in PASTED})


@pytest.mark.parametrize("paste", PASTED, ids=lambda paste: paste.how)
def test_it_is_explained(paste: Pasted) -> None:
    assert {each.match.known.key for each in explain_log(f"{line}\n" for line in paste.lines).explained} == paste.rows


@pytest.mark.parametrize("paste", [each for each in PASTED if each.rows], ids=lambda paste: paste.how)
def test_windows_line_ends_change_nothing(paste: Pasted) -> None:
    assert {each.match.known.key for each in explain_log(f"{line}\r\n" for line in paste.lines).explained} == paste.rows
