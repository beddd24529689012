"""What people paste into issues and questions: with what containers, loggers and collectors put around it."""

import pytest
from tests.unit.doctor.explain.vectors import Pasted, pasted

from brokernat.doctor.explain.log import explain_log

PASTED = pasted()


def test_there_are_many() -> None:
    assert sum(len(each.lines) for each in PASTED) >= 90
    assert len(PASTED) == len({each.how for each in PASTED})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_is_explained(end: str) -> None:
    def explained(paste: Pasted) -> set[str]:
        return {each.match.known.key for each in explain_log(f"{line}{end}" for line in paste.lines).explained}

    assert {paste.how: keys for paste in PASTED if (keys := explained(paste)) != paste.rows} == {}
