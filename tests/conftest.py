"""What bounds and repeats a soak run, `--soak-seconds` and `--seed`, and how tests are given to several processes.

Soak tests of a fixed length come first and may begin in the first third of the time, then those that go on for as long
as they may (they ask for `soak`): each gets an equal part of what the ones before it have left over. The seed chooses
the order, so that in a run that is too short for all of them it is not always the same ones that go without; those are
skipped, with the reason, and nothing of theirs is started.

With `-n` tests run in several processes, in groups (workers.py).
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import HealthCheck, settings
from tests.progress import Progress
from tests.workers import Groups, longest_first
from xdist.remote import Producer

_FIXED_LENGTH = 1 / 3

# That the machine is busy with brokers is no reason for an example to fail.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak-seconds", type=float, default=3600, help="stop starting soak rounds after this many seconds"
    )
    parser.addoption("--seed", type=int, default=0, help="seed of every random choice in a soak run")


@dataclass
class SoakTime:
    """The time of all soak tests of this run, which begins with it: worlds that have to be started count."""

    seed: int
    seconds: float
    end: float
    to_come: list[str] = field(default_factory=list)
    """The tests that share the time, in order."""

    def may_begin(self, test: str) -> bool:
        """Whether there is time for a test."""
        share = 1 if test in self.to_come else _FIXED_LENGTH
        return time.monotonic() <= self.end - (1 - share) * self.seconds

    def share(self, test: str) -> float:
        """The deadline of one of them."""
        now = time.monotonic()
        waiting = len(self.to_come) - self.to_come.index(test)
        return now + max(0.0, self.end - now) / waiting


@dataclass(frozen=True)
class Soak:
    """What a soak test may spend: rounds are started while `time_left()`; choices come from `random`."""

    seed: int
    deadline: float
    end: float = field(default=0.0)

    def time_left(self) -> float:
        """Seconds of this test's own share."""
        return self.deadline - time.monotonic()

    def fits(self, seconds: float) -> bool:
        """Whether something that takes so long, whatever the share, ends within the whole soak."""
        return time.monotonic() + seconds <= self.end

    def rounds(self) -> Iterator[int]:
        """Numbers of rounds: 0 in any case, another one while a round as long as the longest so far would fit."""
        longest = 0.0
        for number in count():
            if number and self.time_left() < longest:
                return
            began = time.monotonic()
            yield number
            longest = max(longest, time.monotonic() - began)

    def random(self, *salt: object) -> random.Random:
        """A generator of its own for each salt, so that adding one choice does not change the others."""
        return random.Random(f"{self.seed}/{salt}")


_TIME = pytest.StashKey[SoakTime]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    seconds = config.getoption("--soak-seconds")
    config.stash[_TIME] = SoakTime(config.getoption("--seed"), seconds, time.monotonic() + seconds)
    if config.getoption("numprocesses", None) and not config.getoption("verbose"):
        config.pluginmanager.register(Progress(config.pluginmanager.getplugin("terminalreporter")))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Groups:
    return Groups(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    sharing = [item for item in items if item.get_closest_marker("soak") and "soak" in _fixtures(item)]
    if all(item.get_closest_marker("soak") for item in items):
        dice = random.Random(f"{config.stash[_TIME].seed}/order")
        # Tests of one file stay together: they share a world.
        files = sorted({item.path for item in items})
        dice.shuffle(files)
        items.sort(key=lambda item: (item in sharing, files.index(item.path)))
        sharing = [item for item in items if item in sharing]
    config.stash[_TIME].to_come = [item.nodeid for item in sharing]
    if hasattr(config, "workerinput"):
        longest_first(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    given = item.config.stash[_TIME]
    if item.get_closest_marker("soak") and not given.may_begin(item.nodeid):
        pytest.skip(f"{item.name}: no time left in a soak of {given.seconds:.0f} s; another seed begins with others")


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> Soak:
    given = request.config.stash[_TIME]
    return Soak(given.seed, given.share(request.node.nodeid), given.end)


def _fixtures(item: pytest.Item) -> list[str]:
    return getattr(item, "fixturenames", [])


@pytest.fixture
def nothing_ignored() -> Iterator[None]:
    """A shell's background job, and whatever `nohup` starts, ignores these, and so would all that we start."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
