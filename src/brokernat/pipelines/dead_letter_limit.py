"""How many records may become dead letters before a run stops; pure.

A dead letter now and then is a record to look at. When most records become dead letters, a producer has changed what it
writes, and going on would only fill the topic of dead letters.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Self

from brokernat.errors import ConfigError, Finding
from brokernat.pipelines.steps.counting import Counts


@dataclass
class DeadLetterLimit:
    """The most dead letters as a share of the last `records` records, counted in whole batches."""

    text: str
    share: float
    records: int
    _window: deque[Counts] = field(default_factory=deque, init=False)

    @classmethod
    def of(cls, text: str) -> Self:
        """The limit as the file has it.

        >>> limit = DeadLetterLimit.of("5% of 100")
        >>> limit.add(Counts(received=90, dead_letters=5)); limit.is_exceeded
        False
        >>> limit.add(Counts(received=20, dead_letters=1)); limit.is_exceeded
        True
        """
        percent, _, records = text.partition("% of ")
        return cls(text, float(percent) / 100, int(records))

    def add(self, batch: Counts) -> None:
        """Takes in a batch; batches that are older than the last `records` records go."""
        self._window.append(batch)
        while self._total().received - self._window[0].received >= self.records:
            self._window.popleft()

    @property
    def is_exceeded(self) -> bool:
        """Whether there are too many, also where that is certain before so many records have come."""
        total = self._total()
        return total.dead_letters > self.share * max(self.records, total.received)

    def error(self, pipeline: str) -> ConfigError:
        """What to end the run with."""
        total = self._total()
        causes = ", ".join(f"{kind} {number}" for kind, number in Counter(total.causes).most_common())
        message = (
            f"{total.dead_letters} of the last {total.received} records became dead letters ({causes}); "
            f"`dead_letter_limit` is {self.text}"
        )
        hint = (
            f"their batches are committed: mend the cause, then `brokernat pipeline replay {pipeline}` sends them "
            "through again; the next start goes on, and counts from 0"
        )
        return ConfigError(Finding("dead-letter-limit", message, hint))

    def _total(self) -> Counts:
        return sum(self._window, Counts())
