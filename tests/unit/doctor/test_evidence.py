"""What was seen, through a file and back."""

import pytest
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped

from brokernat.doctor.evidence import from_json, to_json
from brokernat.errors import ConfigError


def test_a_file_gives_the_same_evidence() -> None:
    for evidence in (WITHOUT_MAP, mapped({1: 1, 2: 2})):
        assert from_json(to_json(evidence), "file") == evidence


@pytest.mark.parametrize("text", ["", "{}", "[1]", to_json(WITHOUT_MAP).replace('"version": 2', '"version": 3')])
def test_another_file_is_refused_by_name(text: str) -> None:
    with pytest.raises(ConfigError, match="`evidence"):
        from_json(text, "evidence.json")
