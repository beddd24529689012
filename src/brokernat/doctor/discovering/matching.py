"""What was seen to one candidate for each node, or the reason why there is none; pure.

The map is written for what the first bootstrap server that answers advertises. A candidate counts for a node when it
says that it is that node, leads to the same cluster, meets the same node each time, and LANDS on the same listener: the
right broker on another listener advertises other endpoints, and a client that reads metadata there leaves the map. Two
candidates for one node are a conflict: both may be right, and which is meant is not guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from brokernat.doctor.discovering.sweeping import Swept
from brokernat.doctor.evidence import Advertised, Evidence, Look
from brokernat.doctor.finding import Confidence, Finding, Remedy, Severity
from brokernat.doctor.places import dialable
from brokernat.doctor.runner import diagnose

# The families of checks that a bootstrap server alone can fail, and those after which nobody knows all nodes.
_ABOUT_SERVERS = ("BN1", "BN4", "BN5")
_NO_KAFKA = "BN104"
_ABOUT_THE_SET = ("BN501", "BN502", "BN503")


@dataclass(frozen=True, slots=True)
class Entry:
    """A node, what it advertises, and the candidate behind which it answers."""

    node_id: int
    advertised: str
    candidate: str
    method: str
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Discovery:
    """What is proven for the nodes that `listener` advertises.

    `entries` has at most one for each node. `silent` counts candidates behind which no Kafka was seen, by what was
    there instead. All but `findings` is empty where no bootstrap server answers.
    """

    cluster: str
    cluster_id: str | None
    listener: str | None
    taken_at: str
    nodes: tuple[Advertised, ...]
    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...]
    silent: Mapping[str, int]

    @property
    def answered(self) -> bool:
        """Whether any bootstrap server did."""
        return bool(self.nodes) or self.cluster_id is not None

    @property
    def missing(self) -> tuple[Advertised, ...]:
        """The nodes without an entry."""
        found = {entry.node_id for entry in self.entries}
        return tuple(node for node in self.nodes if node.node_id not in found)

    @property
    def whole(self) -> bool:
        """Whether every node of the cluster is known and has its entry."""
        return bool(self.nodes) and not self.missing and not any(each.code in _ABOUT_THE_SET for each in self._errors)

    @property
    def direct(self) -> bool:
        """Whether every broker can be dialled as it advertises itself: no map is needed."""
        return self.whole and all(entry.advertised == entry.candidate for entry in self.entries)

    @property
    def _errors(self) -> Iterator[Finding]:
        return (finding for finding in self.findings if finding.severity is Severity.ERROR)


def match(swept: Swept) -> Discovery:
    """The entries that were seen."""
    evidence = swept.evidence
    findings = _about_servers(evidence)
    home = next((look for look in evidence.bootstraps if look.answers), None)
    if home is None:
        return Discovery(evidence.cluster, None, None, evidence.taken_at, (), (), tuple(findings), {})
    leads: dict[int, list[Look]] = {}
    silent: Counter[str] = Counter()
    doubts: list[Finding] = []
    for look in swept.candidates:
        reasons = list(_reasons(look, home, evidence))
        doubts += reasons
        if not look.connected:
            silent[_silence(look)] += 1
        elif not reasons and look.identity is not None and look.identity.node_id is not None:
            leads.setdefault(look.identity.node_id, []).append(look)
    nodes = home.brokers or ()
    entries: list[Entry] = []
    for node in nodes:
        looks = leads.get(node.node_id, [])
        missing = list(_no_entry(node, nodes, looks))
        findings += missing
        if not missing:
            entries.append(_entry(node, looks[0]))
    if len(entries) == len(nodes):
        # A web server among a host's ports is no news, unless a broker is missed that should be there.
        silent["no Kafka"] = sum(each.code == _NO_KAFKA for each in doubts)
        doubts = [each for each in doubts if each.code != _NO_KAFKA]
    return Discovery(
        evidence.cluster,
        home.cluster_id,
        listener_name(home),
        evidence.taken_at,
        nodes,
        tuple(entries),
        (*findings, *doubts),
        dict(+silent),
    )


def _about_servers(evidence: Evidence) -> list[Finding]:
    found = diagnose(evidence).findings
    return [each for each in found if each.code.startswith(_ABOUT_SERVERS) and each.severity is not Severity.INFO]


def _reasons(look: Look, home: Look, evidence: Evidence) -> Iterator[Finding]:
    """Why a candidate that took a connection is none for any node; the first reason is enough."""
    if not look.connected:
        return
    if not look.complete:
        yield _doubt(look, "BN004", "the time ran out before it was known what answers")
    elif not look.answers:
        for found in _about_servers(replace(evidence, bootstraps=(look,), replicas=None)) or [
            _doubt(look, _NO_KAFKA, "it takes connections, and no Kafka answers")
        ]:
            yield replace(found, severity=Severity.WARNING, subject=f"candidate {look.endpoint}")
    elif look.cluster_id != home.cluster_id:
        told = f"it leads to cluster {look.cluster_id}, not to {home.cluster_id}"
        yield _doubt(look, "BN501", told, (f"it says: {_set(look)}",))
    else:
        yield from _wrong_place(look, home)


def _wrong_place(look: Look, home: Look) -> Iterator[Finding]:
    identity, known = look.identity, {node.node_id for node in home.brokers or ()}
    who = "a broker" if identity is None or identity.node_id is None else f"node {identity.node_id}"
    if identity is not None and identity.others:
        met = ", ".join(map(str, (identity.node_id, *identity.others)))
        what = "a name with several addresses" if len(look.addresses) > 1 else "a balancer"
        yield _doubt(look, "BN602", f"{what}: different nodes answer, {met}")
    elif look.brokers != home.brokers:
        name = listener_name(look)
        there = f"on listener {name}, not on that of the bootstrap servers" if name else "on another listener"
        remedy = Remedy(("give the port that leads to the listener of the bootstrap servers",))
        yield _doubt(look, "BN603", f"{who} {there}", (f"it says: {_set(look)}",), remedy)
    elif identity is None or identity.node_id is None:
        remedy = Remedy(broker=("allow this user to DESCRIBE_CONFIGS on the cluster",))
        seen = (identity.detail,) if identity and identity.detail else ()
        yield _doubt(look, "BN604", "a broker of this cluster, and which one it is cannot be proven", seen, remedy)
    elif identity.node_id not in known:
        yield _doubt(look, "BN503", f"{who}, which the bootstrap servers do not advertise")


def _no_entry(node: Advertised, nodes: Sequence[Advertised], looks: Sequence[Look]) -> Iterator[Finding]:
    same = [each for each in nodes if each.endpoint == node.endpoint and each != node]
    if not dialable(node.host, node.port):
        yield _missing(node, "what it advertises is no endpoint that a rule could name")
    elif same:
        others = ", ".join(str(each.node_id) for each in same)
        yield _missing(node, f"node {others} advertises the same endpoint, and no rule can tell them apart")
    elif not looks:
        yield _missing(node, "no candidate leads to it")
    elif len(looks) > 1:
        ends = ", ".join(look.endpoint for look in looks)
        remedy = Remedy(("name one of them in `--candidates`",))
        yield _missing(node, f"several candidates lead to it: {ends}", remedy)


def _entry(node: Advertised, look: Look) -> Entry:
    assert look.identity is not None  # noqa: S101
    return Entry(node.node_id, node.endpoint, look.endpoint, look.identity.method, Confidence(look.identity.confidence))


def listener_name(look: Look) -> str | None:
    """The listener's name, where the broker tells its settings: that which advertises what this endpoint advertises."""
    node_id = None if look.identity is None else look.identity.node_id
    own = next((each.endpoint for each in look.brokers or () if each.node_id == node_id), None)
    listeners = dict(look.settings).get("advertised.listeners", "").split(",")
    return next((name for name, _, end in (each.strip().partition("://") for each in listeners) if end == own), None)


def _doubt(look: Look, code: str, message: str, seen: Iterable[str] = (), remedy: Remedy = Remedy()) -> Finding:  # noqa: B008 - frozen
    return Finding(code, Severity.WARNING, f"candidate {look.endpoint}", message, tuple(seen), remedy=remedy)


def _missing(node: Advertised, message: str, remedy: Remedy = Remedy()) -> Finding:  # noqa: B008 - frozen
    return Finding("BN605", Severity.ERROR, f"node {node.node_id} at {node.endpoint}", message, remedy=remedy)


def _set(look: Look) -> str:
    return ", ".join(f"{each.node_id} {each.endpoint}" for each in look.brokers or ())


def _silence(look: Look) -> str:
    """The outcome that says most: somebody refuses before nobody answers."""
    if not look.complete:
        return "not looked at in time (see --timeout)"
    if look.dns_error:
        return "name does not resolve"
    seen = {attempt.outcome for attempt in look.attempts}
    return next((words for outcome, words in _SILENCE.items() if outcome in seen), "name does not resolve")


_SILENCE = {"refused": "refused", "timeout": "no answer", "unreachable": "no route"}
