"""Paired runs: what one side did, held against what the other side did right before or after it.

The speed of a machine drifts by more than the effect that is looked for, so runs are compared with their neighbours
only, in the order A B B A, and the interval is that of the mean over pairs, by resampling.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

_RESAMPLES = 10_000
_SEED = 1
_Run = TypeVar("_Run")


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float
    count: int

    def show(self, digits: int) -> str:
        """`mean [low, high] n=count`."""
        mean, low, high = (f"{value:.{digits}f}" for value in (self.mean, self.low, self.high))
        return f"{mean} [{low}, {high}] n={self.count}"


def interval(values: Sequence[float]) -> Interval:
    """The mean of values that know nothing of each other."""
    return interval_of_forks([[value] for value in values])


def interval_of_forks(forks: Sequence[Sequence[float]]) -> Interval:
    """The mean of all values and where it would lie in 95 of 100 repetitions; the same values give the same answer.

    Values of one fork come from the same JVMs. Two JVMs of the same program differ for all their life by what their
    compilers happened to do, so forks are drawn first, then values in each: many pairs of few JVMs do not pass for
    many JVMs.
    """
    generator = random.Random(_SEED)
    means = sorted(fmean(_resampled(forks, generator)) for _ in range(_RESAMPLES))
    values = [value for fork in forks for value in fork]
    return Interval(fmean(values), means[int(_RESAMPLES * 0.025)], means[int(_RESAMPLES * 0.975)], len(values))


def _resampled(forks: Sequence[Sequence[float]], generator: random.Random) -> list[float]:
    drawn = generator.choices(forks, k=len(forks))
    return [value for fork in drawn for value in generator.choices(fork, k=len(fork))]


def in_turns(runs: Sequence[Callable[[], _Run]], rounds: int) -> Iterator[list[_Run]]:
    """`rounds` rounds of all runs, every second one in reverse; each is given in the order of `runs`."""
    indices = list(range(len(runs)))
    for number in range(rounds):
        taken = {index: runs[index]() for index in (indices if number % 2 == 0 else indices[::-1])}
        yield [taken[index] for index in indices]
