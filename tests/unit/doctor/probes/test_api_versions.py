"""A broker's requests and a controller's (KIP-919), and how old they make them."""

import pytest

from brokernat.doctor.probes.api_versions import is_controller, newest_known


@pytest.mark.parametrize(
    ("known", "controller"),
    [
        ({0: 11, 1: 17, 3: 12, 18: 4}, False),
        ({1: 17, 18: 4, 52: 1, 55: 2, 60: 1, 62: 4, 63: 1}, True),
        ({3: 12, 18: 4, 62: 4}, False),
        ({18: 4}, False),
        ({}, False),
    ],
)
def test_what_a_listener_serves(known: dict[int, int], controller: bool) -> None:
    assert is_controller(known) == controller


def test_evidence_keeps_what_tells_the_age() -> None:
    assert newest_known({0: 11, 1: 17, 3: 12, 18: 4}) == (("Produce", 11), ("Metadata", 12), ("ApiVersions", 4))
    assert newest_known({65: 0}) == (("DescribeTransactions", 0),)
