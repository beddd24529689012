"""What a check adds to a finding: how sure it is, the remedy on either side, and the failures that it explains."""

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
    """A stage of a client's way that fails: the endpoint that is dialled, the stage, and the node that is meant there.

    `words` are two or three for a picture, `detail` is what the probe saw. A `doubt` is a stage of which nothing bad is
    known, for example because the time ran out. Two failures are the same where place and stage are.
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
    """What to change, on either side; one side is enough. `rules` are lines for the client's address map, to copy."""

    client: tuple[str, ...] = ()
    broker: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    def and_also(self, others: Iterable[Remedy]) -> Remedy:
        """Both sides of all of them, each line once."""
        sides = zip(*(each.sides for each in (self, *others)), strict=True)
        return Remedy(*(tuple(dict.fromkeys(chain(*side))) for side in sides))

    def without(self, other: Remedy) -> Remedy:
        """The lines that the other one does not have."""
        sides = zip(self.sides, other.sides, strict=True)
        return Remedy(*(tuple(line for line in side if line not in known) for side, known in sides))

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Client, broker and rules."""
        return self.client, self.broker, self.rules


@dataclass(frozen=True, slots=True)
class CheckFinding(Finding):
    """What a check finds about one subject: a bootstrap server, a node, a rule, a file or the cluster.

    `details` are what was seen there, `hint` the client's side of the remedy. `explains` are the failures that this is
    a reason of, `follows` those that it rests on itself: the coordinator of a group is not reached because its node is
    not. `because` are the codes of the findings that this one follows from; the diagnosis fills it in.
    """

    because: tuple[str, ...] = ()
    remedy: Remedy = Remedy()
    confidence: Confidence = Confidence.PROVEN
    explains: tuple[Failure, ...] = ()
    follows: tuple[Failure, ...] = ()

    @property
    def subject(self) -> str:
        """Where it was found, as reports name it."""
        return str(self.location)
