"""Paired runs: what one side did, held against what the other side did right before or after it.

The speed of a machine drifts by more than the effect that is looked for, so runs are compared with their neighbours
only, in the order A B B A, and the interval is that of the mean over pairs, by resampling pairs.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

_RESAMPLES = 20_000
_SEED = 1


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
    """The mean of `values` and where it would lie in 95 of 100 repetitions; the same values give the same answer."""
    generator = random.Random(_SEED)
    means = sorted(fmean(generator.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return Interval(fmean(values), means[int(_RESAMPLES * 0.025)], means[int(_RESAMPLES * 0.975)], len(values))


def in_turns(runs: Sequence[Callable[[], float]], rounds: int) -> Iterator[list[float]]:
    """`rounds` rounds of all runs, every second one in reverse; each is given in the order of `runs`."""
    indices = list(range(len(runs)))
    for number in range(rounds):
        taken = {index: runs[index]() for index in (indices if number % 2 == 0 else indices[::-1])}
        yield [taken[index] for index in indices]
