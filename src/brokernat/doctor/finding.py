"""The findings of checks, with confidence, the remedy on both sides, and the explained failures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain

from brokernat.errors import Finding
from brokernat.errors import Severity as Severity


class Confidence(StrEnum):
    """Proven by the evidence, or the likeliest reading of it."""

    PROVEN = "proven"
    LIKELY = "likely"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed stage of a client's connection: the dialled endpoint, the stage, and the expected node.

    `words` is a text of two or three words for the picture, `detail` is the probe's observation. A `doubt` is a stage
    without a known fault, for example because the time ran out. Two failures are equal if place and stage are.
    """

    endpoint: str
    stage: str
    node_id: int | None = None
    name: str = ""
    words: str = field(default="", compare=False)
    detail: str = field(default="", compare=False)
    doubt: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to change: one side is enough. `rules` are lines for the client's address map, to copy."""

    client: tuple[str, ...] = ()
    broker: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    def and_also(self, others: Iterable[Remedy]) -> Remedy:
        """All remedies together, each line once."""
        sides = zip(*(each.sides for each in (self, *others)), strict=True)
        return Remedy(*(tuple(dict.fromkeys(chain(*side))) for side in sides))

    def without(self, other: Remedy) -> Remedy:
        """The lines that the other remedy does not have."""
        sides = zip(self.sides, other.sides, strict=True)
        return Remedy(*(tuple(line for line in side if line not in known) for side, known in sides))

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Client, broker and rules."""
        return self.client, self.broker, self.rules


@dataclass(frozen=True, slots=True)
class CheckFinding(Finding):
    """A finding about one subject: a bootstrap server, a node, a rule, a file or the cluster.

    `details` are the evidence, `hint` is the client's side of the remedy. `explains` are the failures that this finding
    explains. `follows` are those that cause it: a group's coordinator is unreachable because its node is. `because` are
    the codes of the findings that this one follows from; the diagnosis fills it in.
    """

    because: tuple[str, ...] = ()
    remedy: Remedy = Remedy()
    confidence: Confidence = Confidence.PROVEN
    explains: tuple[Failure, ...] = ()
    follows: tuple[Failure, ...] = ()

    @property
    def subject(self) -> str:
        """The subject's name in reports."""
        return str(self.location)
