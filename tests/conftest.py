"""Options that bound and repeat a soak run: `--soak-seconds` and `--seed`."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak-seconds", type=float, default=3600, help="stop starting soak rounds after this many seconds"
    )
    parser.addoption("--seed", type=int, default=0, help="seed of every random choice in a soak run")


@dataclass(frozen=True)
class Soak:
    """What a soak test may spend: rounds are started while `time_left()`; choices come from `random`."""

    seed: int
    deadline: float

    def time_left(self) -> float:
        return self.deadline - time.monotonic()

    def random(self, *salt: object) -> random.Random:
        """A generator of its own for each salt, so that adding one choice does not change the others."""
        return random.Random(f"{self.seed}/{salt}")


@pytest.fixture(scope="session")
def soak(request: pytest.FixtureRequest) -> Soak:
    config = request.config
    return Soak(seed=config.getoption("--seed"), deadline=time.monotonic() + config.getoption("--soak-seconds"))
