"""The report for programs."""

from syrupy.assertion import SnapshotAssertion
from tests.unit.doctor.conftest import mapped

from brokernat.doctor.reports.json_v1 import json_v1
from brokernat.doctor.runner import diagnose


def test_json(snapshot: SnapshotAssertion) -> None:
    assert json_v1(diagnose(mapped({1: 1, 2: 2}))) == snapshot
