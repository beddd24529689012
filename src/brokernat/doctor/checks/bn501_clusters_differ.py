"""What: not all endpoints report one cluster id.
Why: a bootstrap server or a rule names a broker of another cluster; or what is advertised leads to another one from
here, as `localhost` does where a Kafka of one's own runs. Clients mix their metadata, or loop.
Remedy: the endpoints of one cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import proven_line, spots

CODE = "BN501"


def _find(evidence: Evidence) -> Iterator[Finding]:
    seen: dict[str, list[str]] = {}
    for spot in spots(evidence):
        if spot.look.cluster_id:
            seen.setdefault(spot.look.cluster_id, []).append(spot.look.endpoint)
    if len(seen) > 1:
        told = tuple(f"{cluster}: {', '.join(dict.fromkeys(ends))}" for cluster, ends in seen.items())
        subject, message = f"cluster {evidence.cluster}", f"{len(seen)} cluster ids are answered"
        strayed = _strayed(evidence)
        because = ("BN201",) if strayed else ()
        remedy = Remedy(rules=strayed) if strayed else Remedy((_instead(seen),))
        yield Finding(CODE, Severity.ERROR, subject, message, told, because, remedy)


def _strayed(evidence: Evidence) -> tuple[str, ...]:
    """Rules for what is advertised and leads to another cluster, where nothing else does; else nothing was advertised
    wrongly, but given."""
    home = {look.cluster_id for look in evidence.bootstraps if look.cluster_id}
    strangers = [spot.path for spot in spots(evidence) if spot.look.cluster_id and spot.look.cluster_id not in home]
    if len(home) > 1 or any(path is None or path.rule for path in strangers):
        return ()
    return tuple(line for path in strangers if path is not None for line in proven_line(evidence, path))


def _instead(seen: Mapping[str, Sequence[str]]) -> str:
    """Which endpoints to take out, where most are of one cluster."""
    sizes = sorted((len(set(ends)) for ends in seen.values()), reverse=True)
    if sizes[0] == sizes[1]:
        return "give bootstrap servers and rules of one cluster"
    strangers = dict.fromkeys(end for ends in seen.values() if len(set(ends)) < sizes[0] for end in ends)
    return f"take out {', '.join(strangers)}: most endpoints are of another cluster"


CHECK = Check(
    CODE,
    "Endpoints lead to different clusters",
    "The endpoints of {subjects} lead to different clusters.",
    _find,
    (Need.METADATA,),
)
