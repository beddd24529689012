"""The brokers that all worlds share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.doctor.scene import Scene, scene

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="package")
def doctor_scene() -> Iterator[Scene]:
    """Six brokers and three servers that are no Kafka; tests change nothing there."""
    with scene() as place:
        yield place
