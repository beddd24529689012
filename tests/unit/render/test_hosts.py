"""Lines of a hosts file, and what it cannot say although each rule alone could be said."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat.errors import NotExpressibleError
from brokernat.render import Subject, hosts


def test_file(about: Callable[..., Subject], snapshot: SnapshotAssertion) -> None:
    rules = (
        "kafka-1.hq = 10.99.1.23, kafka-2.hq:9092 = 10.99.1.24:9092, kafka-2.hq:9093 = 10.99.1.24:9093, k = [fd00::1]"
    )
    assert hosts(about(rules)) == snapshot


def test_one_name_with_two_addresses(about: Callable[..., Subject]) -> None:
    with pytest.raises(
        NotExpressibleError, match=r"k:2=10\.0\.0\.2:2: a hosts file has one address for a name, and k has"
    ):
        hosts(about("k:1 = 10.0.0.1:1, k:2 = 10.0.0.2:2"))
