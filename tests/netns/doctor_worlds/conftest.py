"""The site that all these worlds share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.netns.doctor_worlds.site import Site


@pytest.fixture(scope="package")
def site() -> Iterator[Site]:
    """Four brokers and a cluster of one; a world takes back what it changes."""
    with Site() as running:
        yield running
