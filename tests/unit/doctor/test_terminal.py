"""The report for people: narrow terminals, no colour."""

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.reports.json_v1 import json_v1
from brokernat.doctor.reports.terminal import terminal
from brokernat.doctor.runner import diagnose


@pytest.mark.parametrize("evidence", [WITHOUT_MAP, mapped({1: 2, 2: 1, 3: 3})], ids=["without-map", "swapped"])
def test_report(evidence: Evidence, snapshot: SnapshotAssertion) -> None:
    text = terminal(diagnose(evidence))
    assert all(len(line) <= 80 for line in text.splitlines())
    assert text == snapshot


def test_json(snapshot: SnapshotAssertion) -> None:
    assert json_v1(diagnose(mapped({1: 1, 2: 2}))) == snapshot
