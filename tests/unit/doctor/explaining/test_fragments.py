"""Fragments that are asked for together find what they would find one by one."""

from tests.unit.doctor.explaining.vectors import healthy, vectors

from brokernat.doctor.explaining.fragments import Fragments
from brokernat.doctor.explaining.table import SYMPTOMS


def test_it_finds_what_asking_one_by_one_finds() -> None:
    fragments = Fragments(SYMPTOMS)
    for line in [*(vector.line for vector in vectors()), *healthy(), *(each for row in SYMPTOMS for each in row.holds)]:
        one_by_one = sorted(row.key for row in SYMPTOMS for fragment in row.holds if fragment in line)
        assert sorted(row.key for row in fragments.rows(line)) == one_by_one


def test_no_rows() -> None:
    assert list(Fragments([]).rows("x")) == []
