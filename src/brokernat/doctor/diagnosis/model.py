"""The diagnosis model: everything that a report prints or draws."""

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
    """One step of the client's path, in a few words: `refused`, `another node`."""

    state: State
    words: str


@dataclass(frozen=True, slots=True)
class Entrance:
    """A bootstrap server. `dialled` is the endpoint that a client dials; a rule may translate it.

    `listed` is the number of brokers in its metadata. `codes` are the codes of its findings, except infos.
    """

    endpoint: str
    dialled: str
    reach: Hop
    answering: str
    listed: int | None
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """From an advertised endpoint to the node that answers; `dialled` is None if a client dials nothing.

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
        """The last hop, which shows how the path ends."""
        return self.choice if self.choice.state is State.BROKEN else self.reach

    @property
    def state(self) -> State:
        """The state of the worst hop."""
        return min(self.choice.state, self.reach.state, key=WORST_FIRST.index)


@dataclass(frozen=True, slots=True)
class Group:
    """Bootstrap servers that name the same brokers, and the routes to these; no route if no server answers."""

    entrances: tuple[Entrance, ...]
    routes: tuple[Route, ...]


@dataclass(frozen=True, slots=True)
class ListenerWay:
    """A listener of a node, and how far this client gets at the endpoint that the listener advertises."""

    seen: ListenerSeen
    reach: Hop


@dataclass(frozen=True, slots=True)
class Skipped:
    """A check that was not run, and why; `options` of the command would give it what it needs."""

    code: str
    title: str
    reason: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cause:
    """One root cause, in one sentence; other findings and failures follow from it."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Findings are sorted by severity, those of root causes first. `passed` are checks that found nothing.

    `causes` is the smallest set that explains every failure, the one that explains most first. `suppressed` are
    findings that the user has hidden: they are never a root cause and do not change the exit code.
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
        """The findings of a root cause."""
        return tuple(each for each in self.findings if each.code == cause.code and not each.because)
