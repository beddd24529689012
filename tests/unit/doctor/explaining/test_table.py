"""The table as a whole: distinct rows, codes that exist, sentences that can be filled."""

import string

import pytest

from brokernat.doctor.catalogue import catalogue
from brokernat.doctor.explaining.naming import UNSAID
from brokernat.doctor.explaining.symptom import Reading, Symptom
from brokernat.doctor.explaining.table import SYMPTOMS

READINGS = [(symptom, reading) for symptom in SYMPTOMS for reading in symptom.readings.values()]


def placeholders(reading: Reading) -> set[str]:
    texts = (reading.means, reading.do, reading.then)
    return {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name}


def test_keys_are_distinct() -> None:
    keys = [symptom.key for symptom in SYMPTOMS]
    assert len(keys) == len(set(keys)) >= 60


def test_every_code_is_a_check() -> None:
    assert {code for _, reading in READINGS for code in reading.codes} <= set(catalogue())


@pytest.mark.parametrize(("symptom", "reading"), READINGS, ids=lambda each: getattr(each, "key", ""))
def test_a_sentence_names_only_what_its_line_can_name(symptom: Symptom, reading: Reading) -> None:
    groups = set(symptom.compiled.groupindex)
    assert placeholders(reading) <= groups | set(UNSAID)


def test_nothing_is_said_twice_about_one_row() -> None:
    for symptom in SYMPTOMS:
        assert symptom.holds
        assert all(symptom.holds)
        for reading in symptom.readings.values():
            assert len(reading.codes) == len(set(reading.codes)), symptom.key
            assert reading.means.endswith((".", ": {reason}")), symptom.key
            assert not reading.do.endswith("."), symptom.key
