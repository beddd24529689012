"""What a diagnosis holds: everything that a report draws."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from brokernat.doctor.evidence import Evidence, ListenerSeen
from brokernat.doctor.finding import CheckFinding


class State(StrEnum):
    """Whether a client passes a hop."""

    OK = "ok"
    DOUBTFUL = "doubtful"
    BROKEN = "broken"


WORST_FIRST = (State.BROKEN, State.DOUBTFUL, State.OK)


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the way, in two or three words: `refused`, `another node`."""

    state: State
    words: str


@dataclass(frozen=True, slots=True)
class Entrance:
    """A bootstrap server. `dialled` is what a client dials, which a rule may decide.

    `told` is how many brokers it names. `codes` are those of the findings about it, infos aside.
    """

    endpoint: str
    dialled: str
    reach: Hop
    answering: str
    told: int | None
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """From what a broker advertises to who answers; `dialled` is None where a client dials nothing.

    `choice` is the hop from the advertised endpoint to the one that is dialled, `reach` the hop from there.
    """

    node_id: int
    advertised: str
    choice: Hop
    dialled: str | None
    reach: Hop
    answering: str
    rule: str | None
    codes: tuple[str, ...]

    @property
    def end(self) -> Hop:
        """The hop that tells how the way ends."""
        return self.choice if self.choice.state is State.BROKEN else self.reach

    @property
    def state(self) -> State:
        """That of the worst hop."""
        return min(self.choice.state, self.reach.state, key=WORST_FIRST.index)


@dataclass(frozen=True, slots=True)
class Group:
    """Bootstrap servers that name the same brokers, and the ways to these; no route where none answers."""

    entrances: tuple[Entrance, ...]
    routes: tuple[Route, ...]


@dataclass(frozen=True, slots=True)
class ListenerWay:
    """A listener of a node, and how far this client gets where the listener sends it."""

    seen: ListenerSeen
    reach: Hop


@dataclass(frozen=True, slots=True)
class Skipped:
    """A check that could not be run, and why."""

    code: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cause:
    """One root cause: what other findings and failures follow from, in one sentence."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Findings are in the order of severity, those of root causes first. `passed` are checks that found nothing.

    `causes` are the fewest that explain every failure, the one that explains most first. `suppressed` are findings that
    nobody wants to see: they are no root cause and decide nothing.
    """

    evidence: Evidence
    causes: tuple[Cause, ...]
    findings: tuple[CheckFinding, ...]
    passed: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    suppressed: tuple[CheckFinding, ...] = ()
    entrances: tuple[Entrance, ...] = ()
    routes: tuple[Route, ...] = ()
    groups: tuple[Group, ...] = ()
    listeners: tuple[ListenerWay, ...] = ()

    @property
    def cause(self) -> Cause | None:
        """The first root cause."""
        return self.causes[0] if self.causes else None

    def of_cause(self, cause: Cause) -> tuple[CheckFinding, ...]:
        """The findings that a root cause is made of."""
        return tuple(each for each in self.findings if each.code == cause.code and not each.because)
