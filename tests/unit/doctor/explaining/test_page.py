"""The reference page of log lines."""

import pytest
from tests.unit.doctor.explaining.vectors import vectors

from brokernat.doctor.explaining.page import Example, log_lines_page
from brokernat.doctor.explaining.table import SYMPTOMS

EXAMPLES = {vector.row: Example(vector.client, vector.how, vector.line) for vector in vectors()}


def test_every_row_has_its_place() -> None:
    page = log_lines_page(EXAMPLES)
    for symptom in SYMPTOMS:
        assert f"Row `{symptom.key}`, " in page


def test_an_example_of_another_row_is_a_fault_of_the_vectors() -> None:
    first, second = SYMPTOMS[0].key, SYMPTOMS[1].key
    with pytest.raises(ValueError, match="belongs to another row"):
        log_lines_page({**EXAMPLES, first: EXAMPLES[second]})
