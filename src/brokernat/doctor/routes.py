"""The way of a client to every broker, hop by hop: bootstrap server, advertised listener, what is dialled, who answers.

This is what the reports draw and list. A hop is broken by what was seen there, or by an error that a check found about
it, so a picture cannot look better than the findings beside it. Bootstrap servers that are told the same brokers
stand together: with listeners mixed there are several groups, side by side; pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from brokernat.doctor.evidence import Advertised, Evidence, Look, Path
from brokernat.doctor.finding import Finding, Severity
from brokernat.doctor.reach import Hop, State, answering, reach
from brokernat.doctor.reading import node
from brokernat.doctor.runner import Diagnosis


@dataclass(frozen=True, slots=True)
class Entrance:
    """A bootstrap server. `codes` are those of findings about it, infos aside; `told` is how many brokers it names."""

    endpoint: str
    reach: Hop
    answering: str
    told: int | None
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """From what a broker advertises to who answers; `dialled` is None where a client dials nothing."""

    node_id: int
    advertised: str
    choice: Hop
    dialled: str | None
    reach: Hop
    answering: str
    rule: str | None
    codes: tuple[str, ...]

    @property
    def state(self) -> State:
        """That of the worst hop."""
        return max(self.choice.state, self.reach.state, key=_RANK.__getitem__)


@dataclass(frozen=True, slots=True)
class Group:
    """Bootstrap servers that name the same brokers, and the ways to these; no route where none answers."""

    entrances: tuple[Entrance, ...]
    routes: tuple[Route, ...]


def groups(diagnosis: Diagnosis) -> tuple[Group, ...]:
    """Every bootstrap server and every path of the evidence; servers that name nothing come last."""
    ways = dict(zip(diagnosis.evidence.bootstraps, entrances(diagnosis), strict=True))
    paths = tuple(zip(diagnosis.evidence.paths, routes(diagnosis), strict=True))
    told: dict[frozenset[Advertised] | None, list[Entrance]] = {}
    for look, way in ways.items():
        told.setdefault(None if look.brokers is None else frozenset(look.brokers), []).append(way)
    return tuple(
        Group(tuple(told[brokers]), tuple(route for path, route in paths if path.broker in (brokers or ())))
        for brokers in sorted(told, key=lambda brokers: brokers is None)
    )


def routes(diagnosis: Diagnosis) -> tuple[Route, ...]:
    """The way to every broker, in the order of node ids."""
    codes, home = _codes(diagnosis.findings), _home(diagnosis.evidence)
    return tuple(_route(path, home, codes.get(node(path), {})) for path in diagnosis.evidence.paths)


def entrances(diagnosis: Diagnosis) -> tuple[Entrance, ...]:
    """The bootstrap servers in the order of the configuration."""
    codes, home = _codes(diagnosis.findings), _home(diagnosis.evidence)
    return tuple(
        _entrance(look, home, codes.get(f"bootstrap {look.endpoint}", {})) for look in diagnosis.evidence.bootstraps
    )


def _home(evidence: Evidence) -> str | None:
    """The cluster that is meant: that of the first bootstrap server which names one."""
    return next((look.cluster_id for look in evidence.bootstraps if look.cluster_id), None)


def _codes(findings: Iterable[Finding]) -> dict[str, dict[str, Severity]]:
    """Subject to codes, the gravest first, as findings are sorted."""
    found: dict[str, dict[str, Severity]] = {}
    for finding in findings:
        if finding.severity is not Severity.INFO:
            found.setdefault(finding.subject, {}).setdefault(finding.code, finding.severity)
    return found


def _entrance(look: Look, home: str | None, codes: Mapping[str, Severity]) -> Entrance:
    told = None if look.brokers is None else len(look.brokers)
    return Entrance(look.endpoint, _judged(reach(look, home), codes), answering(look), told, tuple(codes))


def _route(path: Path, home: str | None, codes: Mapping[str, Severity]) -> Route:
    broker, look = path.broker, path.look
    if look is None:
        choice, end = Hop(State.BROKEN, "no rule" if "BN605" in codes else "no address"), Hop(State.BROKEN, "")
    else:
        choice = Hop(State.OK, "by rule" if path.rule else "as it is")
        end = _judged(reach(look, home, broker.node_id), codes)
    return Route(
        broker.node_id,
        broker.endpoint,
        choice,
        look.endpoint if look else None,
        end,
        answering(look),
        path.rule,
        tuple(codes),
    )


def _judged(hop: Hop, codes: Mapping[str, Severity]) -> Hop:
    """A hop that looks well, and that a check finds wrong nevertheless; a warning counts where it is about the hop."""
    if hop.state is State.OK:
        for code, severity in codes.items():
            if severity is Severity.ERROR:
                return Hop(State.BROKEN, _BY_CODE.get(code, code))
            if code in _BY_CODE:
                return Hop(State.DOUBTFUL, _BY_CODE[code])
    return hop


_RANK = {State.OK: 0, State.DOUBTFUL: 1, State.BROKEN: 2}
_BY_CODE = {
    "BN602": "a balancer",
    "BN603": "another listener",
    "BN604": "not proven",
    "BN205": "shared endpoint",
    "BN201": "loopback",
}
